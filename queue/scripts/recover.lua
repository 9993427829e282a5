-- Moves messages of a dead consumer's own backup list back to where they are popped
-- next, in their order. The oldest of them were being handled when it died: each has used an attempt.
-- KEYS[1] backup, KEYS[2] ready, KEYS[3] dead (KEYS[1] when the queue has none), KEYS[4] meta,
-- KEYS[5] the list of consumers, KEYS[6] the consumer's heartbeat
-- ARGV[1] the consumer's id
-- ARGV[2] '1': even when its heartbeat is there (its own restart)
-- ARGV[3] how many messages to move at most in this step
-- ARGV[4] how many of the oldest were being handled
-- ARGV[5] after how many failed attempts a message goes to dead (0: never), ARGV[6] '1': there is a dead place
-- ARGV[7] the end of ready that is popped, ARGV[8] the reason to keep
-- Returns {done, moved to ready, moved to dead, left in backup} | {alive} | {type, key, type}
local backup, ready, dead, meta = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local handled, limit, hasdead = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6] == '1'
if ARGV[2] ~= '1' and redis.call('EXISTS', KEYS[6]) == 1 then return { 'alive' } end
for _, key in ipairs({ backup, ready, dead }) do
  local ok, found = holds(key, 'list')
  if not ok then return { 'type', key, found } end
end

local n = redis.call('LLEN', backup)
local moved, buried, bytes, most = 0, 0, 0, tonumber(ARGV[3])
local push = ARGV[7] == 'left' and 'LPUSH' or 'RPUSH'
-- From the newest on: each is pushed in front of those before it, so the oldest comes to lie in front.
while n > 0 and moved + buried < most and bytes < 4194304 do
  local payload = redis.call('LINDEX', backup, 0)
  local to, digest = ready, nil
  if n <= handled then
    digest = redis.sha1hex(payload)
    local entry = redis.pcall('HGET', meta, digest)
    local attempts = type(entry) == 'string' and tonumber(string.match(entry, '^%d+')) or 0
    if hasdead and limit > 0 and attempts + 1 >= limit then to = dead end
  end
  local put = redis.pcall(to == dead and hasdead and 'LPUSH' or push, to, payload)
  if failed(put) then
    if moved + buried == 0 then return put end
    break
  end
  redis.call('LPOP', backup)
  if digest then countfailure(meta, digest, ARGV[8]) end
  if to == dead and hasdead then buried = buried + 1 else moved = moved + 1 end
  n, bytes = n - 1, bytes + #payload
end
if n == 0 and ARGV[2] ~= '1' then redis.call('HDEL', KEYS[5], ARGV[1]) end
return { 'done', moved, buried, n }
