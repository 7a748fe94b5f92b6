package dist

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// shardBlocks shards each module of net that has parameters, and then net if that leaves any.
func shardBlocks(g *group, net *nn.Sequential, policy MixedPrecisionPolicy, options ...FSDPOption) nn.Module {
	for i, m := range net.Modules {
		if i > 0 && len(nn.Parameters(m)) > 0 { // the first module's parameters are those of the outer unit
			net.Modules[i] = g.FullyShard(m, policy, options...)
		}
	}
	return g.FullyShard(net, policy, options...)
}

// joined returns a tensor of n elements that the ranks hold in parts.
func joined(g *group, p *tensor.Tensor, n int) []float64 {
	x := tensor.Zeros(n)
	at := tensor.ZerosAs(tensor.Int64, g.size)
	at.Set(float64(p.Numel()), g.rank)
	g.AllReduce(at, Sum).Wait()
	from := 0
	for r := range g.rank {
		from += int(at.At(r))
	}
	x.Narrow(0, from, p.Numel()).Assign(p.Detach())
	g.AllReduce(x, Sum).Wait()
	return x.Float64s()
}

// TestFullyShardIsDDP trains with both and compares the parameters' bits.
func TestFullyShardIsDDP(t *testing.T) {
	optimizers := map[string]func(p []*tensor.Tensor) *optim.Optimizer{
		"sgd":   func(p []*tensor.Tensor) *optim.Optimizer { return optim.NewSGD(p, 0.1, optim.Momentum(0.9)) },
		"adamw": func(p []*tensor.Tensor) *optim.Optimizer { return optim.NewAdamW(p, 0.01) },
	}
	for name, make := range optimizers {
		for _, ranks := range []int{1, 2, 3, 5} {
			for _, reshard := range []bool{true, false} {
				succeed(t, ranks, func(g *group) {
					ddp, net := g.NewDDP(mlp(1)), mlp(int64(g.rank+1))
					model := shardBlocks(g, net, MixedPrecisionPolicy{}, ReshardAfterForward(reshard))
					var opts []*optim.Optimizer
					for _, m := range []nn.Module{ddp, model} {
						opts = append(opts, make(nn.Parameters(m)))
					}
					for step := range 4 {
						x, y := batch(g.rank, step)
						for i, m := range []nn.Module{ddp, model} {
							nn.MSELoss(m.Forward(x), y).Backward()
							opts[i].Step()
							opts[i].ZeroGrad()
						}
					}
					if got, want := fmt.Sprint(names(model)), fmt.Sprint(names(ddp)); got != want {
						panic(fmt.Sprintf("parameters %s, want %s", got, want))
					}
					shards := nn.Parameters(model)
					for i, p := range nn.NamedParameters(ddp) {
						got, want := joined(g, shards[i], p.Tensor.Numel()), p.Tensor.Float64s()
						if !slices.Equal(got, want) {
							panic(fmt.Sprintf("%s with %s, reshard %v on %d ranks: %v, want %v", p.Name, name, reshard, ranks, got, want))
						}
					}
				})
			}
		}
	}
}

// TestFullyShardDivides counts the elements of each rank, and those that are gathered outside Forward.
func TestFullyShardDivides(t *testing.T) {
	succeed(t, 3, func(g *group) {
		net := mlp(0)
		all := nn.NumParameters(net)
		model := shardBlocks(g, net, MixedPrecisionPolicy{})
		if got := nn.NumParameters(model); got > all/3+len(nn.Parameters(model)) {
			panic(fmt.Sprintf("rank %d has %d of %d elements, want a third", g.rank, got, all))
		}
		x, y := batch(g.rank, 0)
		nn.MSELoss(model.Forward(x), y).Backward()
		for _, p := range nn.NamedParameters(model) {
			if grad := p.Tensor.Grad(); grad == nil || grad.Numel() != p.Tensor.Numel() {
				panic(fmt.Sprintf("the gradient of %s is %v, want %d elements", p.Name, grad, p.Tensor.Numel()))
			}
		}
	})
}

