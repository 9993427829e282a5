-- Finds one message again, of which a large payload is known by its ends only,
-- and returns its bytes; writes nothing.
-- KEYS[1] the list or sorted set
-- ARGV[1] list | zset
-- ARGV[2] the payload or its head, ARGV[3] its tail when it is cut, ARGV[4] its size
-- ARGV[5] position or rank where it was seen, ARGV[6] the key's length then
-- ARGV[7] zset: the score that was seen
-- ARGV[8] how many entries to search around
-- Returns {done, position, length, payload, score} | {gone} | {far} | {type, key, type}
local key, want = KEYS[1], ARGV[1]
local head, tail, size = ARGV[2], ARGV[3], tonumber(ARGV[4])
local index, seen, limit = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[8])
local ok, found = holds(key, want)
if not ok then return { 'type', key, found } end

local whole = #head == size
local function same(payload)
  if whole then return payload == head end
  return #payload == size and string.sub(payload, 1, #head) == head and string.sub(payload, -#tail) == tail
end

if want == 'zset' and whole then
  local score = redis.call('ZSCORE', key, head)
  if not score then return { 'gone' } end
  return { 'done', redis.call('ZRANK', key, head), redis.call('ZCARD', key), head, score }
end
if whole then
  local at, n, far = locate(key, head, index, seen, limit)
  if far then return { 'far' } end
  if not at then return { 'gone' } end
  return { 'done', at, n, head, '' }
end

local list = want == 'list'
local n = list and redis.call('LLEN', key) or redis.call('ZCARD', key)

-- at returns the message at a position, and its score.
local function at(i)
  if i < 0 or i >= n then return nil end
  if list then return redis.call('LINDEX', key, i), '' end
  local got = redis.call('ZRANGE', key, i, i, 'WITHSCORES')
  return got[1], got[2]
end

-- From where it would be, by either end's distance, outwards one by one: an entry
-- may be huge, so all stops after 256 MB.
local bytes, budget, all = 0, 268435456, true
for off = 0, limit do
  for _, i in ipairs({ index + off, index - off, n - seen + index + off, n - seen + index - off }) do
    if i >= 0 and i < n then
      local payload, score = at(i)
      if payload and same(payload) then return { 'done', i, n, payload, score } end
      bytes = bytes + (payload and #payload or 0)
    end
  end
  if bytes > budget then
    all = false
    break
  end
end
if all and index - limit <= 0 and index + limit >= n - 1 then return { 'gone' } end
return { 'far' }
