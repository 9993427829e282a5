-- Adds the messages of one step in their order, as a whole or not at all, and once however
-- often it is asked for: the stamp, which is left before anything is added, tells.
-- KEYS[1] the list or sorted set, KEYS[2] the stamps, KEYS[3] the hash of failed attempts, when some are known
-- ARGV[1] list | zset
-- ARGV[2] the end of a list they are pushed to, one after the other: left | right
-- ARGV[3] field of the stamp, ARGV[4] how long it is kept in milliseconds
-- ARGV[5] how many, fewer than 3,000; the payloads follow, then of a sorted set their scores, then pairs of a
--         digest and its entry for the hash of failed attempts, which keeps what it has, and ARGV[#ARGV] its life
-- A message of a sorted set that holds equal bytes already, or that came before in the step, is left out.
-- Sleeping consumers of a sorted set are woken (see wake).
-- Returns {done, those that were left out, from 1, each with a semicolon behind it} | {type, key, type}
local key, n = KEYS[1], tonumber(ARGV[5])
local ok, found = holds(key, ARGV[1])
if not ok then return { 'type', key, found } end
local before = redis.call('HGET', KEYS[2], ARGV[3])
if before then return { 'done', before } end

-- value is what a score counts; not every Lua reads inf.
local function value(score)
  return tonumber(score) or (string.sub(score, 1, 1) == '-' and -math.huge or math.huge)
end

local left, new, had, earliest, many = {}, {}, {}, nil, 0
if ARGV[1] == 'zset' then
  for i = 1, n do
    local payload, score = ARGV[5 + i], ARGV[5 + n + i]
    if had[payload] or redis.call('ZSCORE', key, payload) then
      left[#left + 1] = i .. ';'
    else
      had[payload] = true
      new[#new + 1], new[#new + 2] = score, payload
      if not earliest or value(score) < value(earliest) then earliest, many = score, 0 end
      if value(score) == value(earliest) then many = many + 1 end
    end
  end
end
left = table.concat(left)
local stamped = redis.pcall('HSET', KEYS[2], ARGV[3], left)
if failed(stamped) then return stamped end
redis.pcall('PEXPIRE', KEYS[2], ARGV[4])

local put
if ARGV[1] == 'list' then
  put = redis.pcall(ARGV[2] == 'left' and 'LPUSH' or 'RPUSH', key, unpack(ARGV, 6, 5 + n))
elseif many > 0 then
  put = redis.pcall('ZADD', key, unpack(new))
end
if failed(put) then
  redis.pcall('HDEL', KEYS[2], ARGV[3])
  return put
end
if earliest then wake(key, earliest, many) end
if KEYS[3] then
  for i = 6 + n + (ARGV[1] == 'zset' and n or 0), #ARGV - 1, 2 do redis.pcall('HSETNX', KEYS[3], ARGV[i], ARGV[i + 1]) end
  if redis.pcall('PTTL', KEYS[3]) == -1 then redis.pcall('PEXPIRE', KEYS[3], ARGV[#ARGV]) end
end
return { 'done', left }
