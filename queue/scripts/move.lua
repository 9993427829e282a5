-- Moves one exact message from one place to another: re-drive, run now, and the undo of both.
-- KEYS[1] source, KEYS[2] target
-- ARGV[1] payload
-- ARGV[2] source: list | zset
-- ARGV[3] source list: position where it was seen, ARGV[4] length of the list then
-- ARGV[5] source zset: the score that was seen, '' for any
-- ARGV[6] target: list | zset
-- ARGV[7] target list: left | right | head | tail (as far from there as position ARGV[10] of ARGV[11] entries)
-- ARGV[8] target zset: score
-- ARGV[9] a mark that no message equals
-- ARGV[10], ARGV[11] old position and length for head and tail
-- ARGV[12] how many entries to search from each end
-- ARGV[13] '1': answer back when the target holds equal bytes already
-- Sleeping consumers of a target zset are woken (see wake).
-- Returns {done, position, length before} (of a source list, 0 0 of a zset) | {gone} | {far}
--         | {type, key, type} | {exists, score} | {changed, score} | {back}
local src, dst, payload, mark, limit = KEYS[1], KEYS[2], ARGV[1], ARGV[9], tonumber(ARGV[12])
local ok, found = holds(src, ARGV[2])
if not ok then return { 'type', src, found } end
ok, found = holds(dst, ARGV[6])
if not ok then return { 'type', dst, found } end

if ARGV[13] == '1' then
  if ARGV[6] == 'list' then
    if locate(dst, payload, tonumber(ARGV[10]), tonumber(ARGV[11]), limit) then return { 'back' } end
  elseif redis.call('ZSCORE', dst, payload) then
    return { 'back' }
  end
end

local at, n, far
if ARGV[2] == 'list' then
  at, n, far = locate(src, payload, tonumber(ARGV[3]), tonumber(ARGV[4]), limit)
  if far then return { 'far' } end
  if not at then return { 'gone' } end
else
  local score = redis.call('ZSCORE', src, payload)
  if not score then return { 'gone' } end
  if ARGV[5] ~= '' and not samescore(score, ARGV[5]) then return { 'changed', score } end
end

local put, total, where
if ARGV[6] == 'zset' then
  local present = redis.call('ZSCORE', dst, payload)
  if present then return { 'exists', present } end
  put = redis.pcall('ZADD', dst, ARGV[8], payload)
else
  total = redis.call('LLEN', dst)
  where = spot(ARGV[7], tonumber(ARGV[10]), tonumber(ARGV[11]), total)
  put = insert(dst, where, total, payload, mark)
end
if failed(put) then return put end

local removed
if ARGV[2] == 'list' then
  removed = cut(src, at, n, payload, mark)
else
  removed = redis.pcall('ZREM', src, payload)
end
if failed(removed) then
  -- Added, but not removed here (an ACL, say): take the copy back.
  local undone
  if ARGV[6] == 'zset' then
    undone = redis.pcall('ZREM', dst, payload)
  else
    undone = cut(dst, where, put, payload, mark)
  end
  if failed(undone) then
    return redis.error_reply('DOUBLED added to the target, but neither removed from the source nor taken back: ' .. removed.err)
  end
  return removed
end
if ARGV[6] == 'zset' then wake(dst, ARGV[8]) end
return { 'done', at or 0, n or 0 }
