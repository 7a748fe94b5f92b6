//go:build cuda && linux && cgo

package gpu

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"halfnote/cuda/internal/drv"
	"halfnote/cuda/internal/fake"
	"halfnote/tensor"
	"halfnote/tensor/driver"
)

// figures measures times and rates on a GPU. It logs lines "figure: what, value, unit", each the
// median of several samples on random numbers. On the fake driver sizes are tiny and the figures
// are meaningless.
type figures struct {
	*testing.T
	b          *Backend
	begin, end *drv.Event
	random     []float32 // random numbers from -1 to 1
	bytes      []byte    // bytes of random
}

// TestFigures runs all measurements. The first part heats the GPU up, so that the others run at
// about the same clock rate.
func TestFigures(t *testing.T) {
	f := newFigures(t)
	for _, part := range []struct {
		name string
		run  func(f *figures)
	}{
		{"Steps", (*figures).steps},
		{"Products", (*figures).products},
		{"Convolutions", (*figures).convolutions},
		{"Attention", (*figures).attention},
		{"Updates", (*figures).updates},
		{"Copies", (*figures).copies},
		{"Launches", (*figures).launches},
		{"Memory", (*figures).steady},
		{"Interrupt", (*figures).interrupt},
		{"Modules", (*figures).modules},
	} {
		t.Run(part.name, func(t *testing.T) {
			g := *f
			g.T = t
			part.run(&g)
		})
	}
}

// Tensors on "cuda" use the backend under test.
func init() {
	driver.RegisterFamily("cuda", func(name string) (driver.Backend, error) {
		if name == "cuda" {
			return opened()
		}
		return Open(name)
	})
}

func newFigures(t *testing.T) *figures {
	f := &figures{T: t, b: bare(t)}
	f.begin, f.end = f.timer(), f.timer()
	f.random = make([]float32, f.pick(1<<24, 1<<13))
	f.bytes = make([]byte, 4*len(f.random))
	r := rand.New(rand.NewPCG(5, 6))
	for i := range f.random {
		f.random[i] = 2*r.Float32() - 1
		binary.NativeEndian.PutUint32(f.bytes[4*i:], math.Float32bits(f.random[i]))
	}
	return f
}

// pick returns a size for a GPU, or for the fake driver.
func (f *figures) pick(real, fakes int) int {
	if fake.Real() {
		return real
	}
	return fakes
}

func (f *figures) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *figures) timer() *drv.Event {
	e, err := f.b.device.NewTimer()
	f.must(err)
	f.Cleanup(func() { f.must(e.Free()) })
	return e
}

// say logs a figure.
func (f *figures) say(value float64, unit, what string, args ...any) {
	f.Helper()
	what = fmt.Sprintf(what, args...)
	if math.IsNaN(value) || math.IsInf(value, 0) {
		f.Errorf("%s: %v %s, want a number", what, value, unit)
	}
	f.Logf("figure: %s %.4g %s", what, value, unit)
}

// rate logs n per time, in units of 10^12 per second.
func (f *figures) rate(n float64, t time.Duration, unit, what string, args ...any) {
	f.Helper()
	f.say(n/t.Seconds()/1e12, unit, what, args...)
}

func (f *figures) micros(t time.Duration, what string, args ...any) {
	f.Helper()
	f.say(float64(t.Nanoseconds())/1e3, "us", what, args...)
}

func (f *figures) millis(t time.Duration, what string, args ...any) {
	f.Helper()
	f.say(float64(t.Nanoseconds())/1e6, "ms", what, args...)
}

// medianOf returns the median of several samples, at least 1 ns.
func (f *figures) medianOf(sample func() time.Duration) time.Duration {
	list := make([]time.Duration, f.pick(7, 1))
	for i := range list {
		list[i] = sample()
	}
	slices.Sort(list)
	return max(1, list[len(list)/2])
}

// onGPU returns the GPU time of one of many calls of run that are enqueued together, or the time of
// enqueuing one if that is longer.
func (f *figures) onGPU(run func()) time.Duration {
	f.Helper()
	sample := func(n int) time.Duration {
		f.must(f.b.stream.Record(f.begin))
		for range n {
			run()
		}
		f.must(f.b.stream.Record(f.end))
		f.b.Synchronize()
		t, err := f.begin.Elapsed(f.end)
		f.must(err)
		return t / time.Duration(n)
	}
	run() // loads kernels
	n := 1
	if fake.Real() {
		const long = 10 * time.Millisecond
		n = int(min(200, long/max(sample(1), 1)+1))
	}
	return f.medianOf(func() time.Duration { return sample(n) })
}

// onCPU returns the CPU time to enqueue the work of run, averaged over n calls that start on an idle
// GPU.
func (f *figures) onCPU(n int, run func()) time.Duration {
	f.Helper()
	run()
	return f.medianOf(func() time.Duration {
		f.b.Synchronize()
		start := time.Now()
		for range n {
			run()
		}
		t := time.Since(start) / time.Duration(n)
		f.b.Synchronize()
		return t
	})
}

// wall returns the time from the start of run until the GPU has finished its work on all streams.
func (f *figures) wall(run func()) time.Duration {
	f.Helper()
	run()
	return f.medianOf(func() time.Duration {
		f.must(f.b.device.Synchronize())
		start := time.Now()
		run()
		f.must(f.b.device.Synchronize())
		return time.Since(start)
	})
}

// view returns a contiguous view of random numbers.
func (f *figures) view(d driver.DType, shape ...int) driver.View {
	f.Helper()
	n := driver.View{Shape: shape}.Len()
	wide := driver.View{DType: driver.Float32, Shape: []int{n}, Stride: []int{1}}
	var err error
	wide.Buffer, err = f.b.AllocUnset(4 * n)
	f.must(err)
	for at := 0; at < 4*n; at += len(f.bytes) {
		f.b.Write(wide.Buffer, at, f.bytes[:min(len(f.bytes), 4*n-at)])
	}
	v := wide
	if d != driver.Float32 {
		v.DType = d
		v.Buffer, err = f.b.AllocUnset(n * d.Size())
		f.must(err)
		f.b.Run(driver.Kernel{Code: driver.Copy}, v, wide)
		f.b.Release(wide.Buffer)
	}
	v.Shape, v.Stride = shape, make([]int, len(shape))
	for i, step := len(shape)-1, 1; i >= 0; i-- {
		v.Stride[i] = step
		step *= shape[i]
	}
	return v
}

// release releases the memory of views, for the next part.
func (f *figures) release(list ...driver.View) {
	for _, v := range list {
		f.b.Release(v.Buffer)
	}
}

// tensor returns random numbers on the GPU.
func (f *figures) tensor(d tensor.DType, shape ...int) *tensor.Tensor {
	n := driver.View{Shape: shape}.Len()
	return tensor.FromFloat32s(f.random[:n], shape...).ToDevice(tensor.CUDA).To(d)
}
