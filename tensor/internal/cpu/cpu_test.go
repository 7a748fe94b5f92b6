package cpu_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"halfnote/tensor/driver"
	"halfnote/tensor/drivertest"
	"halfnote/tensor/internal/cpu"
)

func TestConformance(t *testing.T) {
	drivertest.Run(t, cpu.InBrief(t, driver.Lookup("cpu").(*cpu.Backend)))
}

// TestWorkers checks that results depend neither on the number of workers nor on the run.
func TestWorkers(t *testing.T) { drivertest.Same(t, cpu.InBrief(t, cpu.New(1)), cpu.New(3)) }

func newVector(t *testing.T, b *cpu.Backend, n int) driver.View {
	t.Helper()
	buf, err := b.Alloc(4 * n)
	if err != nil {
		t.Fatal(err)
	}
	return driver.View{Buffer: buf, DType: driver.Float32, Shape: []int{n}, Stride: []int{1}}
}

// TestPoll checks that a panic of the poll ends a kernel, that the poll runs on the caller's goroutine,
// that no worker writes afterwards, and that the next kernel works.
func TestPoll(t *testing.T) {
	defer driver.SetHost(driver.Host{})
	const n = 1 << 21
	for _, workers := range []int{1, 2, 5} {
		b := cpu.New(workers)
		x := newVector(t, b, n)
		for after := range 4 {
			polls := 0 // without a lock, so that the race detector finds polls on other goroutines
			driver.SetHost(driver.Host{Poll: func() {
				if polls++; polls > after {
					panic("enough")
				}
			}})
			got := func() (r any) {
				defer func() { r = recover() }()
				b.Run(driver.Kernel{Code: driver.Fill, Alpha: float64(after + 1)}, x)
				return nil
			}()
			// Other workers may have taken all items before the caller polled again.
			if panicked := polls > after; panicked != (got == "enough") || polls == 0 {
				t.Fatalf("%d workers: panic in poll %d of %d: got %v from Run, want the panic's value", workers, after+1, polls, got)
			}
			driver.SetHost(driver.Host{})
			b.Run(driver.Kernel{Code: driver.Fill, Alpha: 7}, x)
			p := make([]byte, 4*n)
			b.Read(p, x.Buffer, 0)
			for i := 4; i < len(p); i++ {
				if p[i] != p[i-4] {
					t.Fatalf("%d workers: byte %d differs after the next kernel", workers, i)
				}
			}
		}
	}
}

// TestPollOften checks that a long product polls between its items.
func TestPollOften(t *testing.T) {
	defer driver.SetHost(driver.Host{})
	var polls atomic.Int64
	driver.SetHost(driver.Host{Poll: func() { polls.Add(1) }})
	b := cpu.New(1)
	const m, k = 256, 16384
	x, y, dst := newVector(t, b, m*k), newVector(t, b, m*k), newVector(t, b, m*m)
	x.Shape, x.Stride = []int{m, k}, []int{k, 1}
	y.Shape, y.Stride = []int{k, m}, []int{m, 1}
	dst.Shape, dst.Stride = []int{m, m}, []int{m, 1}
	b.Run(driver.Kernel{Code: driver.Matmul}, dst, x, y)
	const most = 64 << 20 // multiplications and additions per poll
	if want := int64(2 * m * m * k / most); polls.Load() < want {
		t.Errorf("product of %d by %d by %d: polled %d times, want at least %d", m, k, m, polls.Load(), want)
	}
}

// TestConcurrent runs kernels on several goroutines.
func TestConcurrent(t *testing.T) {
	b := cpu.New(3)
	const n = 1 << 19
	var all sync.WaitGroup
	for g := range 6 {
		x, sum := newVector(t, b, n), newVector(t, b, 1)
		all.Go(func() {
			for range 5 {
				b.Run(driver.Kernel{Code: driver.Fill, Alpha: float64(g)}, x)
				b.Run(driver.Kernel{Code: driver.Affine, Alpha: 2}, x, x)
				b.Run(driver.Kernel{Code: driver.Mean}, sum, x)
				var p [4]byte
				b.Read(p[:], sum.Buffer, 0)
				want := newVector(t, b, 1)
				b.Run(driver.Kernel{Code: driver.Fill, Alpha: float64(2 * g)}, want)
				var q [4]byte
				b.Read(q[:], want.Buffer, 0)
				if p != q {
					t.Errorf("goroutine %d: mean has bits %x, want %x", g, p, q)
				}
			}
		})
	}
	all.Wait()
}

