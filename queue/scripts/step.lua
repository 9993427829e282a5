-- One step of a consumer: acknowledges what was handled and takes the next messages
-- from ready into the backup list, where the newest lies at the head.
-- KEYS[1] ready, KEYS[2] backup, KEYS[3] meta, KEYS[4] the consumer's stamps: whose answer is lost finds its step there
-- ARGV[1] the end of ready that is popped: left | right
-- ARGV[2] how many to take at most, ARGV[3] after how many bytes to stop taking
-- ARGV[4] 1: acknowledged ones are nearest to the head of backup (a shared list); -1: to its tail (an own one)
-- ARGV[5] number of payloads to acknowledge, oldest first; they follow from ARGV[8]
-- ARGV[6] field of the stamps, ARGV[7] number of this step, which is set there if it acknowledges
-- then the digests to forget in meta: of acknowledged messages that had failed before
-- Returns {done, positions of the acknowledged that were not in backup, payloads taken (oldest first),
--          their entries in meta (false: none; an empty array when none has any), error of the taking or ''}
local ready, backup, meta = KEYS[1], KEYS[2], KEYS[3]
local side, acks = tonumber(ARGV[4]), tonumber(ARGV[5])

local function reverse(list)
  local n = #list
  for i = 1, math.floor(n / 2) do list[i], list[n + 1 - i] = list[n + 1 - i], list[i] end
end

-- left are the acknowledged payloads that still lie in backup, by how many copies.
local left, missed = {}, {}
for i = 8, 7 + acks do left[ARGV[i]] = (left[ARGV[i]] or 0) + 1 end

-- Mostly the acknowledged are the oldest of an own list, but for a few that are
-- still handled: then the end of the list is cut off, and those few are put back.
if side < 0 and acks > 1 then
  local oldest = redis.call('LRANGE', backup, -acks - 250, -1)
  local last, found, kept, size, gone = #oldest, 0, {}, 0, {}
  while last > 0 and found < acks do
    local payload = oldest[last]
    if (left[payload] or 0) > (gone[payload] or 0) then
      gone[payload], found = (gone[payload] or 0) + 1, found + 1
    else
      kept[#kept + 1] = payload
      size = size + #payload
    end
    last = last - 1
  end
  local looked = #oldest - last
  reverse(kept)
  -- What is put back must find room: that is tried before anything is cut off.
  local room = #kept == 0 or (size < 65536 and type(redis.pcall('RPUSH', backup, unpack(kept))) == 'number')
  if found > 0 and room then
    redis.call('LTRIM', backup, 0, -looked - #kept - 1)
    if #kept > 0 then redis.call('RPUSH', backup, unpack(kept)) end
    for payload, n in pairs(gone) do left[payload] = left[payload] - n end
  elseif room and #kept > 0 then
    redis.call('LTRIM', backup, 0, -#kept - 1)
  end
end
for i = 1, acks do
  local payload = ARGV[7 + i]
  if left[payload] > 0 then
    left[payload] = left[payload] - 1
    if redis.call('LREM', backup, side, payload) == 0 then missed[#missed + 1] = i end
  end
end
if #ARGV > 7 + acks then redis.pcall('HDEL', meta, unpack(ARGV, 8 + acks)) end
if acks > 0 and redis.pcall('HSET', KEYS[4], ARGV[6], ARGV[7]) == 1 then redis.pcall('PEXPIRE', KEYS[4], 86400000) end

local taken, want, budget, page = {}, tonumber(ARGV[2]), tonumber(ARGV[3]), 1
local right = ARGV[1] == 'right'

-- take moves up to n entries, and returns them, or the server's refusal.
local function take(n)
  if n == 1 and right then
    local one = redis.pcall('RPOPLPUSH', ready, backup)
    if type(one) == 'table' then return one end
    return one and { one } or {}
  end
  local got
  if right then
    got = redis.pcall('LRANGE', ready, -n, -1)
  else
    got = redis.pcall('LRANGE', ready, 0, n - 1)
  end
  if got.err or #got == 0 then return got end
  if right then reverse(got) end
  local put = redis.pcall('LPUSH', backup, unpack(got))
  if type(put) == 'table' then return put end
  if right then redis.call('LTRIM', ready, 0, -#got - 1) else redis.call('LTRIM', ready, #got, -1) end
  return got
end

while want > 0 and budget > 0 do
  local got = take(math.min(want, page))
  if got.err then return { 'done', missed, taken, {}, got.err } end
  if #got == 0 then break end
  for i = 1, #got do
    taken[#taken + 1] = got[i]
    budget = budget - #got[i]
  end
  -- Sizes are known only once an entry is in hand: pages grow slowly, so that a few
  -- huge messages do not fill the memory.
  want, page = want - #got, page * 8
end

local failures = {}
if #taken > 0 and redis.call('EXISTS', meta) == 1 then
  local digests = {}
  for i, payload in ipairs(taken) do digests[i] = redis.sha1hex(payload) end
  local known = redis.pcall('HMGET', meta, unpack(digests))
  if not known.err then failures = known end
end
return { 'done', missed, taken, failures, '' }
