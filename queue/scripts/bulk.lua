-- One step of a bulk operation: changes some messages of a key if they are the expected
-- ones, all of them or none.
-- KEYS[1] source, KEYS[2] target (the source where there is none), KEYS[3] the operation's stamp, KEYS[4] meta
-- ARGV[1] source: list | zset
-- ARGV[2] the end that positions are counted from: left | right (of a sorted set the lowest or highest score)
-- ARGV[3] target: none (they are removed) | list | zset | same (they get other scores)
-- ARGV[4] end of a target list they are pushed to, one after the other: left | right
-- ARGV[5] the expected identity (see identity), ARGV[6] from which size on a payload is large there
-- ARGV[7] a mark that no message contains, also the separator of the identity
-- ARGV[8] field of the stamp, one for each step, ARGV[9] how long the stamp is kept in milliseconds:
--         whose answer is lost finds there whether the step has happened
-- ARGV[10] '1': what is known of their failed attempts is forgotten
-- ARGV[11] how many from the very end; 0: their positions, ascending, follow ARGV[12], which is how many
-- then, for a target zset or same, one score each
-- Sleeping consumers of a sorted set are woken (see wake).
-- Returns {done, length of the source before} | {changed, length} | {exists, which ones, from 1 ...} | {type, key, type}
local src, dst, list, right = KEYS[1], KEYS[2], ARGV[1] == 'list', ARGV[2] == 'right'
local target, big, mark = ARGV[3], tonumber(ARGV[6]), ARGV[7]
local ok, found = holds(src, ARGV[1])
if not ok then return { 'type', src, found } end
if target == 'list' or target == 'zset' then
  ok, found = holds(dst, target)
  if not ok then return { 'type', dst, found } end
end

local n = list and redis.call('LLEN', src) or redis.call('ZCARD', src)
local count, named = tonumber(ARGV[11]), tonumber(ARGV[12])
local positions, payloads, scores = {}, {}, {}
if count > 0 then
  payloads = between(src, list, right, n, 0, count - 1)
  if not list then
    local got = payloads
    payloads = {}
    for i = 1, #got, 2 do payloads[#payloads + 1], scores[#scores + 1] = got[i], got[i + 1] end
  end
else
  for i = 1, named do
    local at = tonumber(ARGV[12 + i])
    positions[i] = at
    if list then
      payloads[i] = redis.call('LINDEX', src, right and -at - 1 or at)
    else
      local got = between(src, false, right, n, at, at)
      payloads[i], scores[i] = got[1], got[2]
    end
    if not payloads[i] then return { 'changed', n } end
  end
end
if #payloads ~= count + #positions or identity(payloads, scores, big, mark) ~= ARGV[5] then return { 'changed', n } end
local fresh = 12 + #positions -- scores follow it

if target == 'zset' then
  local present = { 'exists' }
  for i, payload in ipairs(payloads) do
    if redis.call('ZSCORE', dst, payload) then present[#present + 1] = i end
  end
  if #present > 1 then return present end
end

-- What is marked can be put back until it is removed.
local marked = 0
local function unmark()
  for i = 1, marked do redis.call('LSET', src, right and -positions[i] - 1 or positions[i], payloads[i]) end
end
if list and count == 0 then
  for i, at in ipairs(positions) do
    local set = redis.pcall('LSET', src, right and -at - 1 or at, mark)
    if failed(set) then
      unmark()
      return set
    end
    marked = i
  end
end

local put, earliest
if target == 'list' then
  put = redis.pcall(ARGV[4] == 'left' and 'LPUSH' or 'RPUSH', dst, unpack(payloads))
elseif target == 'zset' or target == 'same' then
  local pairs = {}
  for i, payload in ipairs(payloads) do
    local score = ARGV[fresh + i]
    pairs[2 * i - 1], pairs[2 * i] = score, payload
    if not earliest or tonumber(score) < tonumber(earliest) then earliest = score end
  end
  put = redis.pcall('ZADD', dst, unpack(pairs))
end
if failed(put) then
  unmark()
  return put
end

local removed
if target == 'same' then
  removed = 0
elseif not list then
  if count > 0 and not right then
    removed = redis.pcall('ZREMRANGEBYRANK', src, 0, count - 1)
  elseif count > 0 then
    removed = redis.pcall('ZREMRANGEBYRANK', src, -count, -1)
  else
    removed = redis.pcall('ZREM', src, unpack(payloads))
  end
elseif marked > 0 then
  -- From the end that is nearer to the furthest of them; as many as there are, then it stops.
  local side = positions[#positions] < n - positions[1] and (right and -1 or 1) or (right and 1 or -1)
  removed = redis.pcall('LREM', src, side * marked, mark)
elseif right then
  removed = redis.pcall('LTRIM', src, 0, -count - 1)
else
  removed = redis.pcall('LTRIM', src, count, -1)
end
if failed(removed) then
  -- Added, but not removed here (an ACL, say): take the copies back.
  unmark()
  local back
  if target == 'zset' then
    back = redis.pcall('ZREM', dst, unpack(payloads))
  elseif target == 'list' and ARGV[4] == 'left' then
    back = redis.pcall('LTRIM', dst, #payloads, -1)
  elseif target == 'list' then
    back = redis.pcall('LTRIM', dst, 0, -#payloads - 1)
  end
  if failed(back) then
    return redis.error_reply('DOUBLED added to the target, but neither removed from the source nor taken back: ' .. removed.err)
  end
  return removed
end

if ARGV[10] == '1' and redis.pcall('EXISTS', KEYS[4]) == 1 then
  for _, payload in ipairs(payloads) do redis.pcall('HDEL', KEYS[4], redis.sha1hex(payload)) end
end
redis.pcall('HSET', KEYS[3], ARGV[8], #payloads)
redis.pcall('PEXPIRE', KEYS[3], ARGV[9])
if earliest then wake(dst, earliest, redis.call('ZCOUNT', dst, '-inf', earliest)) end
return { 'done', n }
