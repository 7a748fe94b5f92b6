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

// launches are of small operations, whose time is that of giving them to the GPU.
func (f *figures) launches() {
	const n = 1024
	b, calls := f.b, f.pick(500, 3) // less than the driver's queue holds
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
	}), "launch of a kernel, on the processor")
	if got := math.Float32frombits(binary.NativeEndian.Uint32(content(b, to))); got != 1 {
		f.Errorf("filled with %v, want 1", got)
	}
	f.micros(f.onCPU(calls, add), "Run of an addition, on the processor")
	f.micros(f.onGPU(add), "Run of an addition, one after the other")
	f.micros(f.wall(add), "Run of an addition and waiting for it")

	p, q := f.tensor(tensor.Float32, n), f.tensor(tensor.Float32, n)
	sum := func() { p.Add(q) }
	f.micros(f.onCPU(calls, sum), "Add of tensors, on the processor")
	p = p.RequireGrad()
	f.micros(f.onCPU(calls, sum), "Add of tensors with a tape, on the processor")
	f.micros(f.wall(func() { q.At(0) }), "reading a number of a tensor")

	nodes := f.pick(200, 3)
	g, err := b.Capture(func() {
		for range nodes {
			add()
		}
	})
	f.must(err)
	defer g.Free()
	f.micros(f.onCPU(f.pick(5, 2), g.Replay), "replay of %d launches, on the processor", nodes)
	f.micros(f.onGPU(g.Replay)/time.Duration(nodes), "launch in a graph, one after the other")
}

// net returns a step of the training of linear layers in float16, whose batch may be of some
// rows only.
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

// steps are of a small network, and of one that keeps a GPU busy.
func (f *figures) steps() {
	for _, c := range []struct{ width, batch int }{{128, 64}, {4096, 512}} {
		width, batch := f.pick(c.width, 16), f.pick(c.batch, 8)
		train := f.net(width, batch)
		step := func() { train(batch) }
		what := fmt.Sprintf("step of 3 layers of %d, batch %d, float16", width, batch)
		step() // what optimizers remember
		f.micros(f.onCPU(f.pick(5, 1), step), "%s, on the processor", what)
		f.micros(f.onGPU(step), "%s, one after the other", what)
		g, err := f.b.Capture(step)
		f.must(err)
		f.micros(f.onCPU(f.pick(5, 1), g.Replay), "%s, replay, on the processor", what)
		f.micros(f.onGPU(g.Replay), "%s, replay, one after the other", what)
		g.Free()
	}
}

// steady trains with batches of one size and of many.
func (f *figures) steady() {
	width, batch, count := f.pick(1024, 16), f.pick(512, 8), f.pick(200, 4)
	r := rand.New(rand.NewPCG(7, 8))
	for _, c := range []struct {
		what string
		rows func() int
	}{
		{"one size", func() int { return batch }},
		{"many sizes", func() int { return 1 + r.IntN(batch) }},
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
		f.say(float64(after.Reserved)/float64(after.Peak), "times", "memory reserved beside the peak, batches of %s", c.what)
		if n := fake.Allocs() - allocs; !fake.Real() && n > 0 && after.Reserved == before.Reserved {
			f.Errorf("%d allocations, and no more memory is reserved", n)
		}
	}
}

// interrupt is heard while a long queue is waited for.
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
				f.Fatalf("waiting ended with %v, want the interrupt", e)
			}
			took = time.Since(*pressed.Swap(nil))
			start := time.Now()
			f.b.Synchronize()
			f.Log("what was enqueued took", time.Since(start), "more")
		}()
		f.b.Synchronize()
		return 0
	}), "interrupt, until waiting for %d products is given up", calls)
	f.release(x, y, to)
}
