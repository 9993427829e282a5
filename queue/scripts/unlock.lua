-- Frees a lock if it is still held with this token.
-- KEYS[1] the lock
-- ARGV[1] the holder's token
-- Returns {done} | {gone}
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return { 'gone' } end
redis.call('DEL', KEYS[1])
return { 'done' }
