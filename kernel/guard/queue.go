package guard

import "net"

// byteQueue is a stream of bytes in blocks that grow with its length: an idle peer
// costs a few kilobytes, and a long queue is never copied to make room.
type byteQueue struct {
	blocks [][]byte // blocks, all full but the last
	size   int
	spare  []byte // empty block to use next
}

const (
	minBlock = 4 << 10
	maxBlock = 256 << 10
)

func (q *byteQueue) append(b []byte) {
	for len(b) > 0 {
		last := len(q.blocks) - 1
		if last < 0 || len(q.blocks[last]) == cap(q.blocks[last]) {
			q.blocks = append(q.blocks, q.block(len(b)))
			last++
		}
		block := q.blocks[last]
		n := min(len(b), cap(block)-len(block))
		q.blocks[last] = append(block, b[:n]...)
		q.size += n
		b = b[n:]
	}
}

func (q *byteQueue) block(need int) []byte {
	if b := q.spare; b != nil {
		q.spare = nil
		return b
	}
	return make([]byte, 0, min(max(need, q.size, minBlock), maxBlock))
}

// take removes blocks from the front, those that begin within the first maxBlock bytes.
func (q *byteQueue) take() net.Buffers {
	n, size := 0, 0
	for n < len(q.blocks) && size < maxBlock {
		size += len(q.blocks[n])
		n++
	}
	taken := net.Buffers(q.blocks[:n:n])
	q.blocks = q.blocks[n:]
	q.size -= size
	if len(q.blocks) == 0 {
		q.blocks = nil
	}
	return taken
}

// recycle returns a block that was taken and is no longer needed.
func (q *byteQueue) recycle(block []byte) { q.spare = block[:0] }
