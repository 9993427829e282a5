-- Looks at many keys at once without returning any payload: how long they live,
-- which messages lie at the old end of a list, when a sorted set's are due.
-- KEYS the lists and sorted sets
-- ARGV four a key:
--   left | right  the end of a list where the oldest message lies, how many to look at,
--                 how many of them to read at once: few while they may be huge, ''
--   zset          the lowest score that is a time, the score of now, the score from which it is none
-- Returns an array a key, empty where the key could not be read:
--   list  {time to live in ms, length, bytes looked at, then the fingerprints, oldest first}
--   zset  {time to live in ms, length, bytes looked at, lowest score that is a time, first one after now}

-- A fingerprint is computed alike in Go (fingerprintOf). Of a large payload it takes
-- the size and what a cut message has of it: the first 2048 and the last 64 bytes.
local function fingerprint(payload)
  local text = payload
  if #payload > 4096 then
    text = string.format('%d:', #payload) .. string.sub(payload, 1, 2048) .. string.sub(payload, -64)
  end
  return string.sub(redis.sha1hex(text), 1, 16)
end

-- oldest adds the fingerprints of up to count entries at one end of a list, fewer
-- when they are large.
local function oldest(answer, key, side, count, chunk, n)
  local done, bytes = 0, 0
  count = math.min(count, n)
  while done < count and bytes < 262144 do
    local upto = math.min(done + chunk, count)
    local got
    if side == 'right' then
      got = redis.call('LRANGE', key, -upto, -done - 1)
    else
      got = redis.call('LRANGE', key, done, upto - 1)
    end
    for i = 1, #got do
      local payload = got[i]
      if side == 'right' then payload = got[#got + 1 - i] end
      answer[#answer + 1] = fingerprint(payload)
      bytes = bytes + #payload
    end
    done = upto
    if chunk < 16 then chunk = chunk * 2 end
  end
  answer[3] = bytes
end

local function first(answer, key, low, high)
  local got = redis.call('ZRANGEBYSCORE', key, low, high, 'WITHSCORES', 'LIMIT', 0, 1)
  answer[3] = answer[3] + (got[1] and #got[1] or 0)
  answer[#answer + 1] = got[2] or ''
end

local function observe(key, what, a, b, c)
  local n = redis.pcall(what == 'zset' and 'ZCARD' or 'LLEN', key)
  if failed(n) then return {} end
  local answer = { redis.call('PTTL', key), n, 0 }
  if what == 'zset' then
    first(answer, key, a, '(' .. c)
    first(answer, key, '(' .. b, '(' .. c)
    return answer
  end
  oldest(answer, key, what, tonumber(a), tonumber(b), n)
  return answer
end

local answers = {}
for i, key in ipairs(KEYS) do
  local at = (i - 1) * 4
  answers[i] = observe(key, ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4])
end
return answers
