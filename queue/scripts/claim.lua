-- Takes due messages out of a sorted set: at most once, since they are nowhere else afterwards.
-- KEYS[1] delayed, KEYS[2] meta
-- ARGV[1] how many at most, ARGV[2] after how many bytes to stop
-- ARGV[3] unit of the scores: s | fs | ms | us, ARGV[4] the lowest score that is a time in that unit
-- Returns {done, payload and score of each (earliest first), entries in meta (as step), next due score or '',
--          the server's time in microseconds}
local key, meta, unit, lowest = KEYS[1], KEYS[2], ARGV[3], ARGV[4]
local want, budget, page = tonumber(ARGV[1]), tonumber(ARGV[2]), 1
local now = clock()
local upto = latest(now, unit)
local taken, digests = {}, {}
local known = redis.call('EXISTS', meta) == 1
while want > 0 and budget > 0 do
  local got = due(key, math.min(want, page), lowest, upto)
  local members = {}
  for i = 1, #got, 2 do
    members[#members + 1] = got[i]
    taken[#taken + 1] = got[i]
    taken[#taken + 1] = got[i + 1]
    if known then digests[#digests + 1] = redis.sha1hex(got[i]) end
    budget = budget - #got[i]
  end
  if #members == 0 then break end
  redis.call('ZREM', key, unpack(members))
  want, page = want - #members, page * 8
end
local failures = {}
if #digests > 0 then
  local entries = redis.pcall('HMGET', meta, unpack(digests))
  if not entries.err then failures = entries end
end
return { 'done', taken, failures, nextdue(key, lowest), string.format('%.0f', now) }
