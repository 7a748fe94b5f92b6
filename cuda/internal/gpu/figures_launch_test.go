//go:build cuda && linux && cgo

package gpu

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"halfnote/amp"
	"halfnote/cuda/internal/fake"
	"halfnote/tensor"
	"halfnote/tensor/driver"
	"halfnote/tensor/nn"
	"halfnote/tensor/nn/models"
	"halfnote/tensor/optim"
)

// launches measures small operations, whose time is mostly that of enqueuing them.
func (f *figures) launches() {
	const n = 1024
	b, calls := f.b, f.pick(500, 3) // fewer than fit in the driver's queue
	x, y, to := f.view(driver.Float32, n), f.view(driver.Float32, n), f.view(driver.Float32, n)
	fill := b.function(kernel{"copy", "fill"})
	args := newArgs()
	args.I32(int32(to.DType))
	args.I32(int32(to.DType.Size()))
	args.F64(1)
	args.I64(1)
	args.I64(n)
	args.Ptr(pointer(to))
	add := func() { b.Run(driver.Kernel{Code: driver.Add}, to, x, y) }
	f.micros(f.onCPU(calls, func() {
		f.must(b.stream.Stream.Launch(fill, [3]uint32{1, 1, 1}, [3]uint32{threads, 1, 1}, 0, args))
	}), "launch of a kernel, CPU time")
	if got := math.Float32frombits(binary.NativeEndian.Uint32(content(b, to))); got != 1 {
		f.Errorf("fill: got %v, want 1", got)
	}
	f.micros(f.onCPU(calls, add), "Run of an addition, CPU time")
	f.micros(f.onGPU(add), "Run of an addition, GPU time")
	f.micros(f.wall(add), "Run of an addition, including the wait")

	p, q := f.tensor(tensor.Float32, n), f.tensor(tensor.Float32, n)
	sum := func() { p.Add(q) }
	f.micros(f.onCPU(calls, sum), "Add of tensors, CPU time")
	p = p.RequireGrad()
	f.micros(f.onCPU(calls, sum), "Add of tensors with a tape, CPU time")
	f.micros(f.wall(func() { q.At(0) }), "reading one element of a tensor")

	nodes := f.pick(200, 3)
	g, err := b.Capture(func() {
		for range nodes {
			add()
		}
	})
	f.must(err)
	defer g.Free()
	f.micros(f.onCPU(f.pick(5, 2), g.Replay), "replay of %d launches, CPU time", nodes)
	f.micros(f.onGPU(g.Replay)/time.Duration(nodes), "launch in a graph, GPU time")
}

// net returns a training step of linear layers in float16 that uses the given number of rows of a
// batch.
func (f *figures) net(width, batch int) (step func(rows int)) {
	net := models.NewMLP([]int{width, width, width, width})
	nn.To(net, tensor.CUDA)
	x, y := f.tensor(tensor.Float32, batch, width), f.tensor(tensor.Float32, batch, width)
	opt := optim.NewSGD(nn.Parameters(net), 1e-3, optim.Momentum(0.9))
	scaler := amp.NewGradScaler()
	return func(rows int) {
		opt.ZeroGrad()
		var loss *tensor.Tensor
		amp.Autocast(amp.Float16, func() { loss = nn.MSELoss(net.Forward(x.Slice(0, 0, rows)), y.Slice(0, 0, rows)) })
		scaler.Scale(loss).Backward()
		scaler.StepNonBlocking(opt)
		scaler.Update()
	}
}

// steps measures training steps of a small network, and of one that keeps a GPU busy.
func (f *figures) steps() {
	for _, c := range []struct{ width, batch int }{{128, 64}, {4096, 512}} {
		width, batch := f.pick(c.width, 16), f.pick(c.batch, 8)
		train := f.net(width, batch)
		step := func() { train(batch) }
		what := fmt.Sprintf("step of 3 layers of %d, batch %d, float16", width, batch)
		step() // creates the optimizer's state
		f.micros(f.onCPU(f.pick(5, 1), step), "%s, CPU time", what)
		f.micros(f.onGPU(step), "%s, GPU time", what)
		g, err := f.b.Capture(step)
		f.must(err)
		f.micros(f.onCPU(f.pick(5, 1), g.Replay), "%s, replay, CPU time", what)
		f.micros(f.onGPU(g.Replay), "%s, replay, GPU time", what)
		g.Free()
	}
}

// steady measures the memory of training with batches of one size and of varying sizes.
func (f *figures) steady() {
	width, batch, count := f.pick(1024, 16), f.pick(512, 8), f.pick(200, 4)
	r := rand.New(rand.NewPCG(7, 8))
	for _, c := range []struct {
		what string
		rows func() int
	}{
		{"one size", func() int { return batch }},
		{"varying sizes", func() int { return 1 + r.IntN(batch) }},
	} {
		driver.CollectGarbage()
		f.must(f.b.EmptyCache())
		step := f.net(width, batch)
		for range max(2, count/10) {
			step(batch)
		}
		f.b.ResetPeak()
		before, allocs := f.b.Memory(), fake.Allocs()
		for range count {
			step(c.rows())
		}
		f.b.Synchronize()
		after := f.b.Memory()
		f.say(float64(after.Reserved-before.Reserved)/(1<<20), "MiB", "memory that %d steps with batches of %s took from the driver", count, c.what)
		f.say(float64(after.Reserved)/float64(after.Peak), "times", "reserved memory relative to the peak, batches of %s", c.what)
		if n := fake.Allocs() - allocs; !fake.Real() && n > 0 && after.Reserved == before.Reserved {
			f.Errorf("got %d allocations although the reserved memory is unchanged", n)
		}
	}
}

// interrupt measures the time from an interrupt until a wait for a long queue ends.
func (f *figures) interrupt() {
	wide, calls := f.pick(4096, 8), f.pick(100, 8)
	x, y, to := f.view(driver.Float32, wide, wide), f.view(driver.Float32, wide, wide), f.view(driver.Float32, wide, wide)
	product := func() { f.b.Run(driver.Kernel{Code: driver.Matmul}, to, x, y) }
	product()
	f.b.Synchronize()
	var pressed atomic.Pointer[time.Time]
	stop := errors.New("interrupted")
	f.millis(f.medianOf(func() (took time.Duration) {
		press := func() {
			now := time.Now()
			pressed.Store(&now)
		}
		for range calls {
			product()
		}
		driver.SetHost(driver.Host{Poll: func() {
			if pressed.Load() != nil {
				panic(stop)
			}
		}})
		if fake.Real() {
			defer time.AfterFunc(50*time.Millisecond, press).Stop()
		} else {
			press()
		}
		defer func() {
			driver.SetHost(driver.Host{})
			if e := recover(); e != stop {
				f.Fatalf("the wait ended with %v, want the interrupt", e)
			}
			took = time.Since(*pressed.Swap(nil))
			start := time.Now()
			f.b.Synchronize()
			f.Log("the remaining work took", time.Since(start))
		}()
		f.b.Synchronize()
		return 0
	}), "interrupt, until the wait for %d products ends", calls)
	f.release(x, y, to)
}
