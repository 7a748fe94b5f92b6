package dist

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// mlp returns a network whose parameters depend on seed.
func mlp(seed int64) *nn.Sequential {
	g := tensor.NewGenerator(seed)
	net := nn.NewSequential(nn.NewLinear(6, 16), nn.NewReLU(), nn.NewBatchNorm1d(16), nn.NewLinear(16, 3))
	for _, p := range nn.Parameters(net) {
		p.SetData(g.Randn(p.Shape()...).MulScalar(0.3))
	}
	return net
}

// batch returns rank's part of the batch of a step.
func batch(rank, step int) (x, y *tensor.Tensor) {
	g := tensor.NewGenerator(int64(1000*step + rank))
	return g.Randn(4, 6), g.Randn(4, 3)
}

// TestDDPAverages compares gradients with the average of those that each rank has alone, for every way to reduce them.
func TestDDPAverages(t *testing.T) {
	hooks := map[string]CommHook{
		"none": nil, "allreduce": AllReduceHook, "fp16": FP16CompressHook, "bf16": BF16CompressHook,
		"bf16 in bf16": CompressHook(tensor.BFloat16, Sum.Accumulate(tensor.BFloat16)),
	}
	for name, hook := range hooks {
		for _, ranks := range []int{1, 2, 3} {
			var sums [][]float64
			for r := range ranks {
				net := mlp(0)
				x, y := batch(r, 0)
				nn.MSELoss(net.Forward(x), y).Backward()
				for i, p := range nn.Parameters(net) {
					g := p.Grad().Float64s()
					if r == 0 {
						sums = append(sums, make([]float64, len(g)))
					}
					for j, v := range g {
						sums[i][j] += v / float64(ranks)
					}
				}
			}
			tolerance := map[string]float64{"none": 1e-6, "allreduce": 1e-6, "fp16": 2e-3, "bf16": 1e-2, "bf16 in bf16": 2e-2}[name]
			succeed(t, ranks, func(g *group) {
				d := g.NewDDP(mlp(int64(g.rank)), BucketCapMB(0.0002))
				if len(d.buckets) < 3 {
					panic(fmt.Sprint(len(d.buckets), " buckets; the test wants several"))
				}
				if hook != nil {
					d.RegisterCommHook(hook)
				}
				x, y := batch(g.rank, 0)
				nn.MSELoss(d.Forward(x), y).Backward()
				for i, p := range nn.Parameters(d) {
					for j, v := range p.Grad().Float64s() {
						if math.Abs(v-sums[i][j]) > tolerance*(1+math.Abs(sums[i][j])) {
							panic(fmt.Sprintf("hook %s: gradient %d, %d is %v, want %v", name, i, j, v, sums[i][j]))
						}
					}
				}
			})
		}
	}
}

// TestDDPNames compares names and the state with those of the wrapped module.
func TestDDPNames(t *testing.T) {
	succeed(t, 1, func(g *group) {
		net := mlp(0)
		d := g.NewDDP(net)
		want, got := fmt.Sprint(names(net)), fmt.Sprint(names(d))
		if got != want || len(nn.StateDict(d)) != len(nn.StateDict(net)) {
			panic(fmt.Sprintf("parameters %s and %d tensors, want %s and %d", got, len(nn.StateDict(d)), want, len(nn.StateDict(net))))
		}
	})
}

func names(m any) (list []string) {
	for _, p := range nn.NamedParameters(m) {
		list = append(list, p.Name)
	}
	return list
}

// TestDDPTrains steps optimizers and compares the ranks' parameters, which must have the same bits.
func TestDDPTrains(t *testing.T) {
	states := make([]map[string]*tensor.Tensor, 2)
	succeed(t, 2, func(g *group) {
		d := g.NewDDP(mlp(int64(g.rank)))
		opt := optim.NewSGD(nn.Parameters(d), 0.1, optim.Momentum(0.9))
		for step := range 6 {
			body := func(micro int) {
				x, y := batch(g.rank, 2*step+micro)
				nn.MSELoss(d.Forward(x), y).Backward()
			}
			d.NoSync(func() { body(0) })
			body(1)
			opt.Step()
			opt.ZeroGrad()
		}
		states[g.rank] = nn.StateDict(d)
	})
	for name, x := range states[0] {
		if strings.Contains(name, "running") {
			continue // copied at the next Forward
		}
		if !sameBits(x, states[1][name]) {
			t.Errorf("%s differs between the ranks", name)
		}
	}
}

