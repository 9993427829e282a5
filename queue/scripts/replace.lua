-- Replaces one exact message in place, keeping its position or its score.
-- KEYS[1] the list or sorted set
-- ARGV[1] payload
-- ARGV[2] list | zset
-- ARGV[3] list: position where it was seen, ARGV[4] length of the list then
-- ARGV[5] zset: the score that was seen, '' for any
-- ARGV[6] the new payload
-- ARGV[7] how many entries to search from each end
-- Sleeping consumers of a sorted set are woken (see wake).
-- Returns {done, length} | {gone} | {far} | {type, key, type} | {exists, score} | {changed, score}
local key, payload, new = KEYS[1], ARGV[1], ARGV[6]
local ok, found = holds(key, ARGV[2])
if not ok then return { 'type', key, found } end

if ARGV[2] == 'zset' then
  local score = redis.call('ZSCORE', key, payload)
  if not score then return { 'gone' } end
  if ARGV[5] ~= '' and not samescore(score, ARGV[5]) then return { 'changed', score } end
  local present = redis.call('ZSCORE', key, new)
  if present then return { 'exists', present } end
  local added = redis.pcall('ZADD', key, score, new)
  if failed(added) then return added end
  local removed = redis.pcall('ZREM', key, payload)
  if failed(removed) then
    redis.call('ZREM', key, new)
    return removed
  end
  wake(key, score)
  return { 'done', redis.call('ZCARD', key) }
end

local at, n, far = locate(key, payload, tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[7]))
if far then return { 'far' } end
if not at then return { 'gone' } end
local set = redis.pcall('LSET', key, at, new)
if failed(set) then return set end
return { 'done', n }
