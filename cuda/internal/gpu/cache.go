//go:build cuda && linux && cgo

package gpu

import (
	"cmp"
	"slices"

	"halfnote/cuda/internal/drv"
)

// cache holds memory of the driver in segments that are split into blocks. Small blocks have
// their own segments, so that they do not fragment large ones.
type cache struct {
	free     [2][]*block // small and large blocks, sorted by size and address
	reserved int64       // total bytes of segments
	into     *cache      // cache that has absorbed this one
}

// block is a piece of a segment. Adjacent free blocks are merged.
type block struct {
	at         drv.Ptr
	size       int
	pool       int // 0: small, 1: large
	taken      bool
	holds      int    // number of graphs that use it
	left       bool   // released, but still used by graphs
	home       *cache // cache at its creation
	prev, next *block // neighbours in the segment
}

const (
	unit         = 512      // granularity of sizes: the driver's alignment
	small        = 1 << 20  // largest small block
	smallSegment = 2 << 20  // segment size for small blocks
	largeSegment = 20 << 20 // segment size for large blocks up to half of it
)

func rounded(n int) int { return (n + unit - 1) / unit * unit }

func pool(n int) int {
	if rounded(n) <= small {
		return 0
	}
	return 1
}

// segmentFor returns the segment size to allocate for n bytes.
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

// take returns the best-fitting free block of n bytes, or nil.
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

// add adds a segment from which n bytes will be taken.
func (c *cache) add(at drv.Ptr, size, n int) {
	c.reserved += int64(size)
	c.put(&block{at: at, size: size, pool: pool(n), home: c})
}

// cache returns the block's current cache.
func (b *block) cache() *cache {
	c := b.home
	for c.into != nil {
		c = c.into
	}
	return c
}

// absorb takes over other's memory, and its blocks when they are released.
func (c *cache) absorb(other *cache) {
	for _, list := range other.free {
		for _, b := range list {
			c.put(b)
		}
	}
	c.reserved += other.reserved
	*other = cache{into: c}
}

// give returns a block to the cache.
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

// trim removes segments without used blocks and returns their addresses.
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
