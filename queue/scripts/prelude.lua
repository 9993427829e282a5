-- Put in front of every script. A script takes all keys through KEYS, changes
-- nothing before it has checked types and found its message, adds before it
-- removes, and answers an array whose first element is a status:
--   done                what was asked has happened
--   gone                the message is not there any more
--   type    key type    the key holds another type
--   exists  score       the sorted set holds equal bytes already
--   changed score       the message has another score than was seen
--   back                the message is where it would be put
--   far                 not near where it was seen, and the list is too long to search at once
-- Whatever the server refuses (OOM, READONLY, NOPERM ...) comes back as its own error reply.

-- Before 5.0 a script that asks for the time may write only with effects replication.
if redis.replicate_commands then pcall(redis.replicate_commands) end

local function failed(reply)
  return type(reply) == 'table' and reply.err ~= nil
end

-- holds tells whether key has the wanted type or does not exist; else the type.
local function holds(key, want)
  local t = redis.call('TYPE', key).ok
  return t == want or t == 'none', t
end

local function samescore(a, b)
  return a == b or (tonumber(a) ~= nil and tonumber(a) == tonumber(b))
end

-- wake tells consumers, which sleep until the next due time, of the score that n messages
-- of a sorted set (1 by default) have just got, if no other message is as early. Where
-- the user may not publish they wake by themselves, later.
local function wake(key, score, n)
  if redis.pcall('ZCOUNT', key, '-inf', score) == (n or 1) then
    redis.pcall('PUBLISH', key .. ':wake', score)
  end
end

-- scan looks for payload in positions first..last with LRANGE, for servers
-- without LPOS and for the middle of very long lists; it gives up after 16 MB.
local function scan(key, payload, first, last)
  local bytes, at = 0, first
  while at <= last and bytes < 16777216 do
    local upto = math.min(at + 99, last)
    local page = redis.call('LRANGE', key, at, upto)
    for i, v in ipairs(page) do
      if v == payload then return at + i - 1 end
      bytes = bytes + #v
    end
    at = upto + 1
  end
  return nil
end

-- seek finds the copy of payload nearest to one end, looking at limit entries.
local function seek(key, payload, n, rank, limit)
  local at = redis.pcall('LPOS', key, payload, 'RANK', rank, 'MAXLEN', limit)
  if not failed(at) then return at or nil end
  if rank > 0 then return scan(key, payload, 0, math.min(n, limit) - 1) end
  return scan(key, payload, math.max(0, n - limit), n - 1)
end

-- locate returns the position of payload, which was seen at index in a list of
-- seen entries, and the list's length now; nil and whether it may be further
-- off than was searched. Traffic at one end leaves the distance from the other,
-- so both distances are tried before anything is searched.
local function locate(key, payload, index, seen, limit)
  local n = redis.call('LLEN', key)
  local fromtail = n - seen + index
  for _, at in ipairs({ index, fromtail }) do
    if at >= 0 and at < n and redis.call('LINDEX', key, at) == payload then return at, n end
  end
  local head, tail = seek(key, payload, n, 1, limit), nil
  if head and (n > limit or head < index) then tail = seek(key, payload, n, -1, limit) end
  if not head and n > limit then tail = seek(key, payload, n, -1, limit) end
  if head and tail then
    if math.abs(tail - fromtail) < math.abs(head - index) then return tail, n end
    return head, n
  end
  if head or tail then return head or tail, n end
  if n > limit then
    local near = scan(key, payload, math.max(0, index - 25000), math.min(n - 1, index + 25000))
    if near then return near, n end
    return nil, n, true
  end
  return nil, n
end

-- cut removes the entry at position at of a list of n entries. The entry is
-- first marked, so that of several equal ones this very one goes. Where LSET is
-- refused (out of memory) the nearest equal entry is removed instead: the same bytes.
local function cut(key, at, n, payload, mark)
  local side = 1
  if at * 2 > n then side = -1 end
  local set = redis.pcall('LSET', key, at, mark)
  if failed(set) then return redis.pcall('LREM', key, side, payload) end
  local removed = redis.pcall('LREM', key, side, mark)
  if failed(removed) then redis.call('LSET', key, at, payload) end
  return removed
end

-- insert puts payload at position at of a list that has n entries.
local function insert(key, at, n, payload, mark)
  if at <= 0 then return redis.pcall('LPUSH', key, payload) end
  if at >= n then return redis.pcall('RPUSH', key, payload) end
  local old = redis.call('LINDEX', key, at)
  local set = redis.pcall('LSET', key, at, mark)
  if failed(set) then return set end
  local put = redis.pcall('LINSERT', key, 'BEFORE', mark, payload)
  if failed(put) then
    redis.call('LSET', key, at, old)
    return put
  end
  redis.call('LSET', key, at + 1, old)
  return put
end

-- spot returns where a message goes in a list of n entries: 'left' and 'right'
-- are the ends; 'head' and 'tail' are as far from that end as index was in a
-- list of seen entries.
local function spot(where, index, seen, n)
  if where == 'left' then return 0 end
  if where == 'right' then return n end
  if where == 'head' then return math.min(index, n) end
  return math.max(0, math.min(n, n - (seen - 1 - index)))
end
