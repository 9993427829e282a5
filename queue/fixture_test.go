package queue_test

import "github.com/redis/go-redis/v9"

func z(score float64, member string) redis.Z { return redis.Z{Score: score, Member: member} }
