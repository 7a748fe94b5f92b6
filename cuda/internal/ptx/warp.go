package ptx

import (
	"fmt"
	"math"
	"math/bits"
	"unsafe"
)

// lanes is a register of all threads of a warp. A predicate is stored as a mask in lane 0.
type lanes [32]uint64

const all = math.MaxUint32

// States of a warp.
const (
	ready   = iota
	waiting // for a barrier
	ended
)

// warp is a group of 32 threads. The threads in act are at pc. The other live threads are in rest,
// each with its own program counter in places; those that are also in blocked wait for other threads
// of the warp.
type warp struct {
	r      []lanes
	k      *Kernel
	block  *block
	number int

	pc        int32
	next      int32 // lowest program counter of the threads in rest that are not blocked
	act, rest uint32
	blocked   uint32
	live      uint32
	places    [32]int32
	state     int
	barrier   int
	reduced   reduction
	resume    *op // op to run after the barrier
	lo, hi    uint64
	local     []byte
	frame     int
	fault     *Fault
	steps     int64
	carry     uint32
	epoch     uint32 // number of executed bar.warp.sync
	copies    []asyncCopy
	copyGroup [32]int32
}

func newWarp(b *block, k *Kernel, number int) *warp {
	w := &warp{k: k, block: b, number: number, r: make([]lanes, k.size), frame: round(k.Local, 16)}
	w.local = flat(make([][16]byte, w.frame*2))
	for _, c := range k.constants {
		for i := range w.r[c.reg] {
			w.r[c.reg][i] = c.value
		}
	}
	return w
}

// flat returns the bytes of a list.
func flat[T any](list []T) []byte {
	if len(list) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&list[0])), len(list)*int(unsafe.Sizeof(list[0])))
}

// start resets the warp to the start of the kernel.
func (w *warp) start() {
	first := uint32(w.number) * 32
	n := min(32, w.block.threads-first)
	w.live = uint32(1<<n - 1)
	w.act, w.rest, w.blocked = w.live, 0, 0
	w.pc, w.next, w.state, w.resume, w.fault = 0, math.MaxInt32, ready, nil, nil
	w.lo, w.hi = 1, 0
	w.copies, w.copyGroup = w.copies[:0], [32]int32{}
	for _, s := range w.k.specials {
		r := &w.r[s.reg]
		for i := range r {
			r[i] = s.fill(w, uint32(i))
		}
	}
	for i := range w.local {
		w.local[i] = 0xFF
	}
}

func count(m uint32) int { return bits.OnesCount32(m) }

// first returns the lowest active lane.
func (w *warp) first() int {
	if w.act != 0 {
		return bits.TrailingZeros32(w.act)
	}
	return bits.TrailingZeros32(w.live) & 31
}

// run executes instructions until all threads have ended, wait for a barrier, or fail.
func (w *warp) run() {
	if o := w.resume; o != nil {
		w.resume = nil
		if o.run != nil {
			o.run(w, w.act)
		}
	}
	code := w.k.code
	for w.fault == nil {
		if w.act == 0 || w.pc >= w.next {
			if !w.choose() {
				return
			}
		}
		o := &code[w.pc]
		m := w.act
		w.steps += int64(count(m))
		if o.guard >= 0 {
			g := uint32(w.r[o.guard][0])
			if o.negate {
				g = ^g
			}
			m &= g
		}
		switch o.kind {
		case opRun:
			if m != 0 {
				o.run(w, m)
			}
			w.pc++
		case opBranch:
			switch m {
			case w.act:
				if o.target <= w.pc && w.steps > w.block.Limit {
					w.faultAt(w.first(), "the warp executed more than %d instructions", w.block.Limit)
				}
				w.pc = o.target
			case 0:
				w.pc++
			default:
				w.park(m, o.target)
				w.act &^= m
				w.pc++
			}
		case opTable:
			w.jump(o, m)
		case opExit:
			w.live &^= m
			w.act &^= m
			w.pc++
			if w.blocked != 0 { // they may have waited for the threads that ended
				w.blocked = 0
				w.lowest()
			}
		case opSync:
			w.sync(o, m)
		case opBarrier:
			if w.sync(o, m) {
				w.block.arrive(w, o)
				if w.state == waiting {
					w.resume = o
					return
				}
			}
		}
	}
}

