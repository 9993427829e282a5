-- Adds messages in one step: all that are new, or none where the server refuses.
-- KEYS[1] the list or sorted set, KEYS[2] the hash of counters, when they are counted
-- ARGV[1] list | zset
-- ARGV[2] list: left | right, where they are pushed one after the other; zset: at | in
-- ARGV[3] zset, in: the delay in microseconds after the server's now, else ''
-- ARGV[4] zset, in: unit of the score: s | fs | ms | us, else ''
-- from ARGV[5] on the payloads, fewer than 4,000; zset, at: before each its score
-- Sleeping consumers of a sorted set are woken (see wake).
-- Returns {done, length, score of the first or '', then of each that was not added, since equal bytes are there
--          or came before it, its position from 1 and their score} | {type, key, type}
local key, counters = KEYS[1], KEYS[2]
local ok, found = holds(key, ARGV[1])
if not ok then return { 'type', key, found } end

local function count(n)
  if counters and n > 0 then redis.pcall('HINCRBY', counters, 'enqueued', n) end
end

if ARGV[1] == 'list' then
  local len = redis.pcall(ARGV[2] == 'left' and 'LPUSH' or 'RPUSH', key, unpack(ARGV, 5))
  if failed(len) then return len end
  count(#ARGV - 4)
  return { 'done', len, '' }
end

local score, width = nil, 2
if ARGV[2] == 'in' then score, width = scoreof(clock() + tonumber(ARGV[3]), ARGV[4]), 1 end
local answer = { 'done', 0, score or ARGV[5] }
local new, scores = {}, {}
local earliest, many = nil, 0
for i = 5, #ARGV, width do
  local payload, due = ARGV[i + width - 1], score or ARGV[i]
  local present = scores[payload] or redis.call('ZSCORE', key, payload)
  if present then
    answer[#answer + 1] = (i - 5) / width + 1
    answer[#answer + 1] = present
  else
    scores[payload] = due
    new[#new + 1] = due
    new[#new + 1] = payload
    if not earliest or tonumber(due) < tonumber(earliest) then earliest, many = due, 0 end
    if tonumber(due) == tonumber(earliest) then many = many + 1 end
  end
end
if many > 0 then
  local added = redis.pcall('ZADD', key, unpack(new))
  if failed(added) then return added end
  wake(key, earliest, many)
  count(#new / 2)
end
answer[2] = redis.call('ZCARD', key)
return answer