// recorder notes the dtypes that its module sees.
type recorder struct {
	*nn.Linear
	input, weight, output tensor.DType
}

func (r *recorder) Forward(x *tensor.Tensor) *tensor.Tensor {
	y := r.Linear.Forward(x)
	r.input, r.weight, r.output = x.DType(), r.Weight.DType(), y.DType()
	return y
}

func TestMixedPrecisionPolicy(t *testing.T) {
	const f32, f16, bf16 = tensor.Float32, tensor.Float16, tensor.BFloat16
	for _, test := range []struct {
		policy                        MixedPrecisionPolicy
		input, weight, result, inside tensor.DType
		wire                          tensor.DType // dtype of gradients on the wire
	}{
		{MixedPrecisionPolicy{}, f32, f32, f32, f32, f32},
		{MixedPrecisionPolicy{ParamDType: bf16}, bf16, bf16, bf16, bf16, bf16},
		{MixedPrecisionPolicy{ParamDType: bf16, ReduceDType: f32}, bf16, bf16, bf16, bf16, f32},
		{MixedPrecisionPolicy{ParamDType: f16, OutputDType: f32}, f16, f16, f32, f16, f16},
		{MixedPrecisionPolicy{ReduceDType: bf16, KeepInputs: true}, f32, f32, f32, f32, bf16},
	} {
		succeed(t, 2, func(g *group) {
			inner := &recorder{Linear: nn.NewLinear(6, 3)}
			model := g.FullyShard(inner, test.policy)
			x, y := batch(g.rank, 0)
			out := model.Forward(x)
			if inner.input != test.input || inner.weight != test.weight || inner.output != test.inside || out.DType() != test.result {
				panic(fmt.Sprintf("%+v: input %v, weight %v, inside %v, result %v", test.policy, inner.input, inner.weight, inner.output, out.DType()))
			}
			nn.MSELoss(out.Float(), y).Backward()
			for _, p := range nn.NamedParameters(model) {
				if p.Tensor.DType() != f32 || p.Tensor.Grad().DType() != f32 {
					panic(fmt.Sprintf("%s is %v with a gradient in %v, want float32", p.Name, p.Tensor.DType(), p.Tensor.Grad().DType()))
				}
				for _, v := range p.Tensor.Grad().Float64s() {
					if test.wire != f32 && tensor.New([]float64{v}).To(test.wire).Item() != v {
						panic(fmt.Sprintf("%+v: gradient %v is not a %v", test.policy, v, test.wire))
					}
				}
			}
		})
	}
}

// TestFullyShardAutocast trains in autocast with a scaler; the gradient overflows on rank 1 at step 1 only.
func TestFullyShardAutocast(t *testing.T) {
	succeed(t, 2, func(g *group) {
		model := shardBlocks(g, mlp(0), MixedPrecisionPolicy{})
		opt := optim.NewSGD(nn.Parameters(model), 0.05)
		scaler := g.NewScaler(amp.InitScale(1024), amp.GrowthInterval(2))
		var skipped []bool
		for step := range 4 {
			x, y := batch(g.rank, step)
			if step == 1 && g.rank == 1 {
				y = y.MulScalar(3e36)
			}
			var loss *tensor.Tensor
			amp.Autocast(amp.Float16, func() { loss = nn.MSELoss(model.Forward(x).Float(), y) })
			scaler.Scale(loss).Backward()
			skipped = append(skipped, scaler.Step(opt).Skipped)
			scaler.Update()
			opt.ZeroGrad()
		}
		if fmt.Sprint(skipped, scaler.CurrentScale()) != "[false true false false] 1024" {
			panic(fmt.Sprintf("rank %d: skipped %v, scale %v", g.rank, skipped, scaler.CurrentScale()))
		}
		for _, p := range nn.Parameters(model) {
			for _, v := range p.Float64s() {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					panic("a parameter is not finite")
				}
			}
		}
	})
}

// checkpointed computes its module again during Backward.
type checkpointed struct{ Inner nn.Module }

