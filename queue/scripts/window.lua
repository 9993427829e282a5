-- Reads a window of one place, counted from either end, with whole payloads; writes nothing.
-- KEYS[1] the list or sorted set
-- ARGV[1] list | zset
-- ARGV[2] the end that positions are counted from: left | right (of a sorted set the lowest or highest score)
-- ARGV[3] position of the first, ARGV[4] how many
-- ARGV[5] after how many bytes to stop early
-- ARGV[6] payloads larger than this are not returned but named by their SHA-1
-- ARGV[7] how many to read at once as long as their size is not known
-- Returns {window, length, payloads, scores (of a sorted set), large ones: number from 1, size, digest, ...}
--       | {type, key, type}
local key, list, right = KEYS[1], ARGV[1] == 'list', ARGV[2] == 'right'
local ok, found = holds(key, ARGV[1])
if not ok then return { 'type', key, found } end
local at, count, budget, big = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local n = list and redis.call('LLEN', key) or redis.call('ZCARD', key)
local last = math.min(at + count, n) - 1
local payloads, scores, large, bytes = {}, {}, {}, 0

-- take adds what was read, and returns how many bytes that is.
local function take(got, step)
  local size, last = 0, #payloads
  if last == 0 and step == 1 then
    payloads = got
  else
    for i = 1, #got, step do payloads[last + (i - 1) / step + 1] = got[i] end
  end
  if step == 2 then
    for i = 2, #got, 2 do scores[last + i / 2] = got[i] end
  end
  for i = last + 1, #payloads do
    local payload = payloads[i]
    size = size + #payload
    if #payload > big then
      local l = #large
      large[l + 1], large[l + 2], large[l + 3] = i, #payload, redis.sha1hex(payload)
      payloads[i] = ''
    end
  end
  return size
end

-- Messages are read few at a time until their size is known, lest many huge ones are held at once.
local chunk = tonumber(ARGV[7])
while at <= last and bytes < budget do
  local upto = math.min(at + chunk - 1, last)
  local size = take(between(key, list, right, n, at, upto), list and 1 or 2)
  bytes = bytes + size
  if size > 262144 then chunk = 1 else chunk = math.min(chunk * 16, 1024) end
  at = upto + 1
end
return { 'window', n, payloads, scores, large }
