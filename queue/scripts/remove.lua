-- Removes one exact message.
-- KEYS[1] the list or sorted set
-- ARGV[1] payload
-- ARGV[2] list | zset
-- ARGV[3] list: position where it was seen, ARGV[4] length of the list then
-- ARGV[5] zset: the score that was seen, '' for any
-- ARGV[6] a mark that no message equals
-- ARGV[7] how many entries to search from each end
-- Returns {done, position, length before} (of a list, 0 0 of a zset) | {gone} | {far} | {type, key, type} | {changed, score}
local key, payload = KEYS[1], ARGV[1]
local ok, found = holds(key, ARGV[2])
if not ok then return { 'type', key, found } end

if ARGV[2] == 'zset' then
  local score = redis.call('ZSCORE', key, payload)
  if not score then return { 'gone' } end
  if ARGV[5] ~= '' and not samescore(score, ARGV[5]) then return { 'changed', score } end
  local removed = redis.pcall('ZREM', key, payload)
  if failed(removed) then return removed end
  return { 'done', 0, 0 }
end

local at, n, far = locate(key, payload, tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[7]))
if far then return { 'far' } end
if not at then return { 'gone' } end
local removed = cut(key, at, n, payload, ARGV[6])
if failed(removed) then return removed end
return { 'done', at, n }