// TestUnreachableMemoryIsReleased checks the memory counters after buffers have become unreachable.
func TestUnreachableMemoryIsReleased(t *testing.T) {
	b := cpu.New(1)
	const n = 1 << 20
	var all []driver.View
	for range 5 {
		all = append(all, newVector(t, b, n))
	}
	if got := b.Memory(); got != (driver.MemoryStats{Live: 5 * 4 * n, Peak: 5 * 4 * n, Reserved: 5 * 4 * n, Limit: got.Limit}) {
		t.Errorf("with 5 buffers of %d bytes: got %+v", 4*n, got)
	}
	kept := all[2]
	clear(all)
	for deadline := time.Now().Add(time.Minute); ; {
		runtime.GC()
		m := b.Memory()
		if m.Live == 4*n {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("with one of 5 buffers of %d bytes reachable: got %d bytes live", 4*n, m.Live)
		}
	}
	if got := b.Memory().Peak; got != 5*4*n {
		t.Errorf("peak: got %d, want %d", got, 5*4*n)
	}
	b.ResetPeak()
	if got := b.Memory().Peak; got != 4*n {
		t.Errorf("peak after its reset: got %d, want %d", got, 4*n)
	}
	runtime.KeepAlive(kept)
}

func TestErrors(t *testing.T) {
	b := cpu.New(1)
	if _, err := b.Alloc(1 << 50); err == nil || !strings.Contains(err.Error(), "1024.0 TiB requested") {
		t.Errorf("alloc of 2^50 bytes: got error %v, want one with the requested size", err)
	}
	x := newVector(t, b, 4)
	y := newVector(t, b, 3)
	released := newVector(t, b, 4)
	b.Release(released.Buffer)
	half := newVector(t, b, 4)
	half.DType = driver.Float16
	for _, test := range []struct {
		name string
		run  func()
		want string
	}{
		{"shapes", func() { b.Run(driver.Kernel{Code: driver.Add}, x, x, y) }, "cpu: add: operand 1 has shape (3,), which does not fit the result's (4,)"},
		{"dtypes", func() { b.Run(driver.Kernel{Code: driver.Add}, x, x, half) }, "cpu: add: not offered for float32 from [float32 float16]"},
		{"operands", func() { b.Run(driver.Kernel{Code: driver.Add}, x, x) }, "cpu: add: not offered for float32 from [float32]"},
		{"matmul", func() { b.Run(driver.Kernel{Code: driver.Matmul}, x, x, x) }, "cpu: matmul: cannot multiply (4,) and (4,) into (4,); want (…, m, k) times (…, k, n)"},
		{"released", func() { b.Run(driver.Kernel{Code: driver.Neg}, x, released) }, "cpu: buffer of 16 bytes used after its release"},
		{"buffer", func() { b.Run(driver.Kernel{Code: driver.Fill}, driver.View{DType: driver.Float32}) }, "cpu: buffer has type <nil>; want one that this backend allocated"},
		{"bytes", func() { b.Read(make([]byte, 8), x.Buffer, 12) }, "cpu: bytes 12 to 20 requested of a buffer of 16"},
	} {
		t.Run(test.name, func(t *testing.T) {
			defer func() {
				if got := recover(); got != test.want {
					t.Errorf("got panic %v, want %v", got, test.want)
				}
			}()
			test.run()
		})
	}
}

func BenchmarkCPU(b *testing.B) {
	for _, n := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", n), func(b *testing.B) { drivertest.Bench(b, cpu.New(n)) })
	}
}

// TestFetchedResults adds vectors so large that the memory of their sum is fetched before it is
// written, at sizes whose last chunk is not whole, into new memory and in place.
func TestFetchedResults(t *testing.T) {
	b := cpu.New(2)
	for _, n := range []int{1 << 16, 1<<16 + 1, 1<<17 + 1023} {
		view := func() driver.View {
			buffer, err := b.AllocUnset(4 * n)
			if err != nil {
				t.Fatal(err)
			}
			return driver.View{Buffer: buffer, DType: driver.Float32, Shape: []int{n}, Stride: []int{1}}
		}
		x, y, sum := view(), view(), view()
		b.Run(driver.Kernel{Code: driver.Fill, Alpha: 1}, x)
		b.Run(driver.Kernel{Code: driver.Fill, Alpha: 2}, y)
		b.Run(driver.Kernel{Code: driver.Add}, sum, x, y)
		b.Run(driver.Kernel{Code: driver.Add}, x, x, y)
		for _, v := range []driver.View{sum, x} {
			got := make([]byte, 4*n)
			b.Read(got, v.Buffer, 0)
			for i := 0; i < len(got); i += 4 {
				if z := math.Float32frombits(binary.LittleEndian.Uint32(got[i:])); z != 3 {
					t.Fatalf("%d elements: element %d: got %v, want 3", n, i/4, z)
				}
			}
		}
	}
}
