-- between returns positions at..upto of a key of n entries in that order, counted from
-- the end that right tells; of a sorted set members and scores in turn.
local function between(key, list, right, n, at, upto)
  if not list then
    return redis.call(right and 'ZREVRANGE' or 'ZRANGE', key, at, upto, 'WITHSCORES')
  end
  if not right then return redis.call('LRANGE', key, at, upto) end
  local got = redis.call('LRANGE', key, -upto - 1, -at - 1)
  local m = #got
  for i = 1, math.floor(m / 2) do got[i], got[m + 1 - i] = got[m + 1 - i], got[i] end
  return got
end

-- identity is what client and server make of some messages to know that they mean the same
-- ones: of each 32 of them the SHA-1 of their bytes, with a separator in between that no
-- message contains (of large ones their own SHA-1), and of those and the scores the SHA-1. To put
-- the bytes of all together in one string would cost Lua more than all the rest.
local function identity(payloads, scores, big, separator)
  local parts, sums = payloads, {}
  for i = 1, #payloads do
    if #payloads[i] > big then
      if parts == payloads then parts = { unpack(payloads) } end
      parts[i] = redis.sha1hex(payloads[i])
    end
  end
  for i = 1, #parts, 32 do
    sums[#sums + 1] = redis.sha1hex(table.concat(parts, separator, i, math.min(i + 31, #parts)))
  end
  return redis.sha1hex(table.concat(sums) .. table.concat(scores, ','))
end
