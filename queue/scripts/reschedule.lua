-- Gives one delayed message another score if it still has the one that was seen.
-- KEYS[1] the sorted set
-- ARGV[1] payload
-- ARGV[2] the score that was seen, '' for any
-- ARGV[3] the new score
-- Sleeping consumers are woken (see wake).
-- Returns {done, length} | {gone} | {type, key, type} | {changed, score}
local ok, found = holds(KEYS[1], 'zset')
if not ok then return { 'type', KEYS[1], found } end
local score = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not score then return { 'gone' } end
if ARGV[2] ~= '' and not samescore(score, ARGV[2]) then return { 'changed', score } end
local set = redis.pcall('ZADD', KEYS[1], 'XX', ARGV[3], ARGV[1])
if failed(set) then return set end
wake(KEYS[1], ARGV[3])
return { 'done', redis.call('ZCARD', KEYS[1]) }
