package cpu

import (
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"runtime/pprof"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"halfnote/internal/testenv"
	"halfnote/tensor/driver"
	"halfnote/tensor/internal/asm"
)

// TestTilesBesideRuntime computes a product with AMX's tiles many times on more goroutines than there are
// processors, and compares bits, while garbage is collected, goroutines are preempted, signals arrive,
// and child processes start.
func TestTilesBesideRuntime(t *testing.T) {
	if len(asm.Tiers()) == 0 || asm.Tiers()[0].Tiles == nil {
		t.Skip("needs AMX: " + asm.TileState())
	}
	tier := asm.Tiers()[0]
	runs := int64(6000)
	if testenv.Requires("long") {
		runs = 300000
	}
	r := rand.New(rand.NewPCG(15, 16))
	words := magnitudes(r, driver.BFloat16, false, 20000)
	b := on(1, tier)
	// with whole and incomplete panels of both operands, three blocks of k, and A read in place
	x, y := ordered(t, b, driver.BFloat16, 1, 80, 1184, 0, words), ordered(t, b, driver.BFloat16, 1, 1184, 100, 0, words[5000:])
	product := func(b *Backend) []uint32 {
		dst := ordered(t, b, driver.BFloat16, 1, 80, 100, 0, words[:1])
		b.Run(driver.Kernel{Code: driver.Matmul}, dst, x, y)
		return wordsOf(dst)
	}
	want := product(b)

	if err := pprof.StartCPUProfile(io.Discard); err == nil {
		defer pprof.StopCPUProfile()
	}
	stop := make(chan struct{})
	var others sync.WaitGroup
	var collections, signals, children atomic.Int64
	for count, f := range map[*atomic.Int64]func(){
		&collections: runtime.GC,
		&signals:     func() { _ = syscall.Kill(os.Getpid(), syscall.SIGURG) },
		&children:    func() { _ = exec.Command("true").Run() },
	} {
		others.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					f()
					count.Add(1)
					runtime.Gosched()
				}
			}
		})
	}
	var done, wrong atomic.Int64
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			b := on(1+i%2, tier)
			for done.Add(1) <= runs {
				if !slices.Equal(product(b), want) {
					wrong.Add(1)
				}
			}
		})
	}
	all.Wait()
	close(stop)
	others.Wait()
	t.Logf("%d products, %d collections, %d signals, %d child processes", runs, collections.Load(), signals.Load(), children.Load())
	if n := wrong.Load(); n > 0 {
		t.Errorf("got %d products with other bits, of %d", n, runs)
	}
	if collections.Load() == 0 || signals.Load() == 0 || children.Load() == 0 {
		t.Errorf("got %d collections, %d signals and %d child processes; want some of each", collections.Load(), signals.Load(), children.Load())
	}
}
