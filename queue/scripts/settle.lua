-- Ends a message in a consumer's hand otherwise than by acknowledging it: puts it
-- back, into delayed or into dead, or removes it.
-- KEYS[1] backup (or any key of the queue when the pattern has none), KEYS[2] ready, KEYS[3] delayed, KEYS[4] dead,
-- KEYS[5] meta, KEYS[6] the consumer's stamps (see step); a place that the queue lacks has KEYS[1] in its stead and '' in ARGV[3]
-- ARGV[1] payload, ARGV[2] its digest
-- ARGV[3] the places the queue has, of r (ready), d (delayed) and x (dead), e.g. 'rdx'
-- ARGV[4] side of backup to look from: 1 head | -1 tail | 0: there is no backup, the message is in no key
-- ARGV[5] where it goes: delayed | ready | front | dead | away
-- ARGV[6] delayed: in (microseconds after the server's now, ARGV[7]) | at (the score ARGV[7])
-- ARGV[8] delayed: unit of the score: s | fs | ms | us
-- ARGV[9] the end that producers push to
-- ARGV[10] '': keeps its entry in meta; forget: removes it; else the reason of a failed attempt, which is counted
-- ARGV[11] field of the stamps, ARGV[12] number of this settling, which is set there: asked again after a lost
--          answer it changes nothing, even if an equal message is in hand
-- Returns {done, where it went, score or '', attempts or 0, why the attempt was not counted or ''} | {gone} | {type, key, type}
local backup, ready, delayed, dead, meta = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local payload, digest, has, side = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local to, back = ARGV[5], ARGV[9]
if redis.pcall('HGET', KEYS[6], ARGV[11]) == ARGV[12] then return { 'done', to, '', 0, '' } end
local function have(place) return string.find(has, place, 1, true) ~= nil end

if side ~= 0 then
  local n = redis.call('LLEN', backup)
  if not seek(backup, payload, n, side, n) then return { 'gone' } end
end
if to == 'delayed' then
  if not have('d') then
    to = 'ready'
  else
    local present = redis.call('ZSCORE', delayed, payload)
    -- A sorted set holds equal bytes once: the second copy must not be swallowed.
    if present then to = 'ready' end
  end
end
if (to == 'ready' or to == 'front') and not have('r') then to = 'dead' end
if to == 'dead' and not have('x') then to = 'away' end

local put, score = nil, ''
if to == 'delayed' then
  score = ARGV[7]
  if ARGV[6] == 'in' then score = scoreof(clock() + tonumber(ARGV[7]), ARGV[8]) end
  put = redis.pcall('ZADD', delayed, score, payload)
elseif to ~= 'away' then
  local key, left = dead, true
  if to ~= 'dead' then
    key = ready
    left = (back == 'left') == (to == 'ready')
  end
  put = redis.pcall(left and 'LPUSH' or 'RPUSH', key, payload)
end
if failed(put) then return put end
if side ~= 0 then redis.call('LREM', backup, side, payload) end
if redis.pcall('HSET', KEYS[6], ARGV[11], ARGV[12]) == 1 then redis.pcall('PEXPIRE', KEYS[6], 86400000) end
if to == 'delayed' then wake(delayed, score) end

local attempts, uncounted = 0, ''
if ARGV[10] == 'forget' or to == 'away' then
  redis.pcall('HDEL', meta, digest)
elseif ARGV[10] ~= '' then
  attempts, uncounted = countfailure(meta, digest, ARGV[10])
end
return { 'done', to, score, attempts, uncounted }
