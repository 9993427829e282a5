-- Frees the first n messages of a snapshot, if it still has the expected length.
-- KEYS[1] the private key
-- ARGV[1] list | zset, ARGV[2] n, ARGV[3] expected length
-- Returns {done, left} | {changed, length} | {type, key, type}
local ok, found = holds(KEYS[1], ARGV[1])
if not ok then return { 'type', KEYS[1], found } end
local n, expected = tonumber(ARGV[2]), tonumber(ARGV[3])
local len = redis.call(ARGV[1] == 'list' and 'LLEN' or 'ZCARD', KEYS[1])
if len ~= expected then return { 'changed', len } end
local cutoff
if ARGV[1] == 'list' then
  cutoff = redis.pcall('LTRIM', KEYS[1], n, -1)
else
  cutoff = redis.pcall('ZREMRANGEBYRANK', KEYS[1], 0, n - 1)
end
if failed(cutoff) then return cutoff end
return { 'done', len - n }
