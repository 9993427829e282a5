-- Adds one message.
-- KEYS[1] the list or sorted set
-- ARGV[1] payload
-- ARGV[2] list | zset
-- ARGV[3] list: left | right; zset: at | in
-- ARGV[4] zset, at: the score; in: the delay in microseconds after the server's now
-- ARGV[5] zset, in: unit of the score: s | fs | ms | us
-- Returns {done, length, score} | {type, key, type} | {exists, score}
local ok, found = holds(KEYS[1], ARGV[2])
if not ok then return { 'type', KEYS[1], found } end

if ARGV[2] == 'list' then
  local len = redis.pcall(ARGV[3] == 'left' and 'LPUSH' or 'RPUSH', KEYS[1], ARGV[1])
  if failed(len) then return len end
  return { 'done', len, '' }
end

local present = redis.call('ZSCORE', KEYS[1], ARGV[1])
if present then return { 'exists', present } end

local score = ARGV[4]
if ARGV[3] == 'in' then
  local now = redis.call('TIME')
  local due = now[1] * 1000000 + now[2] + tonumber(ARGV[4])
  local unit = ARGV[5]
  if unit == 's' then
    score = string.format('%.0f', math.ceil(due / 1000000))
  elseif unit == 'fs' then
    score = string.format('%.0f.%06.0f', math.floor(due / 1000000), due % 1000000)
  elseif unit == 'us' then
    score = string.format('%.0f', due)
  else
    score = string.format('%.0f', math.ceil(due / 1000))
  end
end
local added = redis.pcall('ZADD', KEYS[1], score, ARGV[1])
if failed(added) then return added end
return { 'done', redis.call('ZCARD', KEYS[1]), score }
