package queue

import (
	"strings"

	"github.com/redis/go-redis/v9"
)

// slotOf returns the cluster slot of a key: CRC16 (XMODEM) of the hash tag, or
// of the whole key, modulo 16384, as the Redis Cluster specification has it.
func slotOf(key string) uint16 {
	if open := strings.IndexByte(key, '{'); open >= 0 {
		if length := strings.IndexByte(key[open+1:], '}'); length > 0 {
			key = key[open+1 : open+1+length]
		}
	}
	var crc uint16
	for i := range len(key) {
		crc ^= uint16(key[i]) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return crc % 16384
}

// oneSlot refuses keys that a cluster could not change in one step.
func (c *Client) oneSlot(keys ...string) error {
	if _, cluster := c.write.(*redis.ClusterClient); !cluster {
		return nil
	}
	for _, k := range keys[1:] {
		if slotOf(k) != slotOf(keys[0]) {
			return ErrCrossSlot
		}
	}
	return nil
}

// privateKey names a key that only this process uses, in the slot of key.
func privateKey(key, id string) string {
	const purge = ":redq-purge:"
	name := key + purge + id
	if slotOf(name) != slotOf(key) {
		name = "{" + key + "}" + purge + id
	}
	return name
}
