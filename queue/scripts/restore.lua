-- Puts a removed message back, near its old position or with its old score.
-- KEYS[1] the list or sorted set
-- ARGV[1] payload
-- ARGV[2] list | zset
-- ARGV[3] list: head | tail (as far from there as it was)
-- ARGV[4] list: position where it was, ARGV[5] length of the list then
-- ARGV[6] zset: score
-- ARGV[7] a mark that no message equals
-- ARGV[8] how many entries to search from each end
-- ARGV[9] '1': answer back when the key holds equal bytes already
-- Sleeping consumers of a sorted set are woken (see wake).
-- Returns {done, length} | {back} | {type, key, type} | {exists, score}
local key, payload = KEYS[1], ARGV[1]
local ok, found = holds(key, ARGV[2])
if not ok then return { 'type', key, found } end

if ARGV[2] == 'zset' then
  local present = redis.call('ZSCORE', key, payload)
  if present and samescore(present, ARGV[6]) then return { 'back' } end
  if present then return { 'exists', present } end
  local added = redis.pcall('ZADD', key, ARGV[6], payload)
  if failed(added) then return added end
  wake(key, ARGV[6])
  return { 'done', redis.call('ZCARD', key) }
end

local index, seen = tonumber(ARGV[4]), tonumber(ARGV[5])
if ARGV[9] == '1' then
  local at, _, far = locate(key, payload, index, seen, tonumber(ARGV[8]))
  if at then return { 'back' } end
  if far then return { 'far' } end
end
local n = redis.call('LLEN', key)
local put = insert(key, spot(ARGV[3], index, seen, n), n, payload, ARGV[7])
if failed(put) then return put end
return { 'done', put }
