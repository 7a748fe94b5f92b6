package dist

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// MixedPrecisionPolicy chooses the dtypes of a fully sharded module. [FullPrecision] has all float32. It is
// torch.distributed.fsdp.MixedPrecisionPolicy: unlike autocast, it applies to whole modules, and the two can be combined.
type MixedPrecisionPolicy struct {
	ParamDType  tensor.DType // dtype that parameters are gathered and used in, and inputs are cast to
	ReduceDType tensor.DType // dtype that gradients travel and are summed in
	OutputDType tensor.DType // dtype of the result
}

// Policies of FullyShard.
var (
	FullPrecision = MixedPrecisionPolicy{tensor.Float32, tensor.Float32, tensor.Float32}
	// BF16Params computes in bfloat16 and reduces gradients in float32.
	BF16Params = MixedPrecisionPolicy{tensor.BFloat16, tensor.Float32, tensor.BFloat16}
)

// FullyShardedModule is a module whose parameters are divided among the ranks. Its parameters, for an optimizer, are the float32
// shards of this rank.
type FullyShardedModule struct {
	// Shards are the parts of this rank: vectors of 1/w of the elements, filled up with zeros, named as the parameters.
	Shards []nn.Named

	shards `nn:"-"`
}

type shards struct {
	g      *group
	m      nn.Module
	policy MixedPrecisionPolicy
	shapes [][]int
}

// FullyShard divides the parameters of m among the ranks, from rank 0's values. Forward gathers them in the policy's dtype, and Backward
// averages the gradients over the ranks and leaves each rank its part. Optimizer state and gradients then need 1/w of the memory;
// gathered parameters live until Backward has used them, as with torch's reshard_after_forward=False. Shard a large model block by
// block, so that gradients are reduced as blocks finish. With float16, use NewShardedGradScaler: ranks have different gradients.
// m must not be used otherwise. It panics if m has no parameters. It is torch.distributed.fsdp.fully_shard.
func FullyShard(m nn.Module, policy MixedPrecisionPolicy) *FullyShardedModule {
	return member("FullyShard").FullyShard(m, policy)
}

func (g *group) FullyShard(m nn.Module, policy MixedPrecisionPolicy) *FullyShardedModule {
	const call = "FullyShard"
	if m == nil || len(nn.Parameters(m)) == 0 {
		g.refuse(call, "pass a module with parameters", "the module is nil or has none")
	}
	for _, d := range []tensor.DType{policy.ParamDType, policy.ReduceDType, policy.OutputDType} {
		if !d.IsFloat() {
			g.refuse(call, "start from dist.FullPrecision or dist.BF16Params", "the policy has the dtype %v", d)
		}
	}
	g.sameModel(call, m)
	f := &FullyShardedModule{shards: shards{g: g, m: m, policy: policy}}
	for _, p := range nn.NamedParameters(m) {
		g.Broadcast(p.Tensor, 0).Wait()
		f.shapes = append(f.shapes, p.Tensor.Shape())
		f.Shards = append(f.Shards, nn.Named{Name: p.Name, Tensor: g.shard(p.Tensor).RequireGrad()})
	}
	return f
}

// shard returns this rank's part of a parameter, in float32.
func (g *group) shard(p *tensor.Tensor) *tensor.Tensor {
	per := g.perRank(p.Numel())
	s := tensor.Zeros(per).ToDevice(p.Device())
	tensor.NoGrad(func() {
		if at := g.rank * per; at < p.Numel() {
			n := min(per, p.Numel()-at)
			s.Narrow(0, 0, n).Assign(p.Detach().Reshape(p.Numel()).Narrow(0, at, n))
		}
	})
	return s
}

func (g *group) perRank(n int) int { return (n + g.size - 1) / g.size }

// whole returns a parameter from its shards, differentiably: the derivative is this rank's part of the averaged gradient.
func (f *FullyShardedModule) whole(i int) *tensor.Tensor {
	g, shape := f.g, f.shapes[i]
	n := 1
	for _, s := range shape {
		n *= s
	}
	per := g.perRank(n)
	return tensor.Function{
		Name: "all_gather",
		Forward: func(_ *tensor.Context, in []*tensor.Tensor) *tensor.Tensor {
			return g.gathered(in[0].To(f.policy.ParamDType), n).Reshape(shape...)
		},
		Backward: func(_ *tensor.Context, dy *tensor.Tensor) []*tensor.Tensor {
			padded := tensor.ZerosAs(f.policy.ReduceDType, per*g.size).ToDevice(dy.Device())
			padded.Narrow(0, 0, n).Assign(dy.Reshape(n))
			padded.DivScalarAssign(float64(g.size))
			part := tensor.ZerosAs(f.policy.ReduceDType, per).ToDevice(dy.Device())
			g.ReduceScatter(part, padded, Sum).Wait()
			return []*tensor.Tensor{part.Float()}
		},
	}.Apply(f.Shards[i].Tensor)
}

// gathered returns the first n elements of the ranks' parts.
func (g *group) gathered(part *tensor.Tensor, n int) *tensor.Tensor {
	all := tensor.ZerosAs(part.DType(), part.Numel()*g.size).ToDevice(part.Device())
	g.AllGather(all, part.Detach()).Wait()
	return all.Narrow(0, 0, n)
}

// Forward gathers the parameters and calls the module.
func (f *FullyShardedModule) Forward(x *tensor.Tensor) *tensor.Tensor {
	state := map[string]*tensor.Tensor{}
	for i, s := range f.Shards {
		state[s.Name] = f.whole(i)
	}
	if x.DType().IsFloat() {
		x = x.To(f.policy.ParamDType)
	}
	var y *tensor.Tensor
	nn.FunctionalCall(f.m, state, func() { y = f.m.Forward(x) })
	return y.To(f.policy.OutputDType)
}

// StateDict returns, on every rank, the whole float32 parameters and the buffers by their names in the module. All ranks call it.
func (f *FullyShardedModule) StateDict() map[string]*tensor.Tensor {
	state := maps.Clone(nn.StateDict(f.m))
	for i, s := range f.Shards {
		n := 1
		for _, size := range f.shapes[i] {
			n *= size
		}
		state[s.Name] = f.g.gathered(s.Tensor.Detach(), n).Clone().Reshape(f.shapes[i]...)
	}
	return state
}

// LoadStateDict sets this rank's shards, and the buffers, from whole tensors. It returns an error, and changes nothing, if names or
// shapes differ.
func (f *FullyShardedModule) LoadStateDict(state map[string]*tensor.Tensor) error {
	if err := nn.LoadStateDict(f.m, state); err != nil {
		return fmt.Errorf("dist: LoadStateDict: %w", err)
	}
	tensor.NoGrad(func() {
		for _, p := range nn.NamedParameters(f.m) {
			i := slices.IndexFunc(f.Shards, func(s nn.Named) bool { return s.Name == p.Name })
			f.Shards[i].Tensor.Assign(f.g.shard(p.Tensor))
		}
	})
	return nil
}

// String returns the module's text.
func (f *FullyShardedModule) String() string {
	return fmt.Sprintf("FullyShardedModule(\n  (module): %s\n)", strings.ReplaceAll(fmt.Sprint(f.m), "\n", "\n  "))
}
