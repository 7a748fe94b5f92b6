package ptx

import "fmt"

// block holds the state of a running block. It is reused for other blocks of the grid.
type block struct {
	*grid
	index    [3]uint32
	threads  uint32
	warps    []*warp
	shared   []byte
	params   []byte
	ranges   []Range
	cells    []cell // last accesses to shared memory, nil without [Launch.Check]
	epoch    uint32 // number of completed barriers
	begin    uint32 // epoch at the block's start
	barriers [16]barrier
	live     int // number of warps that have not ended
}

// barrier is the state of one of a block's 16 barriers.
type barrier struct {
	arrived int // number of warps that have arrived
	want    int // number of warps to wait for, 0 for all live ones
	pop     int // number of threads whose predicate is true
	and, or bool
}

// reduction is the result of a barrier for the threads that waited.
type reduction struct {
	pop     int
	and, or bool
}

// barrierOp holds the operands of a barrier instruction.
type barrierOp struct {
	id, count int // registers, -1 for none
	predicate int // register, -1 for none
	negate    bool
	arrive    bool // the warp does not wait
}

// prepare allocates what blocks of g need.
func (b *block) prepare(g *grid) {
	b.grid, b.ranges, b.params = g, g.ranges, g.Params
	b.threads = g.Block[0] * g.Block[1] * g.Block[2]
	n := int(b.threads+31) / 32
	if len(b.warps) != n {
		b.warps = nil
		for i := range n {
			b.warps = append(b.warps, newWarp(b, g.k, i))
		}
	}
	size := g.k.dynamicAt + g.Shared
	if cap(b.shared) < size+16 {
		b.shared = aligned(size)
	}
	b.shared = b.shared[:size]
	switch {
	case !g.Check:
		b.cells = nil
	case len(b.cells) < size:
		b.cells = make([]cell, size)
	}
}

// aligned returns n bytes at a multiple of 128.
func aligned(n int) []byte {
	list := make([]([128]byte), n/128+2)
	return flat(list)[:n]
}

func (b *block) run() *Fault {
	for i := range b.shared {
		b.shared[i] = 0xFF // NaN, to expose reads before writes
	}
	b.epoch++
	b.begin = b.epoch
	b.barriers = [16]barrier{}
	b.live = len(b.warps)
	for _, w := range b.warps {
		w.start()
	}
	for b.live > 0 {
		ran := false
		for _, w := range b.warps {
			if w.state != ready {
				continue
			}
			ran = true
			w.run()
			if w.fault != nil {
				return w.fault
			}
			if w.state == ended {
				b.live--
			}
		}
		if !b.release() && !ran {
			return b.stuck()
		}
	}
	return nil
}

// release resumes the warps whose barrier is complete, and reports whether there were any.
func (b *block) release() (any bool) {
	for id := range b.barriers {
		r := &b.barriers[id]
		if r.arrived == 0 || r.arrived < r.want || r.want == 0 && r.arrived < b.live {
			continue
		}
		any = true
		done := reduction{r.pop, r.and, r.or}
		*r = barrier{}
		b.epoch++
		for _, w := range b.warps {
			if w.state == waiting && w.barrier == id {
				w.state = ready
				w.reduced = done
			}
		}
	}
	return any
}

// stuck returns the fault of a block whose warps all wait.
func (b *block) stuck() *Fault {
	for _, w := range b.warps {
		if w.state == waiting {
			w.act = w.live
			w.pc--
			w.faultAt(w.first(), "barrier %d waits for threads that never arrive: %s", w.barrier, b.whereabouts(w))
			return w.fault
		}
	}
	return nil
}

// whereabouts says which threads the barrier of a warp is missing.
func (b *block) whereabouts(of *warp) string {
	for _, w := range b.warps {
		switch {
		case w == of:
		case w.state == ended:
			return fmt.Sprintf("those of warp %d have ended", w.number)
		case w.state == waiting && (w.barrier != of.barrier || w.pc != of.pc+1):
			return fmt.Sprintf("those of warp %d wait at barrier %d in line %d", w.number, w.barrier, w.k.code[w.pc-1].line)
		}
	}
	return "its count exceeds the threads of the block"
}

// arrive records the arrival of a warp at a barrier.
func (b *block) arrive(w *warp, o *op) {
	w.pc--
	defer func() { w.pc++ }()
	id := 0
	if o.barrier.id >= 0 {
		id = int(w.r[o.barrier.id][w.first()])
	}
	if id > 15 {
		w.faultAt(w.first(), "barrier %d, want 0 to 15", id)
		return
	}
	r := &b.barriers[id]
	want := 0
	if o.barrier.count >= 0 {
		n := w.r[o.barrier.count][w.first()]
		if n == 0 || n%32 != 0 {
			w.faultAt(w.first(), "barrier of %d threads, want a multiple of 32", n)
			return
		}
		want = int(n / 32)
	}
	if r.arrived == 0 {
		r.and, r.want = true, want
	} else if r.want != want {
		w.faultAt(w.first(), "barrier %d of %d warps, but other warps expect %d", id, want, r.want)
		return
	}
	r.arrived++
	if p := o.barrier.predicate; p >= 0 {
		set := uint32(w.r[p][0])
		if o.barrier.negate {
			set = ^set
		}
		set &= w.live
		r.pop += count(set)
		r.or = r.or || set != 0
		r.and = r.and && set == w.live
	}
	if !o.barrier.arrive {
		w.state, w.barrier = waiting, id
	}
}
