-- Reads a window of one place. Large payloads are cut, so that they do not
-- travel; writes nothing.
-- KEYS[1] the list or sorted set
-- ARGV[1] list | zset
-- ARGV[2] position or rank of the first, ARGV[3] how many
-- ARGV[4] bytes of a payload's head to return, ARGV[5] of its tail when it is cut
-- ARGV[6] after how many bytes of payload to stop early
-- Returns {page, length, seconds, microseconds, then of each message: size, head, tail, score}
--       | {type, key, type}
local key, want = KEYS[1], ARGV[1]
local ok, found = holds(key, want)
if not ok then return { 'type', key, found } end

local from, count = tonumber(ARGV[2]), tonumber(ARGV[3])
local head, tail, budget = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local list = want == 'list'
local n = list and redis.call('LLEN', key) or redis.call('ZCARD', key)
local now = redis.pcall('TIME')
if failed(now) then now = { '0', '0' } end
local page = { 'page', n, now[1], now[2] }

local function add(payload, score)
  local size = #payload
  local last = #page
  page[last + 1] = size
  if size > head then
    page[last + 2] = string.sub(payload, 1, head)
    page[last + 3] = string.sub(payload, -tail)
  else
    page[last + 2] = payload
    page[last + 3] = ''
  end
  page[last + 4] = score
  return size
end

-- window reads positions at..upto. A list is walked from the end that is named
-- by the sign of the index, before 7.0 at least: so from the nearer one.
local function window(at, upto)
  if not list then return redis.call('ZRANGE', key, at, upto, 'WITHSCORES') end
  if at * 2 > n then return redis.call('LRANGE', key, at - n, upto - n) end
  return redis.call('LRANGE', key, at, upto)
end

-- Messages are read few at a time, lest many huge ones are held at once; but in
-- the middle of a long list every walk there costs, so not one by one.
local most = 16
local chunk = 1
if list and math.min(from, n - from) > 10000 then chunk = most end

local at, last, bytes = from, math.min(from + count, n) - 1, 0
while at <= last and bytes < budget do
  local upto = math.min(at + chunk - 1, last)
  local got, before = window(at, upto), bytes
  if list then
    for _, payload in ipairs(got) do bytes = bytes + add(payload, '') end
  else
    for i = 1, #got, 2 do bytes = bytes + add(got[i], got[i + 1]) end
  end
  if bytes - before > 1048576 then
    chunk = 1
  elseif chunk < most then
    chunk = chunk * 2
  end
  at = upto + 1
end
return page
