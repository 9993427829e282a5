-- Puts back the messages that one step of a bulk operation has removed, all of them or none,
-- unless that was done already.
-- KEYS[1] the list or sorted set, KEYS[2] the operation's stamp
-- ARGV[1] list | zset
-- ARGV[2] the end of a list they go to, one after the other: left | right
-- ARGV[3] field of the stamp, ARGV[4] how long it is kept in milliseconds
-- ARGV[5] how many; the payloads follow, then of a sorted set their scores
-- Sleeping consumers of a sorted set are woken (see wake).
-- Returns {done, length} | {back} (it was done already) | {exists, which ones, from 1 ...} | {type, key, type}
local key, n = KEYS[1], tonumber(ARGV[5])
local ok, found = holds(key, ARGV[1])
if not ok then return { 'type', key, found } end
if redis.call('HEXISTS', KEYS[2], ARGV[3]) == 1 then return { 'back' } end

local put, earliest
if ARGV[1] == 'list' then
  put = redis.pcall(ARGV[2] == 'left' and 'LPUSH' or 'RPUSH', key, unpack(ARGV, 6, 5 + n))
else
  local present, pairs = { 'exists' }, {}
  for i = 1, n do
    local payload, score = ARGV[5 + i], ARGV[5 + n + i]
    if redis.call('ZSCORE', key, payload) then present[#present + 1] = i end
    pairs[2 * i - 1], pairs[2 * i] = score, payload
    if not earliest or tonumber(score) < tonumber(earliest) then earliest = score end
  end
  if #present > 1 then return present end
  put = redis.pcall('ZADD', key, unpack(pairs))
end
if failed(put) then return put end
redis.pcall('HSET', KEYS[2], ARGV[3], n)
redis.pcall('PEXPIRE', KEYS[2], ARGV[4])
if earliest then wake(key, earliest, redis.call('ZCOUNT', key, '-inf', earliest)) end
return { 'done', redis.call(ARGV[1] == 'list' and 'LLEN' or 'ZCARD', key) }