func (c *checkpointed) Forward(x *tensor.Tensor) *tensor.Tensor {
	return tensor.Checkpoint(func(in ...*tensor.Tensor) *tensor.Tensor { return c.Inner.Forward(in[0]) }, x)
}

// TestFullyShardTapes has modules that run several times, inside and around checkpoints, and without gradients.
func TestFullyShardTapes(t *testing.T) {
	line := func() nn.Module { return nn.NewSequential(nn.NewLinear(6, 6), nn.NewTanh()) }
	set := func(m nn.Module) nn.Module {
		for _, p := range nn.Parameters(m) {
			p.SetData(tensor.NewGenerator(3).Randn(p.Shape()...).MulScalar(0.3))
		}
		return m
	}
	plain := set(line())
	policy := MixedPrecisionPolicy{}
	for name, wrap := range map[string]func(g *group) nn.Module{
		"plain":  func(g *group) nn.Module { return g.FullyShard(set(line()), policy) },
		"inside": func(g *group) nn.Module { return g.FullyShard(&checkpointed{set(line())}, policy) },
		"around": func(g *group) nn.Module { return &checkpointed{g.FullyShard(set(line()), policy)} },
	} {
		nn.ZeroGrad(plain)
		x := tensor.NewGenerator(1).Randn(4, 6)
		twice := func(m nn.Module) {
			a, b := m.Forward(m.Forward(x)).Sum(), m.Forward(x.MulScalar(2)).Sum()
			tensor.NoGrad(func() { m.Forward(x) })
			a.BackwardWith(tensor.BackwardOptions{RetainGraph: true})
			b.Backward()
			a.Backward()
		}
		twice(plain)
		succeed(t, 2, func(g *group) {
			m := wrap(g)
			twice(m)
			for i, p := range nn.Parameters(m) {
				want := nn.Parameters(plain)[i].Grad()
				got := joined(g, p.Grad(), want.Numel())
				for j, v := range want.Float64s() {
					if math.Abs(got[j]-v) > 1e-5*(1+math.Abs(v)) {
						panic(fmt.Sprintf("%s: gradient %d is %v, want %v", name, i, got, want))
					}
				}
			}
		})
	}
}

func TestFullyShardErrors(t *testing.T) {
	mixed := nn.NewSequential(nn.NewLinear(2, 2), nn.NewLinear(2, 2))
	nn.ToDType(mixed.Modules[1], tensor.Float64)
	for _, test := range []struct {
		want string
		body func(g *group)
	}{
		{"the module is nil; pass a module", func(g *group) { g.FullyShard(nil, MixedPrecisionPolicy{}) }},
		{"the policy names int64; want float32, float16, bfloat16 or float64", func(g *group) { g.FullyShard(nn.NewLinear(2, 2), MixedPrecisionPolicy{ReduceDType: tensor.Int64}) }},
		{"the module has no parameters that are not sharded already; shard the blocks and then the model around them, each once", func(g *group) {
			g.FullyShard(g.FullyShard(nn.NewLinear(2, 2), MixedPrecisionPolicy{}), MixedPrecisionPolicy{})
		}},
		{"0.weight is float32 on cpu", func(g *group) { g.FullyShard(mixed, MixedPrecisionPolicy{}) }},
		{"option 1 is nil; pass a dist.FSDPOption", func(g *group) { g.FullyShard(nn.NewLinear(2, 2), MixedPrecisionPolicy{}, nil) }},
		{"gradients of sharded parameters cannot be differentiated again; leave out CreateGraph, or do not shard the module", func(g *group) {
			m := g.FullyShard(nn.NewLinear(2, 2), MixedPrecisionPolicy{})
			m.Forward(tensor.Ones(1, 2)).Sum().BackwardWith(tensor.BackwardOptions{CreateGraph: true})
		}},
	} {
		failures := together(t, 1, settings{}, test.body)
		if got := fmt.Sprint(failures[0]); !strings.Contains(got, test.want) {
			t.Errorf("got %s\nwant %s", got, test.want)
		}
	}
}
