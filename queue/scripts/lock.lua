-- Takes a lock, or extends it when it is held with the same token already, so that
-- asking again after a lost answer is safe.
-- KEYS[1] the lock
-- ARGV[1] the holder's token, ARGV[2] after how many milliseconds it frees itself
-- ARGV[3] '1': only extends it. One that has freed itself may have been somebody else's meanwhile
-- Returns {done} | {held, milliseconds until it frees itself}
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return { 'done' }
end
if ARGV[3] == '1' then return { 'held', redis.call('PTTL', KEYS[1]) } end
local set = redis.pcall('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])
if type(set) == 'table' and set.err then return set end
if set then return { 'done' } end
return { 'held', redis.call('PTTL', KEYS[1]) }
