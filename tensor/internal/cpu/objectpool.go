package cpu

import (
	"math/bits"
	"sync"
	"unsafe"

	"halfnote/tensor/internal/asm"
)

// objectPool holds objects for reuse, by class. Unlike a sync.Pool it survives garbage collections,
// which are frequent here: see [memory.collectShort].
type objectPool[T any] struct {
	mu   sync.Mutex
	free [64][]*T
}

// take returns a pooled object, or a new zero one.
func (p *objectPool[T]) take(class int) *T {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.free[class]
	if n := len(list); n > 0 {
		x := list[n-1]
		p.free[class] = list[:n-1]
		return x
	}
	return new(T)
}

func (p *objectPool[T]) give(class int, x *T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.free[class]) < 8 {
		p.free[class] = append(p.free[class], x)
	}
}

// strip is the working memory of an item of a product: a panel of B, sums, one tile of them, a
// bias, and the final step of its tiles.
type strip struct {
	b, c, one, row *workBuffer
	end            asm.End
	panels         asm.Panels
}

var strips objectPool[strip]

func takeStrip() *strip { return strips.take(0) }

func (s *strip) give() {
	s.end, s.panels = asm.End{}, asm.Panels{}
	strips.give(0, s)
}

func (s *strip) panel(slots int) unsafe.Pointer { return grown(&s.b, slots*4+64) }
func (s *strip) sums(n int) unsafe.Pointer      { return grown(&s.c, n*4) }
func (s *strip) tile(n int) unsafe.Pointer      { return grown(&s.one, n*4) }
func (s *strip) bias(n int) unsafe.Pointer      { return grown(&s.row, n*4) }

func grown(b **workBuffer, n int) unsafe.Pointer {
	if *b == nil || len((*b).bytes) < n+128 {
		*b = takeBytes(n)
	}
	return (*b).base
}

// workBuffer is memory that later products reuse.
type workBuffer struct {
	base  unsafe.Pointer // aligned to a cache line
	bytes []byte
}

var workBuffers objectPool[workBuffer]

// takeBytes returns a workBuffer of at least n bytes with undefined contents.
func takeBytes(n int) *workBuffer {
	r := workBuffers.take(bits.Len(uint(n)))
	if len(r.bytes) < n+128 {
		r.bytes = make([]byte, 1<<bits.Len(uint(n))+128)
		r.base = unsafe.Pointer(&r.bytes[-uintptr(unsafe.Pointer(&r.bytes[0]))&63])
	}
	return r
}

func (r *workBuffer) give() { workBuffers.give(bits.Len(uint(len(r.bytes)-128))-1, r) }
