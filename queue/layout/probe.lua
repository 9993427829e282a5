-- What a sorted set holds, without its members: they may be megabytes each.
-- KEYS[1] sorted set
-- ARGV[1] bytes of one member to return
-- returns {head of one member, score, score, …}: up to 9 scores, evenly spread
-- over the ranks, the middle first; {} when the key is gone. It stops early when
-- the members it had to touch were large. Writes nothing.
local ranks = {4, 2, 6, 0, 8, 1, 3, 5, 7}
local last = redis.call('ZCARD', KEYS[1]) - 1
if last < 0 then
  return {}
end
local out, seen, touched = {}, {}, 0
for _, eighth in ipairs(ranks) do
  local rank = math.floor(last * eighth / 8)
  if not seen[rank] then
    seen[rank] = true
    local got = redis.call('ZRANGE', KEYS[1], rank, rank, 'WITHSCORES')
    if out[1] == nil then
      out[1] = string.sub(got[1], 1, tonumber(ARGV[1]))
    end
    out[#out + 1] = got[2]
    touched = touched + #got[1]
    if touched > 1048576 then
      break
    end
  end
end
return out
