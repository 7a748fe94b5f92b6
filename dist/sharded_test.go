package dist

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/data"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// near panics unless got is near want.
func near(what string, got, want *tensor.Tensor, tolerance float64) {
	a, b := got.Float64s(), want.Float64s()
	for i := range b {
		if len(a) != len(b) || !(math.Abs(a[i]-b[i]) <= tolerance*(1+math.Abs(b[i]))) {
			panic(fmt.Sprintf("%s: element %d is %v, want %v", what, i, a[i], b[i]))
		}
	}
}

func adam(p []*tensor.Tensor) *optim.Optimizer { return optim.NewAdam(p, 0.01) }

// TestZero compares training with a divided optimizer, to the bit, with one that every rank has whole. It saves the state, and resumes
// on another number of ranks.
func TestZero(t *testing.T) {
	train := func(d *DistributedDataParallel, opt amp.Optimizer, rank, from, to int) {
		for step := from; step < to; step++ {
			x, y := batch(rank, step)
			nn.MSELoss(d.Forward(x), y).Backward()
			opt.Step()
			opt.ZeroGrad()
		}
	}
	path := filepath.Join(t.TempDir(), "run.safetensors")
	succeed(t, 2, func(g *group) {
		whole, divided := g.NewDDP(mlp(1)), g.NewDDP(mlp(1))
		train(whole, adam(nn.Parameters(whole)), g.rank, 0, 4)
		opt := g.NewZero(nn.Parameters(divided), adam)
		train(divided, opt, g.rank, 0, 4)
		for i, p := range nn.Parameters(whole) {
			if !sameBits(p, nn.Parameters(divided)[i]) {
				panic(fmt.Sprintf("parameter %d differs from that of a whole optimizer", i))
			}
		}
		if n := len(opt.part); n == 0 || n == len(opt.params) {
			panic(fmt.Sprintf("rank %d has %d of %d parameters", g.rank, n, len(opt.params)))
		}
		if err := g.Save(path, map[string]any{"model": nn.StateDict(divided), "optimizer": opt.StateDict()}); err != nil {
			panic(err)
		}
	})
	// One rank and three continue from the state, and a whole optimizer does so with the same bits.
	for _, ranks := range []int{1, 3} {
		succeed(t, ranks, func(g *group) {
			state, err := g.Load(path)
			if err != nil {
				panic(err)
			}
			resume := func(d *DistributedDataParallel, opt interface {
				amp.Optimizer
				LoadStateDict(map[string]any) error
			}) []*tensor.Tensor {
				if err := nn.LoadStateDict(d, state["model"].(map[string]*tensor.Tensor)); err != nil {
					panic(err)
				}
				if err := opt.LoadStateDict(state["optimizer"].(map[string]any)); err != nil {
					panic(err)
				}
				train(d, opt, g.rank, 4, 6)
				return nn.Parameters(d)
			}
			divided, whole := g.NewDDP(mlp(2)), g.NewDDP(mlp(3))
			got := resume(divided, g.NewZero(nn.Parameters(divided), adam))
			for i, want := range resume(whole, adam(nn.Parameters(whole))) {
				if !sameBits(got[i], want) {
					panic(fmt.Sprintf("parameter %d differs from that of a whole optimizer on %d ranks", i, ranks))
				}
			}
		})
	}
}

// TestSaveFails has a folder that does not exist: all ranks get rank 0's error.
func TestSaveFails(t *testing.T) {
	succeed(t, 2, func(g *group) {
		path := filepath.Join(t.TempDir(), "none", "x.safetensors")
		if g.rank == 1 {
			path = "elsewhere"
		}
		err := g.Save(path, map[string]any{"x": 1})
		if err == nil || !strings.Contains(err.Error(), "none") {
			panic(fmt.Sprintf("Save gave %v, want rank 0's error", err))
		}
		if _, err := g.Load(path); err == nil {
			panic("Load of a file that does not exist gave no error")
		}
	})
	if _, err := data.Load("elsewhere"); err == nil {
		t.Error("rank 1 has written a file")
	}
}

// TestSyncBatchNorm compares output, gradients and running statistics of uneven parts of a batch with those of the whole batch.
func TestSyncBatchNorm(t *testing.T) {
	x := tensor.NewGenerator(3).Randn(7, 3, 2, 2)
	w := tensor.NewGenerator(4).Randn(7, 3, 2, 2)
	whole := nn.NewBatchNorm2d(3)
	in := x.Clone().RequireGrad()
	y := whole.Forward(in)
	y.Mul(w).Sum().Backward()
	succeed(t, 2, func(g *group) {
		from, n := g.rank*3, 3+g.rank
		part := nn.NewBatchNorm2d(3)
		modules.SynchronizeNorms(part, g.total)
		own := x.Narrow(0, from, n).Clone().RequireGrad()
		z := part.Forward(own)
		z.Mul(w.Narrow(0, from, n)).Sum().Backward()
		near("output", z, y.Narrow(0, from, n), 1e-5)
		near("gradient of the input", own.Grad(), in.Grad().Narrow(0, from, n), 1e-4)
		near("running mean", part.RunningMean, whole.RunningMean, 1e-6)
		near("running variance", part.RunningVar, whole.RunningVar, 1e-6)
		dw := part.Weight.Grad().Clone()
		g.AllReduce(dw, Sum).Wait()
		near("gradient of the weight", dw, whole.Weight.Grad(), 1e-4)
	})
}

// TestOneRankSkips is the hang of fairscale's issue 179: gradients differ between the ranks, one overflows, and a plain scaler lets its rank
// skip the step while the other waits in it. With the sharded scaler both skip.
func TestOneRankSkips(t *testing.T) {
	step := func(g *group, scaler *amp.GradScaler) float64 {
		net := nn.NewLinear(2, 2)
		opt := g.NewZero(nn.Parameters(net), func(p []*tensor.Tensor) *optim.Optimizer { return optim.NewSGD(p, 0.1) })
		scaler.Scale(net.Forward(tensor.Ones(1, 2)).Sum()).Backward()
		if g.rank == 1 {
			nn.Parameters(net)[0].Grad().Fill(math.Inf(1)) // this rank's gradient overflows
		}
		scaler.Step(opt)
		scaler.Update()
		return scaler.CurrentScale()
	}
	failures := together(t, 2, settings{timeout: 200 * time.Millisecond, unverified: true}, func(g *group) { step(g, amp.NewGradScaler()) })
	if e, ok := failures[0].(*Error); !ok || e.Code != "timeout" {
		t.Errorf("with a plain scaler rank 0 ends with %v, want the time limit", failures[0])
	}
	succeed(t, 2, func(g *group) {
		if scale := step(g, g.NewScaler()); scale != 32768 {
			panic(fmt.Sprint("the scale is ", scale, ", want 32768"))
		}
	})
}
