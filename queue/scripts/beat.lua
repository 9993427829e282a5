-- A consumer says that it lives, and adds to the queue's counters.
-- KEYS[1] the consumer's heartbeat, KEYS[2] the list of consumers, KEYS[3] the queue's counters
-- ARGV[1] id, ARGV[2] its entry in the list, ARGV[3] for how long the heartbeat is good (ms)
-- ARGV[4] number of fields of the heartbeat; then each with its value; then counters, each with what to add
-- Returns {done, 1 when it was in the list before, the server's time in microseconds}
local n = tonumber(ARGV[4])
local now = clock()
local known = redis.call('HEXISTS', KEYS[2], ARGV[1])
if known == 0 then
  local put = redis.pcall('HSET', KEYS[2], ARGV[1], ARGV[2])
  if type(put) == 'table' and put.err then return put end
end
local put = redis.pcall('HMSET', KEYS[1], 'beat', string.format('%.0f', math.floor(now / 1000)), unpack(ARGV, 5, 4 + 2 * n))
if type(put) == 'table' and put.err then return put end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
for i = 5 + 2 * n, #ARGV, 2 do redis.pcall('HINCRBY', KEYS[3], ARGV[i], ARGV[i + 1]) end
return { 'done', known, string.format('%.0f', now) }
