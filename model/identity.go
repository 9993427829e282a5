package model

import (
	"crypto/sha256"
	"encoding/binary"

	"redq/queue"
)

// identity tells messages with different bytes or keys apart. Identical copies
// share it: which of them is meant is decided by where it was seen.
type identity [sha256.Size]byte

func identify(m queue.Message) identity {
	h := sha256.New()
	var sizes [24]byte
	binary.BigEndian.PutUint64(sizes[:], uint64(len(m.Key)))
	binary.BigEndian.PutUint64(sizes[8:], uint64(m.Size))
	binary.BigEndian.PutUint64(sizes[16:], uint64(len(m.Tail)))
	h.Write(sizes[:])
	h.Write([]byte(m.Key))
	h.Write(m.Payload)
	h.Write(m.Tail)
	var id identity
	h.Sum(id[:0])
	return id
}
