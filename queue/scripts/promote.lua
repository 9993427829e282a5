-- Moves due messages from delayed to the back of ready, earliest first.
-- KEYS[1] delayed, KEYS[2] ready, KEYS[3] meta
-- ARGV[1] how many at most, ARGV[2] after how many bytes to stop
-- ARGV[3] unit of the scores: s | fs | ms | us, ARGV[4] the lowest score that is a time in that unit
-- ARGV[5] the end of ready that producers push to: left | right
-- Returns {done, payload and score of each (a payload above 1 kB as ''), next due score or '', the server's
--          time in microseconds, 1 when meta exists: messages have failed}
local key, ready, unit, lowest = KEYS[1], KEYS[2], ARGV[3], ARGV[4]
local want, budget, page = tonumber(ARGV[1]), tonumber(ARGV[2]), 1
local push = ARGV[5] == 'left' and 'LPUSH' or 'RPUSH'
local now = clock()
local upto = latest(now, unit)
local moved = {}
while want > 0 and budget > 0 do
  local got = due(key, math.min(want, page), lowest, upto)
  local members = {}
  for i = 1, #got, 2 do
    members[#members + 1] = got[i]
    moved[#moved + 1] = #got[i] <= 1024 and got[i] or ''
    moved[#moved + 1] = got[i + 1]
    budget = budget - #got[i]
  end
  if #members == 0 then break end
  local put = redis.pcall(push, ready, unpack(members))
  if type(put) == 'table' and put.err then return put end
  redis.call('ZREM', key, unpack(members))
  want, page = want - #members, page * 8
end
return { 'done', moved, nextdue(key, lowest), string.format('%.0f', now), redis.call('EXISTS', KEYS[3]) }
