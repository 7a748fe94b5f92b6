package dist

import (
	"fmt"
	"slices"
	"strings"

	"halfnote/internal/plumbing"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

var modules = nn.Internal(plumbing.Token{})

// MixedPrecisionPolicy is the dtypes of a sharded module. The zero value keeps those of the parameters and of the input. Unlike
// autocast it works on whole modules: parameters are cast once, when they are gathered, and so travel in ParamDType. The shards that the
// optimizer steps keep their dtype. It is torch.distributed.fsdp.MixedPrecisionPolicy.
type MixedPrecisionPolicy struct {
	ParamDType  tensor.DType // gathered parameters and, unless KeepInputs, the input
	ReduceDType tensor.DType // gradients on the wire; that of the gathered parameters by default. Halves are summed in float32
	OutputDType tensor.DType // result of Forward
	KeepInputs  bool         // leave the input of Forward in its dtype: torch's cast_forward_inputs=False
}

// FSDPOption configures FullyShard.
type FSDPOption func(*shards)

// ReshardAfterForward sets whether the gathered parameters are released between Forward and Backward, and gathered a second time; by
// default they are. Without it a step communicates less and needs more memory. It is torch's reshard_after_forward.
func ReshardAfterForward(on bool) FSDPOption { return func(s *shards) { s.reshard = on } }

// FSDPModule is a module of which each rank keeps a part of every parameter's elements. Names of parameters are those of the module. Use it
// from one goroutine. It is torch.distributed.fsdp.FSDPModule.
type FSDPModule struct {
	nn.Module

	shards `nn:"-"`
}

// shards is the part of an FSDPModule that is not the model. The parameters in order are one vector, padded to w equal segments
// for w ranks; rank r keeps the r-th.
type shards struct {
	g       *group
	policy  MixedPrecisionPolicy
	reshard bool
	params  []shard
	segment int // elements of a rank's segment
}

// shard is this rank's part of a parameter.
type shard struct {
	name   string
	local  *tensor.Tensor // leaf that the optimizer steps: a vector, which may be empty
	shape  []int          // shape of the parameter
	at     int            // place of the parameter in the vector of all
	from   int            // place of local in the parameter
	places []**tensor.Tensor
}

// FullyShard divides the parameters of m, its tensors that require a gradient, among the ranks, all of which call it. Forward gathers
// them, runs the module and releases them. Backward gathers them again, averages the gradients over the ranks in
// policy.ReduceDType, and leaves each rank the gradient of its part. With w ranks, parameters, gradients and the optimizer's state take
// 1/w of their memory, besides the largest module that is gathered.
//
// Put the result in the place of the module. Shard the blocks of a model first and then the model, which takes the parameters that are left.
// Make the optimizer afterwards:
//
//	for i, block := range net.Modules {
//		net.Modules[i] = dist.FullyShard(block, dist.MixedPrecisionPolicy{ParamDType: tensor.BFloat16, ReduceDType: tensor.Float32})
//	}
//	model := dist.FullyShard(net, dist.MixedPrecisionPolicy{})
//	opt := optim.NewAdamW(nn.Parameters(model), 1e-3)
//
// Outside Forward and Backward, parameters are vectors of this rank's elements, some of them empty. Optimizers that work
// element by element, such as SGD, Adam and AdamW, step them as usual; norms of gradients and rules that depend on a parameter's
// shape see a part only. With float16 use NewShardedGradScaler. [StateDict] returns whole parameters. All ranks begin with rank 0's
// parameters and buffers; later changes of buffers are not shared. It panics with an *[Error] if the ranks' models differ, or if m has no
// parameters, or some of several dtypes or in places that cannot be set. It is torch.distributed.fsdp.fully_shard, with elements divided evenly in
// place of rows, and stage 3 of S. Rajbhandari and others, "ZeRO" (2020).
func FullyShard(m nn.Module, policy MixedPrecisionPolicy, options ...FSDPOption) *FSDPModule {
	return member("FullyShard").FullyShard(m, policy, options...)
}

func (g *group) FullyShard(m nn.Module, policy MixedPrecisionPolicy, options ...FSDPOption) *FSDPModule {
	const call = "FullyShard"
	if m == nil {
		g.refuse(call, "pass a module", "the module is nil")
	}
	for _, d := range []tensor.DType{policy.ParamDType, policy.ReduceDType, policy.OutputDType} {
		if d != 0 && !d.IsFloat() {
			g.refuse(call, "want float32, float16, bfloat16 or float64", "the policy names %v", d)
		}
	}
	f := &FSDPModule{m, shards{g: g, policy: policy, reshard: true}}
	for i, o := range options {
		if o == nil {
			g.refuse(call, "pass a dist.FSDPOption", "option %d is nil", i+1)
		}
		o(&f.shards)
	}
	inner, names := shardsOf(m), map[string]bool{}
	params := slices.DeleteFunc(nn.NamedParameters(m), func(p nn.Named) bool {
		_, names[p.Name] = inner[p.Tensor]
		return names[p.Name]
	})
	state := slices.DeleteFunc(sortedState(m), func(t nn.Named) bool { return names[t.Name] })
	if len(params) == 0 {
		g.refuse(call, "shard the blocks and then the model around them, each once", "the module has no parameters that are not sharded already")
	}
	g.sameModel(call, state)
	for _, t := range state {
		g.Broadcast(t.Tensor, 0).Wait()
	}
	f.divide(params)
	return f
}

// divide replaces parameters by this rank's parts.
func (f *FSDPModule) divide(params []nn.Named) {
	total := 0
	for _, p := range params {
		if p.Tensor.DType() != params[0].Tensor.DType() || p.Tensor.Device() != params[0].Tensor.Device() {
			f.g.refuse("FullyShard", "shard them separately, or convert them", "%s is %v on %v, but %s is %v on %v", p.Name, p.Tensor.DType(), p.Tensor.Device(), params[0].Name, params[0].Tensor.DType(), params[0].Tensor.Device())
		}
		s := shard{name: p.Name, shape: p.Tensor.Shape(), at: total, places: modules.Places(f.Module, p.Tensor)}
		if len(s.places) == 0 {
			f.g.refuse("FullyShard", "pass a pointer to the module", "%s cannot be replaced", p.Name)
		}
		f.params = append(f.params, s)
		total += p.Tensor.Numel()
	}
	f.segment = (total + f.g.size - 1) / f.g.size
	own := f.g.rank * f.segment
	for i := range f.params {
		s, n := &f.params[i], params[i].Tensor.Numel()
		s.from = min(max(own-s.at, 0), n)
		to := min(max(own+f.segment-s.at, 0), n)
		whole := params[i].Tensor.Detach().Contiguous().Reshape(n)
		s.local = whole.Narrow(0, s.from, to-s.from).Clone().RequireGrad()
	}
	f.put(f.locals())
}

func (f *FSDPModule) locals() []*tensor.Tensor {
	list := make([]*tensor.Tensor, len(f.params))
	for i, s := range f.params {
		list[i] = s.local
	}
	return list
}

// put makes ts the parameters of the module.
func (f *FSDPModule) put(ts []*tensor.Tensor) {
	for i, s := range f.params {
		for _, p := range s.places {
			*p = ts[i]
		}
	}
}

// inSegment returns the part of a rank's segment that holds local.
func (f *FSDPModule) inSegment(segment *tensor.Tensor, s shard) *tensor.Tensor {
	if s.local.Numel() == 0 {
		return segment.Narrow(0, 0, 0)
	}
	return segment.Narrow(0, s.at+s.from-f.g.rank*f.segment, s.local.Numel())
}

// Forward gathers the parameters, calls the module and releases them.
func (f *FSDPModule) Forward(x *tensor.Tensor) *tensor.Tensor {
	if f.policy.ParamDType != 0 && !f.policy.KeepInputs && x.DType().IsFloat() {
		x = x.To(f.policy.ParamDType)
	}
	w := f.gather()
	defer f.put(f.locals())
	f.put(w.params)
	y := f.Module.Forward(x)
	if f.policy.OutputDType != 0 && y.DType().IsFloat() {
		y = y.To(f.policy.OutputDType)
	}
	if !y.RequiresGrad() {
		return y
	}
	y.RegisterHook(func(*tensor.Tensor) *tensor.Tensor {
		w.restore()
		f.put(w.params)
		return nil
	})
	if f.reshard {
		w.release()
	}
	return y
}

// String returns the module's text.
func (f *FSDPModule) String() string {
	return fmt.Sprintf("FSDP%s", strings.TrimSpace(fmt.Sprint(f.Module)))
}
