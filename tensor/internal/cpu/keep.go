package cpu

import (
	"sync"
	"unsafe"

	"halfnote/tensor/internal/asm"
)

// keep is a list of things that are used again, by class. The garbage collector,
// which empties a sync.Pool, runs often here: see [memory.collect].
type keep[T any] struct {
	mu   sync.Mutex
	free [64][]*T
}

// take returns one that was given, or a new zero one.
func (k *keep[T]) take(class int) *T {
	k.mu.Lock()
	defer k.mu.Unlock()
	list := k.free[class]
	if n := len(list); n > 0 {
		x := list[n-1]
		k.free[class] = list[:n-1]
		return x
	}
	return new(T)
}

func (k *keep[T]) give(class int, x *T) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.free[class]) < 8 {
		k.free[class] = append(k.free[class], x)
	}
}

// strip is what an item of a product works in: a panel of B, sums, one tile of them,
// a bias, and what its tiles are told.
type strip struct {
	b, c, row *room
	one       *room
	end       asm.End
}

var strips keep[strip]

func takeStrip() *strip { return strips.take(0) }

func (s *strip) give() {
	s.end = asm.End{}
	strips.give(0, s)
}

func (s *strip) panel(slots int) unsafe.Pointer { return grown(&s.b, slots*4+64) }
func (s *strip) sums(n int) unsafe.Pointer      { return grown(&s.c, n*4) }
func (s *strip) tile(n int) unsafe.Pointer      { return grown(&s.one, n*4) }
func (s *strip) bias(n int) unsafe.Pointer      { return grown(&s.row, n*4) }

func grown(r **room, n int) unsafe.Pointer {
	if *r == nil || len((*r).bytes) < n+128 {
		*r = takeBytes(n)
	}
	return (*r).base
}
