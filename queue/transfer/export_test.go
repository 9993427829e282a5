package transfer

import (
	"bufio"
	"bytes"

	"redq/queue"
)

// EncodeLine returns a message as Export writes it.
func EncodeLine(q queue.Queue, m queue.Failed) []byte {
	var out bytes.Buffer
	e := encoder{to: bufio.NewWriter(&out), queue: q}
	_ = e.message(m)
	_ = e.to.Flush()
	return out.Bytes()
}
