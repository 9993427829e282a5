-- Brings a snapshot back under its old name: in one step when nothing has
-- arrived there since, else a piece a call, on the side of the oldest messages.
-- KEYS[1] the private key, KEYS[2] the old name
-- ARGV[1] list | zset
-- ARGV[2] the end of a list where the oldest messages lie: left | right
-- ARGV[3] how many messages to bring back at most, when a piece
-- Sleeping consumers of a sorted set are woken (see wake).
-- Returns {done, left in the snapshot, length before} | {gone} (no snapshot) | {type, key, type} | {exists, score}
local src, dst, n = KEYS[1], KEYS[2], tonumber(ARGV[3])
local ok, found = holds(src, ARGV[1])
if not ok then return { 'type', src, found } end
if found == 'none' then return { 'gone' } end
local len = redis.call(ARGV[1] == 'list' and 'LLEN' or 'ZCARD', src)
ok, found = holds(dst, ARGV[1])
if not ok then return { 'type', dst, found } end
if found == 'none' then
  local renamed = redis.pcall('RENAME', src, dst)
  if failed(renamed) then return renamed end
  if ARGV[1] == 'zset' then
    local first = redis.call('ZRANGE', dst, 0, 0, 'WITHSCORES')
    wake(dst, first[2], redis.call('ZCOUNT', dst, '-inf', first[2]))
  end
  return { 'done', 0, len }
end

if ARGV[1] == 'zset' then
  local piece = redis.call('ZRANGE', src, 0, n - 1, 'WITHSCORES')
  for i = 1, #piece, 2 do
    local present = redis.call('ZSCORE', dst, piece[i])
    if present then return { 'exists', present } end
    local added = redis.pcall('ZADD', dst, piece[i + 1], piece[i])
    if failed(added) then return added end
    local removed = redis.pcall('ZREM', src, piece[i])
    if failed(removed) then
      redis.call('ZREM', dst, piece[i])
      return removed
    end
    if i == 1 then wake(dst, piece[2]) end -- none behind it is earlier
  end
  return { 'done', redis.call('ZCARD', src), len }
end

-- The oldest lie at one end of both lists, so the snapshot's other end joins the newcomers.
for _ = 1, math.min(n, len) do
  local moved
  if ARGV[2] == 'left' then
    moved = redis.pcall('RPOPLPUSH', src, dst)
  else
    local payload = redis.call('LINDEX', src, 0)
    moved = redis.pcall('RPUSH', dst, payload)
    if not failed(moved) then
      moved = redis.pcall('LPOP', src)
      if failed(moved) then redis.call('RPOP', dst) end
    end
  end
  if failed(moved) then return moved end
end
return { 'done', redis.call('LLEN', src), len }
