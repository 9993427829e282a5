-- Put in front of the scripts that know due times.
if redis.replicate_commands then pcall(redis.replicate_commands) end

-- clock returns the server's time in microseconds.
local function clock()
  local now = redis.call('TIME')
  return now[1] * 1000000 + now[2]
end

-- scoreof prints the score for an instant in microseconds, never an earlier one.
local function scoreof(us, unit)
  if unit == 's' then return string.format('%.0f', math.ceil(us / 1000000)) end
  if unit == 'fs' then return string.format('%.0f.%06.0f', math.floor(us / 1000000), us % 1000000) end
  if unit == 'us' then return string.format('%.0f', us) end
  return string.format('%.0f', math.ceil(us / 1000))
end

-- latest is the highest score that is due at an instant: of whole units the last one that has begun.
local function latest(us, unit)
  if unit == 's' then return string.format('%.0f', math.floor(us / 1000000)) end
  if unit == 'fs' then return string.format('%.0f.%06.0f', math.floor(us / 1000000), us % 1000000) end
  if unit == 'us' then return string.format('%.0f', us) end
  return string.format('%.0f', math.floor(us / 1000))
end

-- due returns up to n members with their scores that are due, earliest first, as
-- member, score, member, score. Scores from lowest on are times in the queue's unit. What lies
-- below that cannot be a time in any unit when it is below 1e9: programs use 0 and the like for
-- "at once". What lies between is a time in another unit, and left alone.
local function due(key, n, lowest, upto)
  local got = {}
  local first = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
  if first[2] and tonumber(first[2]) < 1e9 then
    got = redis.call('ZRANGEBYSCORE', key, 0, '(1000000000', 'WITHSCORES', 'LIMIT', 0, n)
  end
  if #got < 2 * n then
    local times = redis.call('ZRANGEBYSCORE', key, lowest, upto, 'WITHSCORES', 'LIMIT', 0, n - #got / 2)
    for i = 1, #times do got[#got + 1] = times[i] end
  end
  return got
end

-- nextdue returns the score of the earliest member that is or will be due, or ''.
local function nextdue(key, lowest)
  local first = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
  if not first[2] then return '' end
  local score = tonumber(first[2])
  if (score >= 0 and score < 1e9) or score >= tonumber(lowest) then return first[2] end
  first = redis.call('ZRANGEBYSCORE', key, lowest, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  return first[2] or ''
end
