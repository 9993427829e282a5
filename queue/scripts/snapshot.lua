-- Takes a key as it is now out of the way: what is pushed later starts a new key.
-- KEYS[1] the key, KEYS[2] the private name it gets
-- ARGV[1] list | zset
-- Returns {done, length} | {gone} | {exists} | {type, key, type}
local ok, found = holds(KEYS[1], ARGV[1])
if not ok then return { 'type', KEYS[1], found } end
if found == 'none' then return { 'gone' } end
if redis.call('EXISTS', KEYS[2]) == 1 then return { 'exists', '' } end
local renamed = redis.pcall('RENAME', KEYS[1], KEYS[2])
if failed(renamed) then return renamed end
-- A time to live would go along and take the messages before they are in the journal.
redis.pcall('PERSIST', KEYS[2])
return { 'done', redis.call(ARGV[1] == 'list' and 'LLEN' or 'ZCARD', KEYS[2]) }