// branches uses its second layer on some calls only.
type branches struct {
	A, B *nn.Linear
	both bool
}

func (b *branches) Forward(x *tensor.Tensor) *tensor.Tensor {
	if b.both {
		return b.A.Forward(x).Add(b.B.Forward(x))
	}
	return b.A.Forward(x)
}

func TestDDPUnused(t *testing.T) {
	step := func(g *group, both bool, options ...DDPOption) *branches {
		m := &branches{A: nn.NewLinear(2, 2), B: nn.NewLinear(2, 2), both: both}
		d := g.NewDDP(m, options...)
		d.Forward(tensor.Ones(1, 2)).Sum().Backward()
		return m
	}
	succeed(t, 2, func(g *group) {
		if m := step(g, false, FindUnusedParameters()); m.B.Weight.Grad() != nil || m.A.Weight.Grad() == nil {
			panic("a parameter that no rank uses has a gradient, or one that all use has none")
		}
		m := step(g, g.rank == 1, FindUnusedParameters())
		if got := m.B.Weight.Grad(); got == nil || got.At(0, 0) != 0.5 {
			panic(fmt.Sprintf("the gradient of a parameter that one of two ranks uses is %v, want 0.5", got))
		}
	})
	failures := together(t, 2, settings{}, func(g *group) { step(g, false) })
	want := "dist: Backward on rank 0: the loss does not depend on B.weight, so the other ranks would wait for its gradient; pass dist.FindUnusedParameters(), or let the loss depend on all parameters"
	if got := fmt.Sprint(failures[0]); !strings.Contains(strings.ToLower(got), strings.ToLower("the loss does not depend on")) || !strings.Contains(got, "dist.FindUnusedParameters()") {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestDDPOtherModel(t *testing.T) {
	failures := together(t, 2, settings{}, func(g *group) { g.NewDDP(nn.NewLinear(3, 2+g.rank)) })
	want := "dist: NewDistributedDataParallel on rank 0: the models differ: this rank has bias [2] float32 where rank 1 has bias [3] float32; make the same model on all ranks"
	if got := fmt.Sprint(failures[0]); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestJoin gives the ranks 1, 2 and 3 batches. The gradient of each step is the sum over those that have one, divided by 3.
func TestJoin(t *testing.T) {
	succeed(t, 3, func(g *group) {
		d := g.NewDDP(nn.NewLinear(1, 1))
		nn.NamedParameters(d)[0].Tensor.SetData(tensor.New([]float64{1}, 1, 1))
		opt := optim.NewSGD(nn.Parameters(d), 1)
		d.Join(func() {
			for range g.rank + 1 {
				opt.ZeroGrad()
				d.Forward(tensor.Full(3, 1, 1)).Sum().Backward()
				opt.Step()
			}
		})
		// Steps of 3, 2 and 1 gradients of 3, divided by 3 ranks.
		if got := nn.Parameters(d)[0].Item(); got != 1-3-2-1 {
			panic(fmt.Sprint("the weight after Join is ", got, ", want -5"))
		}
	})
}

// TestShardedGradScaler overflows on rank 1 only: all ranks skip and lower the scale.
func TestShardedGradScaler(t *testing.T) {
	succeed(t, 2, func(g *group) {
		w := tensor.Ones(2).RequireGrad()
		opt := optim.NewSGD([]*tensor.Tensor{w}, 0.5)
		s := g.NewScaler(amp.InitScale(4))
		x := tensor.New([]float64{1, 2})
		if g.rank == 1 {
			x = tensor.New([]float64{1, math.Inf(1)})
		}
		s.Scale(w.Mul(x).Sum()).Backward()
		r := s.Step(opt)
		s.Update()
		if !r.Skipped || s.CurrentScale() != 2 || w.At(0) != 1 {
			panic(fmt.Sprintf("%v; scale %v, weight %v, want a skipped step and scale 2", r, s.CurrentScale(), w))
		}
		if want := []string{"a parameter on another rank", "parameter 0 (2,)"}[g.rank]; r.Param != want {
			panic(fmt.Sprintf("Param is %q, want %q", r.Param, want))
		}
	})
}
