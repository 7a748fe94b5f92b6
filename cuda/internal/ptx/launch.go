package ptx

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Launch holds the parameters of a launch.
type Launch struct {
	Grid, Block [3]uint32
	// Shared is the size of dynamic shared memory.
	Shared int
	// MaxShared is the limit of static and dynamic shared memory together in bytes; 0 means 48 KiB.
	MaxShared int
	// Params holds the arguments in the layout of [Kernel.Params].
	Params []byte
	// Global lists the memory that threads may access, in addition to the module's variables.
	Global []Range
	// Check enables checks for races on shared memory (two threads access a byte without a barrier
	// in between, and one of them writes) and for reads of bytes that have not been written.
	Check bool
	// Limit is the maximum number of instructions of a warp, summed over its threads; 0 means 2^36.
	Limit int64
}

// Kind classifies faults as a GPU reports them.
type Kind int

const (
	Other Kind = iota
	IllegalAddress
	Misaligned
)

// Fault is an error of a running kernel.
type Fault struct {
	Kernel        string
	Block, Thread [3]uint32
	Line          int    // line in the module's text
	Opcode        string // for example "ld.global.f32"
	Text          string
	Kind          Kind
}

func (f *Fault) Error() string {
	return fmt.Sprintf("ptx: kernel %s, block %v, thread %v, line %d: %s: %s", f.Kernel, f.Block, f.Thread, f.Line, f.Opcode, f.Text)
}

// Stats holds counters of a launch.
type Stats struct {
	Steps int64 // executed instructions, summed over threads
}

// Launch runs a grid and returns when all its threads have ended. The error is a [*Fault], or names
// the hardware limit that the launch exceeds.
func (k *Kernel) Launch(l Launch) (s Stats, err error) {
	if err := k.valid(&l); err != nil {
		return s, err
	}
	ranges := slices.Clone(l.Global)
	if len(k.module.memory) > 0 {
		ranges = append(ranges, Range{uint64(uintptr(unsafe.Pointer(&k.module.memory[0]))), uint64(len(k.module.memory))})
	}
	slices.SortFunc(ranges, func(a, b Range) int {
		if a.Base < b.Base {
			return -1
		}
		return 1
	})
	g := &grid{Launch: l, k: k, ranges: ranges, blocks: int64(l.Grid[0]) * int64(l.Grid[1]) * int64(l.Grid[2])}
	workers := min(int64(runtime.GOMAXPROCS(0)), g.blocks)
	var wg sync.WaitGroup
	for range workers - 1 {
		wg.Go(g.work)
	}
	g.work()
	wg.Wait()
	s.Steps = g.steps.Load()
	if f := g.fault.Load(); f != nil {
		return s, f
	}
	return s, nil
}

func (k *Kernel) valid(l *Launch) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("ptx: launch of %s: "+format, append([]any{k.Name}, args...)...)
	}
	threads := uint64(1)
	for i, most := range [3]uint32{1024, 1024, 64} {
		if l.Block[i] == 0 || l.Block[i] > most {
			return bad("block %v, want 1 to %d threads in dimension %d", l.Block, most, i)
		}
		threads *= uint64(l.Block[i])
	}
	for i, most := range [3]uint32{1<<31 - 1, 65535, 65535} {
		if l.Grid[i] == 0 || l.Grid[i] > most {
			return bad("grid %v, want 1 to %d blocks in dimension %d", l.Grid, most, i)
		}
	}
	if threads > uint64(k.MaxThreads) {
		return bad("%d threads in a block, want at most %d", threads, k.MaxThreads)
	}
	if l.MaxShared == 0 {
		l.MaxShared = 48 << 10
	}
	if n := k.dynamicAt + l.Shared; n > l.MaxShared {
		return bad("%d bytes of shared memory, want at most %d", n, l.MaxShared)
	}
	if len(l.Params) < k.ParamBytes {
		return bad("%d bytes of parameters, want %d", len(l.Params), k.ParamBytes)
	}
	if l.Limit == 0 {
		l.Limit = 1 << 36
	}
	return nil
}

// grid is a running launch.
type grid struct {
	Launch
	k      *Kernel
	ranges []Range
	blocks int64
	next   atomic.Int64
	steps  atomic.Int64
	fault  atomic.Pointer[Fault]
}

// work runs blocks until none are left or one has failed.
func (g *grid) work() {
	b, _ := g.k.workplaces.Get().(*block)
	if b == nil {
		b = &block{}
	}
	b.prepare(g)
	for g.fault.Load() == nil {
		i := g.next.Add(1) - 1
		if i >= g.blocks {
			break
		}
		x, y := int64(g.Grid[0]), int64(g.Grid[1])
		b.index = [3]uint32{uint32(i % x), uint32(i / x % y), uint32(i / x / y)}
		if f := b.run(); f != nil {
			g.fault.CompareAndSwap(nil, f)
		}
	}
	for _, w := range b.warps {
		g.steps.Add(w.steps)
		w.steps = 0
	}
	b.grid = nil
	g.k.workplaces.Put(b)
}
