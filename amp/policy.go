package amp

import (
	"fmt"

	"halfnote/tensor"
)

// Policy says which dtype each operation runs in. It is a value: the With
// methods return changed copies. The lists belong to the policy, not to a
// device: [Float16] applies torch's CUDA lists wherever the tensors live.
type Policy struct {
	lower tensor.DType
	on    bool
	cpu   bool // torch's CPU lists in place of the CUDA lists
	cache bool
	own   *override
}

// override is a user's category for one operation, in front of earlier ones.
type override struct {
	op       string
	category tensor.Category
	next     *override
}

// The policies.
var (
	// Float16 runs listed products in float16, by torch's CUDA lists. It is
	// torch.autocast("cuda").
	Float16 = Policy{lower: tensor.Float16, on: true, cache: true}
	// BFloat16 is Float16 with bfloat16: as wide a range as float32, so no
	// scaler is needed. It is torch.autocast("cuda", dtype=torch.bfloat16).
	BFloat16 = Policy{lower: tensor.BFloat16, on: true, cache: true}
	// CPUBFloat16 runs by torch's CPU lists in bfloat16. It is
	// torch.autocast("cpu").
	CPUBFloat16 = Policy{lower: tensor.BFloat16, on: true, cpu: true, cache: true}
	// CPUFloat16 is torch.autocast("cpu", dtype=torch.float16).
	CPUFloat16 = Policy{lower: tensor.Float16, on: true, cpu: true, cache: true}
	// Off casts nothing.
	Off = Policy{}
)

// Enabled returns p switched on or off, autocast's argument enabled. Off stays
// off.
func (p Policy) Enabled(on bool) Policy {
	p.on = on && p.lower != 0
	return p
}

// WithCache returns p with the cache of weight casts on, the default, or off:
// autocast's argument cache_enabled. Without it each use of a weight is a cast of
// its own, and their gradients are summed in float32 and not in float16.
func (p Policy) WithCache(on bool) Policy {
	p.cache = on
	return p
}

// With returns p with op, by its torch name as "softmax", moved to another
// category.
func (p Policy) With(op string, c tensor.Category) Policy {
	p.own = &override{op, c, p.own}
	return p
}

// DType returns the low-precision dtype.
func (p Policy) DType() tensor.DType { return p.lower }

// Category returns how p treats op.
func (p Policy) Category(op tensor.Info) tensor.Category {
	for o := p.own; o != nil; o = o.next {
		if o.op == op.Name {
			return o.category
		}
	}
	if !p.cpu {
		return op.Category
	}
	if c, ok := cpuOps[op.Name]; ok {
		return c
	}
	return tensor.Keep
}

// String names p as code does: "amp.Float16".
func (p Policy) String() string {
	if !p.on {
		return "amp.Off"
	}
	lists := ""
	if p.cpu {
		lists = "CPU"
	}
	switch p.lower {
	case tensor.Float16:
		return "amp." + lists + "Float16"
	case tensor.BFloat16:
		return "amp." + lists + "BFloat16"
	}
	return fmt.Sprintf("amp.%s(%v)", lists, p.lower)
}
