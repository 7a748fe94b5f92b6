//go:build cuda && linux && cgo

package gpu

import (
	"cmp"
	"slices"

	"halfnote/cuda/internal/drv"
)

// cache keeps the memory that the driver gave, in segments that are cut into blocks.
// Small blocks have segments of their own, so that they do not hold up large ones.
type cache struct {
	free     [2][]*block // small and large ones, by size and address
	reserved int64       // bytes of all segments
	into     *cache      // that has taken over all of this one
}

// block is a piece of a segment. Neighbours that are free are joined.
type block struct {
	at         drv.Ptr
	size       int
	pool       int // 0: small, 1: large
	taken      bool
	holds      int    // graphs that use it
	left       bool   // given back, but for those
	home       *cache // when it was made
	prev, next *block // in the segment
}

const (
	unit         = 512      // of sizes: what the driver aligns to
	small        = 1 << 20  // the largest small block
	smallSegment = 2 << 20  // from which small ones are cut
	largeSegment = 20 << 20 // from which large ones up to half of it are cut
)

func rounded(n int) int { return (n + unit - 1) / unit * unit }

func pool(n int) int {
	if rounded(n) <= small {
		return 0
	}
	return 1
}

// segmentFor returns how much to ask the driver for when n bytes are needed.
func segmentFor(n int) int {
	switch n = rounded(n); {
	case n <= small:
		return smallSegment
	case n <= largeSegment/2:
		return largeSegment
	}
	return (n + smallSegment - 1) / smallSegment * smallSegment
}

func order(a, b *block) int {
	return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.at, b.at))
}

// take returns the block that fits n bytes best, nil if none does.
func (c *cache) take(n int) *block {
	n = rounded(n)
	list := &c.free[pool(n)]
	i, _ := slices.BinarySearchFunc(*list, &block{size: n}, order)
	if i == len(*list) {
		return nil
	}
	b := (*list)[i]
	*list = slices.Delete(*list, i, i+1)
	b.taken = true
	if rest := b.size - n; rest >= unit && (pool(n) == 0 || rest > small) {
		after := &block{at: b.at + drv.Ptr(n), size: rest, pool: b.pool, home: c, prev: b, next: b.next}
		if b.next != nil {
			b.next.prev = after
		}
		b.next, b.size = after, n
		c.put(after)
	}
	return b
}

// add enters a segment from which n bytes are wanted.
func (c *cache) add(at drv.Ptr, size, n int) {
	c.reserved += int64(size)
	c.put(&block{at: at, size: size, pool: pool(n), home: c})
}

// cache returns where the block belongs.
func (b *block) cache() *cache {
	c := b.home
	for c.into != nil {
		c = c.into
	}
	return c
}

// absorb takes over all that other has, and its blocks when they are given back.
func (c *cache) absorb(other *cache) {
	for _, list := range other.free {
		for _, b := range list {
			c.put(b)
		}
	}
	c.reserved += other.reserved
	*other = cache{into: c}
}

// give takes a block back.
func (c *cache) give(b *block) {
	b.taken = false
	if next := b.next; next != nil && !next.taken {
		c.remove(next)
		b.size += next.size
		if b.next = next.next; b.next != nil {
			b.next.prev = b
		}
	}
	if prev := b.prev; prev != nil && !prev.taken {
		c.remove(prev)
		prev.size += b.size
		if prev.next = b.next; prev.next != nil {
			prev.next.prev = prev
		}
		b = prev
	}
	c.put(b)
}

func (c *cache) put(b *block) {
	list := &c.free[b.pool]
	i, _ := slices.BinarySearchFunc(*list, b, order)
	*list = slices.Insert(*list, i, b)
}

func (c *cache) remove(b *block) {
	list := &c.free[b.pool]
	i, _ := slices.BinarySearchFunc(*list, b, order)
	*list = slices.Delete(*list, i, i+1)
}

// trim forgets segments of which nothing is taken, and returns where they begin.
func (c *cache) trim() []drv.Ptr {
	var whole []drv.Ptr
	for p := range c.free {
		c.free[p] = slices.DeleteFunc(c.free[p], func(b *block) bool {
			if b.prev != nil || b.next != nil {
				return false
			}
			c.reserved -= int64(b.size)
			whole = append(whole, b.at)
			return true
		})
	}
	return whole
}
