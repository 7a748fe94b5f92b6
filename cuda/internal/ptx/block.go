package ptx

import "fmt"

// block is a place where blocks of a grid run, one after the other.
type block struct {
	*grid
	index    [3]uint32
	threads  uint32
	warps    []*warp
	shared   []byte
	params   []byte
	ranges   []Range
	cells    []cell // of shared memory, nil without [Launch.Check]
	epoch    uint32 // counts barriers
	begin    uint32 // epoch at the block's start
	barriers [16]barrier
	live     int // warps that have not ended
}

// barrier is one of a block's sixteen.
type barrier struct {
	arrived int // warps
	want    int // warps, 0 for all that live
	pop     int // threads whose predicate holds
	and, or bool
}

// reduction is what a barrier tells those that waited.
type reduction struct {
	pop     int
	and, or bool
}

// barrierOp is what a warp does at a barrier.
type barrierOp struct {
	id, count int // registers, -1 for none
	predicate int // register, -1 for none
	negate    bool
	arrive    bool // does not wait
}

// prepare makes the place fit a grid.
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
		b.shared[i] = 0xFF // NaN to those that read before they write
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

// release lets those warps go on whose barrier is complete.
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

// stuck is the fault of a block all of whose warps wait.
func (b *block) stuck() *Fault {
	for _, w := range b.warps {
		if w.state == waiting {
			w.act = w.live
			w.pc--
			w.faultAt(w.first(), "barrier %d waits for threads that never come: %s", w.barrier, b.whereabouts(w))
			return w.fault
		}
	}
	return nil
}

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
	return "it counts more than there are"
}

// arrive counts a warp at a barrier.
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
		w.faultAt(w.first(), "barrier %d of %d warps, but others came to one of %d", id, want, r.want)
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
