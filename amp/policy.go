package amp

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"halfnote/internal/near"
	"halfnote/tensor"
)

// Policy maps each operation to the dtype it runs in. It is a value: the With methods return
// changed copies. The lists belong to the policy, not to a device: [Float16] applies torch's
// CUDA lists wherever the tensors live.
type Policy struct {
	lower   tensor.DType
	on      bool
	cpu     bool // use torch's CPU lists instead of the CUDA lists
	apex    bool // use Apex's lists instead of the CUDA lists
	cache   bool
	legacy  bool // use torch's earlier cache rule
	own     *override
	placed  bool   // an override applies to one module only
	recipe  recipe // of block formats, or none
	release int    // minor version of PyTorch 2 whose lists are used, plus 1; 0 for the newest
}

// override is a user's category for one operation; later overrides precede earlier ones.
type override struct {
	op       string
	module   string // path of the module, "" for all modules
	category Category
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

// WithCache returns p with the cache of weight casts on, the default, or off: autocast's argument
// cache_enabled. Without the cache each use of a weight has its own cast, and the gradients are
// summed in float32, not in float16.
func (p Policy) WithCache(on bool) Policy {
	p.cache = on
	return p
}

// With returns p with op moved to another category. op is a name in [Policy.Ops], such as
// "softmax". With panics if the operation does not exist or the category is invalid. Apex's
// register_half_function is With(op, amp.LowerPrecision), register_float_function amp.FP32,
// register_promote_function amp.Promote.
func (p Policy) With(op string, c Category) Policy {
	if !known(op) {
		panic(unknownOp("With", op))
	}
	mustBeCategory("With", op, c)
	p.own = &override{op: op, category: c, next: p.own}
	return p
}

// WithIn is [Policy.With] for one module and those inside it, given by its path in containers
// such as [nn.Sequential]: "2" or "encoder.2". It does not apply to modules called directly by
// a user's Forward, which have no path while they run. [Policy.Ops] does not list it.
func (p Policy) WithIn(module, op string, c Category) Policy {
	p = p.With(op, c)
	p.own.module, p.placed = module, p.placed || module != ""
	return p
}

// AllowBanned returns p with banned operations allowed: they run in the dtypes of their
// operands, at the caller's risk. It is allow_banned of apex.amp.init.
func (p Policy) AllowBanned() Policy {
	for _, op := range tensor.Ops() {
		if p.Category(op) == Banned {
			p = p.With(op.Name, Unlisted)
		}
	}
	return p
}

// DType returns the low-precision dtype.
func (p Policy) DType() tensor.DType { return p.lower }

// IsEnabled reports whether p casts. It is torch.is_autocast_enabled, in a region of p.
func (p Policy) IsEnabled() bool { return p.on }

// IsCacheEnabled reports whether p shares the casts of weights. It is
// torch.is_autocast_cache_enabled, in a region of p.
func (p Policy) IsCacheEnabled() bool { return p.cache }

// Category returns how p treats op.
func (p Policy) Category(op tensor.Info) Category {
	if op.GivenDType {
		return ExplicitDType
	}
	if o := p.override(op.Name); o != nil {
		return o.category
	}
	if c := p.listed(op); c != Unlisted {
		return c
	}
	return p.decomposition(op.Name).category
}

// listed returns the category of the list that op is on.
func (p Policy) listed(op tensor.Info) Category {
	r, ok := lists[op.Name]
	switch n := p.newcomer(op.Name); {
	case n != nil && n.there(p):
		return n.category
	case n != nil:
		return Unlisted
	case !ok && !op.GivenDType:
		return registeredAs(op.Name)
	case p.cpu:
		return r.cpu
	case p.apex:
		return r.apex
	}
	return Listed(op)
}

// categoryAt returns how p treats op in the running module.
func (p Policy) categoryAt(op tensor.Info) Category {
	if !op.GivenDType {
		if c, ok := p.overrideAt(op.Name); ok {
			return c
		}
	}
	return p.Category(op)
}

// overrideAt returns the user's category for op in the running module.
func (p Policy) overrideAt(op string) (Category, bool) {
	if !p.placed {
		return Unlisted, false
	}
	path := casting.ActiveModule()
	for o := p.own; o != nil; o = o.next {
		if o.op == op && (o.module == "" || path == o.module || strings.HasPrefix(path, o.module+".")) {
			return o.category, true
		}
	}
	return Unlisted, false
}

// decomposition returns the parts of op if they determine its dtype.
func (p Policy) decomposition(op string) decomposition {
	switch {
	case p.cpu:
		return cpuDecomposed[op]
	case p.apex:
		return decomposition{} // Apex patches functions and does not see their parts
	}
	return decomposed[op]
}

// override returns the user's override of op, or nil.
func (p Policy) override(op string) *override {
	for o := p.own; o != nil; o = o.next {
		if o.op == op && o.module == "" {
			return o
		}
	}
	return nil
}

// moved reports whether the user has overridden op in the running module.
func (p Policy) moved(op string) bool {
	if p.override(op) != nil {
		return true
	}
	_, placed := p.overrideAt(op)
	return placed
}

// String returns p as Go code: "amp.Float16".
func (p Policy) String() string {
	if a, ok := p.Accumulation(); ok {
		p.recipe.sum = Accumulation{}
		return p.String() + ".Accumulate(" + a.String() + ")"
	}
	if !p.on {
		return "amp.Off"
	}
	lists := "amp."
	switch {
	case p.cpu:
		lists = "amp.CPU"
	case p.apex:
		lists = "apex."
	}
	switch {
	case p.recipe.straight:
		of := p.recipe
		p.recipe = recipe{}
		return strings.ReplaceAll(p.String()+fmt.Sprintf(".QAT(%#v, %#v)", of.input, of.weight), "<nil>", "nil")
	case p.recipe.name != "":
		if strings.HasSuffix(p.recipe.name, ")") {
			return lists + p.recipe.name
		}
		return lists + p.recipe.name + "()"
	case p.lower == tensor.Float16:
		return lists + "Float16"
	case p.lower == tensor.BFloat16:
		return lists + "BFloat16"
	}
	return fmt.Sprintf("%s(%v)", lists, p.lower)
}

// GoString returns the code that makes p: amp.Float16.With("exp", amp.FP32).
func (p Policy) GoString() string {
	text := ""
	for o := p.own; o != nil && p.on; o = o.next {
		call := fmt.Sprintf(".With(%q, ", o.op)
		if o.module != "" {
			call = fmt.Sprintf(".WithIn(%q, %q, ", o.module, o.op)
		}
		text = call + "amp." + categoryNames[o.category] + ")" + text
	}
	if p.on && !p.cache {
		text += ".WithCache(false)"
	}
	return p.String() + text
}

// known reports whether autocast can see an operation of that name.
func known(op string) bool { return slices.Contains(opNames(), op) }

func opNames() (names []string) {
	for _, op := range everyOp() {
		names = append(names, op.Name)
	}
	if all := registered.Load(); all != nil {
		names = slices.AppendSeq(names, maps.Keys(*all))
	}
	return names
}

// unknownOp returns an error that suggests similar names.
func unknownOp(call, op string) *Error {
	cure := "amp.Ops() lists all operations"
	if parts := madeOf[op]; parts != nil {
		cure = fmt.Sprintf("it is composed of operations that autocast sees: use %s", strings.Join(parts, " and "))
	} else if list := near.Names(op[strings.LastIndex(op, ".")+1:], opNames(), 3); len(list) > 0 {
		cure = fmt.Sprintf("did you mean %s? amp.Ops() lists all operations", strings.Join(list, ", "))
	}
	return &Error{Code: "unknown_op", Call: call, Why: fmt.Sprintf("unknown operation %q", op), Cure: cure}
}
