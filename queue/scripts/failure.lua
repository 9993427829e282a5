-- Put in front of the scripts that count failed attempts.

-- countfailure adds one to the attempts of a message, keeps when the first failed
-- and the last reason, and returns how many there are, and what the server says if it cannot be kept. The entries expire together when nothing has
-- failed for a week, so that messages that left by other ways do not stay for ever.
local function countfailure(meta, digest, reason)
  local entry = redis.pcall('HGET', meta, digest)
  local attempts, first
  if type(entry) == 'string' then attempts, first = string.match(entry, '^(%d+) (%d+)') end
  attempts = (tonumber(attempts) or 0) + 1
  first = first or string.format('%.0f', math.floor(clock() / 1000))
  local kept = redis.pcall('HSET', meta, digest, attempts .. ' ' .. first .. ' ' .. reason)
  if type(kept) == 'table' then return attempts, kept.err end
  redis.pcall('PEXPIRE', meta, 604800000)
  return attempts, ''
end
