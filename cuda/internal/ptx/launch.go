package ptx

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Launch is a grid to run.
type Launch struct {
	Grid, Block [3]uint32
	// Shared is the size of dynamic shared memory.
	Shared int
	// MaxShared is what static and dynamic shared memory may take together, 48 KiB
	// if it is 0.
	MaxShared int
	// Params holds the arguments as [Kernel.Params] says.
	Params []byte
	// Global is the memory that threads may access, beside the module's own.
	Global []Range
	// Check finds threads that access the same shared memory without a barrier
	// between them, one of them writing, and reads of shared memory that no thread
	// wrote.
	Check bool
	// Limit is how many instructions a warp may run, counted by thread: 2^36 if it is
	// 0.
	Limit int64
}

// Kind says how a GPU would name a fault.
type Kind int

const (
	Other Kind = iota
	IllegalAddress
	Misaligned
)

// Fault is what went wrong in a kernel that runs.
type Fault struct {
	Kernel        string
	Block, Thread [3]uint32
	Line          int    // in the module's text
	Opcode        string // "ld.global.f32"
	Text          string
	Kind          Kind
}

func (f *Fault) Error() string {
	return fmt.Sprintf("ptx: kernel %s, block %v, thread %v, line %d: %s: %s", f.Kernel, f.Block, f.Thread, f.Line, f.Opcode, f.Text)
}

// Stats says what a launch did.
type Stats struct {
	Steps int64 // instructions, counted by thread
}

// Launch runs a grid and returns when all its threads have ended. The error is a
// [*Fault], or says which limit of the hardware the launch breaks.
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

// grid is a launch that is running.
type grid struct {
	Launch
	k      *Kernel
	ranges []Range
	blocks int64
	next   atomic.Int64
	steps  atomic.Int64
	fault  atomic.Pointer[Fault]
}

// work runs blocks until there are no more or one has failed.
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