// park moves threads to rest, at the given program counter.
func (w *warp) park(m uint32, pc int32) {
	for l := m; l != 0; l &= l - 1 {
		w.places[bits.TrailingZeros32(l)&31] = pc
	}
	w.rest |= m
	w.next = min(w.next, pc)
}

// lowest recomputes next.
func (w *warp) lowest() {
	w.next = math.MaxInt32
	for l := w.rest &^ w.blocked; l != 0; l &= l - 1 {
		w.next = min(w.next, w.places[bits.TrailingZeros32(l)&31])
	}
}

// choose activates the threads with the lowest program counter. It returns false if none can run.
func (w *warp) choose() bool {
	if w.act != 0 {
		w.park(w.act, w.pc)
		w.act = 0
	}
	if w.next == math.MaxInt32 {
		if w.live == 0 {
			w.state = ended
			return false
		}
		lane := bits.TrailingZeros32(w.blocked) & 31
		w.pc = w.places[lane]
		var here uint32
		for l := w.blocked; l != 0; l &= l - 1 {
			if i := bits.TrailingZeros32(l) & 31; w.places[i] == w.pc {
				here |= 1 << i
			}
		}
		w.faultAt(lane, "threads %#x of warp %d wait here for threads of the warp that wait elsewhere", here, w.number)
		return false
	}
	w.pc = w.next
	for l := w.rest &^ w.blocked; l != 0; l &= l - 1 {
		if i := bits.TrailingZeros32(l) & 31; w.places[i] == w.pc {
			w.act |= 1 << i
		}
	}
	w.rest &^= w.act
	w.lowest()
	return true
}

// sync runs an instruction for the threads whose partners have all reached it, and blocks the
// others. It reports whether it ran for any thread.
func (w *warp) sync(o *op, m uint32) bool {
	if off := w.act &^ m; off != 0 {
		w.park(off, w.pc+1)
		w.act = m
		if m == 0 {
			return false
		}
	}
	here := m
	if w.blocked != 0 {
		for l := w.blocked; l != 0; l &= l - 1 {
			if i := bits.TrailingZeros32(l) & 31; w.places[i] == w.pc {
				here |= 1 << i
			}
		}
	}
	var ran uint32
	for left := here; left != 0; {
		lane := bits.TrailingZeros32(left) & 31
		members, group := uint32(all), left
		if o.member >= 0 {
			r := &w.r[o.member]
			members, group = uint32(r[lane]), 0
			for l := left; l != 0; l &= l - 1 {
				if i := bits.TrailingZeros32(l) & 31; uint32(r[i]) == members {
					group |= 1 << i
				}
			}
			if members>>lane&1 == 0 {
				w.faultAt(lane, "thread is not in its own mask %#x", members)
				return false
			}
		}
		left &^= group
		if group == members&w.live {
			if o.kind == opSync {
				o.run(w, group)
			}
			ran |= group
		}
	}
	if wait := here &^ ran; wait != 0 {
		w.park(wait, w.pc)
		w.blocked |= wait
	}
	w.blocked &^= ran
	w.rest &^= ran
	w.act = ran
	w.lowest()
	w.pc++
	return ran != 0
}

// jump branches to targets that differ between threads.
func (w *warp) jump(o *op, m uint32) {
	if off := w.act &^ m; off != 0 {
		w.park(off, w.pc+1)
	}
	for l := m; l != 0; l &= l - 1 {
		lane := bits.TrailingZeros32(l) & 31
		i := w.r[o.member][lane]
		if i >= uint64(len(o.table)) {
			w.faultAt(lane, "index %d, but there are %d branch targets", i, len(o.table))
			return
		}
		w.park(1<<lane, o.table[i])
	}
	w.act = 0
}

// faultAt ends the launch with an error in the current instruction.
func (w *warp) faultAt(lane int, format string, args ...any) {
	if w.fault != nil {
		return
	}
	t := uint32(w.number*32 + lane)
	x, y := w.block.Block[0], w.block.Block[1]
	o := &w.k.code[w.pc]
	w.fault = &Fault{Kernel: w.k.Name, Block: w.block.index, Thread: [3]uint32{t % x, t / x % y, t / x / y},
		Line: int(o.line), Opcode: o.text, Text: fmt.Sprintf(format, args...)}
}
