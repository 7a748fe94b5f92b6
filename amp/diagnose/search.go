package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// PrecisionSetOptions are the options of [MinimalFP32Set] and [MaximalFP16Set]. The zero value is the default.
type PrecisionSetOptions struct {
	// Budget is the maximum relative error, 0.01 by default, of the result's norm or of each
	// parameter's gradient.
	Budget float64
	// Gradients selects the gradients of the net's parameters for comparison instead of the
	// result.
	Gradients bool
	// Scale multiplies the loss before Backward, 65536 by default, and divides the
	// gradients afterwards: without it float16 loses the small ones.
	Scale float64
	// Modules treats the same operation in different modules separately. Modules are known in
	// containers such as nn.Sequential.
	Modules bool
	// State holds the values that step changes apart from the net: any that NewRewind
	// accepts.
	State []any
	// MaxRuns is the maximum number of runs spent on finding a set smaller than a minimal one;
	// 300 by default.
	MaxRuns int
}

// PrecisionSetOp is an operation that a search may move, in one module if it has a path.
type PrecisionSetOp struct {
	Module, Op string
	Source     string  // line of the cell that calls it first, if known
	Alone      float64 // error when only this operation is moved
	Work       float64 // FLOPs of a step that then do not run in low precision
}

// PrecisionSet is the result of [MinimalFP32Set] or [MaximalFP16Set]: the set of operations, and the errors with
// and without it.
type PrecisionSet struct {
	// Ops is the set found: from [MinimalFP32Set] the operations that must be raised to float32, from
	// [MaximalFP16Set] those that may be lowered.
	Ops []PrecisionSetOp
	// Candidates are all operations that could be moved.
	Candidates []PrecisionSetOp
	// Before and After are the errors without and with the set moved.
	Before, After, Budget float64
	// Found is false if the budget cannot be met: by MinimalFP32Set, not even with all candidates in
	// float32; by MaximalFP16Set, not even under the unchanged policy.
	Found bool
	// Smallest reports that no smaller set meets the budget, or for MaximalFP16Set no larger one.
	// Otherwise the set is still minimal: no single operation can be removed, or added.
	Smallest bool
	Runs     int
	// Policy is the policy to use, and Code how to write it.
	Policy amp.Policy
	Code   string

	base  amp.Policy // policy without the set
	lower bool
	of    string // name of the compared values
}

// MinimalFP32Set finds the smallest set of low-precision operations that must run in float32 for a step
// to stay within an error budget. The result of a raised operation is float32, so the
// operations after it run in float32 too, up to the next product; among sets of the same size,
// MinimalFP32Set prefers the one that leaves the most work in low precision.
//
//	r := diagnose.MinimalFP32Set(net, func() (loss *tensor.Tensor) {
//		amp.Autocast(amp.Float16, func() { loss = nn.MSELoss(net.Forward(x), y) })
//		return loss
//	}, diagnose.PrecisionSetOptions{Budget: 1e-3})
//	r.Code // amp.Float16.With("exp", amp.FP32)
//
// step computes a result, or with Gradients a loss, and must be deterministic: MinimalFP32Set restores
// the net, the default generator and [PrecisionSetOptions.State] after each run. step needs no
// changes, because MinimalFP32Set opens its regions under other policies. The reference is the step in
// float32. The policy is that of its last region.
//
// It panics with an *[amp.Error] if the step opens no region or is not deterministic.
func MinimalFP32Set(net any, step func() *tensor.Tensor, o PrecisionSetOptions) *PrecisionSet {
	return search(net, step, o, false)
}

// MaximalFP16Set is the reverse: it finds the largest set of operations, beyond those that the
// policy already lowers, that may run in low precision within the budget.
func MaximalFP16Set(net any, step func() *tensor.Tensor, o PrecisionSetOptions) *PrecisionSet {
	return search(net, step, o, true)
}

func search(net any, step func() *tensor.Tensor, o PrecisionSetOptions, lower bool) *PrecisionSet {
	needStep((*searcher)(nil).call(lower), step != nil)
	needLayers((*searcher)(nil).call(lower), net, "")
	o.Budget, o.Scale, o.MaxRuns = cmp.Or(o.Budget, 0.01), cmp.Or(o.Scale, 65536), cmp.Or(o.MaxRuns, 300)
	s := newSearcher((*searcher)(nil).call(lower), net, step, o)
	defer s.start.restore(s.parts)
	candidates := s.candidates(lower)
	if !s.policy.IsEnabled() {
		panic(&amp.Error{Code: "no_region", Call: s.call(lower), Why: "the step opens no region that casts", Cure: "run its forward pass and loss in amp.Autocast(amp.Float16, …)"})
	}
	r := &PrecisionSet{Candidates: candidates, Budget: o.Budget, Policy: s.policy, base: s.policy, lower: lower, of: "result"}
	if o.Gradients {
		r.of = "gradients"
	}
	// A search for operations to lower looks for the smallest set that must stay in float32.
	moved := func(in []bool) []PrecisionSetOp {
		var list []PrecisionSetOp
		for i, c := range candidates {
			if in[i] != lower {
				list = append(list, c)
			}
		}
		return list
	}
	m := &minimal{n: len(candidates), budget: o.Budget, most: o.MaxRuns, known: map[string]trial{}, try: func(in []bool) trial { return s.with(moved(in), lower) }}
	before := s.with(nil, lower)
	r.Before = before.err
	for i := range candidates {
		in := make([]bool, len(candidates))
		for j := range in {
			in[j] = (j == i) != lower
		}
		alone := m.of(in)
		candidates[i].Alone, candidates[i].Work = alone.err, alone.cost
	}
	in, smallest := m.find()
	r.Found, r.Smallest, r.After = in != nil, smallest, r.Before
	if in != nil {
		r.Ops = moved(in)
		r.After = m.of(in).err
	}
	for _, op := range r.Ops {
		r.Policy = op.moved(r.Policy, lower)
	}
	r.Code, r.Runs = r.Policy.GoString(), s.runs
	return r
}

// searcher runs a step under many policies.
type searcher struct {
	net       any
	step      func() *tensor.Tensor
	o         PrecisionSetOptions
	parts     []part
	start     *snapshot
	policy    amp.Policy // policy of the step's regions
	reference [][]float64
	runs      int
	work      float64 // work of the last run
}

// newSearcher returns a searcher that has run the step in float32, twice. It panics if the results are not finite or not the same.
func newSearcher(call string, net any, step func() *tensor.Tensor, o PrecisionSetOptions) *searcher {
	s := &searcher{net: net, step: step, o: o}
	s.parts = parts(net, o.State)
	s.start = take(s.parts, 0, nil)
	fit := false
	defer func() {
		if !fit {
			s.start.restore(s.parts)
		}
	}()
	off := func(p amp.Policy) amp.Policy { return p.Enabled(false) }
	s.reference = s.run(off)
	if !finite(s.reference) {
		panic(&amp.Error{
			Code: "non_finite_reference", Call: call, Why: "the step in float32 gives infinite or NaN values, so there is nothing to compare with",
			Cure: "fix the step first; diagnose.Overflow finds where such values arise",
		})
	}
	if again := s.run(off); s.error(again) != 0 {
		panic(&amp.Error{
			Code: "not_deterministic", Call: call, Why: fmt.Sprintf("two runs of the step in float32 differ by %.3g", s.error(again)),
			Cure: "use the same batch each time, and list generators and other state in PrecisionSetOptions.State",
		})
	}
	fit = true
	return s
}

// finite reports whether all values are finite.
func finite(values [][]float64) bool {
	for _, v := range slices.Concat(values...) {
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return false
		}
	}
	return true
}

func (*searcher) call(lower bool) string {
	if lower {
		return "MaximalFP16Set"
	}
	return "MinimalFP32Set"
}

// run runs the step under changed policies and returns the values to compare, or nil if an operation
// rejected its operands. It sets s.work to the FLOPs that were not in low precision.
func (s *searcher) run(change func(amp.Policy) amp.Policy) (values [][]float64) {
	s.work = 0
	defer observer{operation: func(e tensor.Event) {
		if !e.Backward && !e.View && !e.InPlace && e.Computed != s.policy.DType() {
			s.work += e.FLOPs
		}
	}}.watch()()
	s.start.restore(s.parts)
	s.runs++
	if s.o.Gradients && s.net != nil {
		nn.ZeroGrad(s.net)
	}
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *tensor.Error:
			values = nil
		default:
			panic(p)
		}
	}()
	var y *tensor.Tensor
	amp.OverridePolicy(change, func() { y = s.step() })
	if !s.o.Gradients {
		return [][]float64{y.Detach().Float64s()}
	}
	y.MulScalar(s.o.Scale).Backward()
	for _, p := range nn.Parameters(s.net) {
		var g []float64
		if p.Grad() != nil {
			g = p.Grad().Float64s()
		}
		for i := range g {
			g[i] /= s.o.Scale
		}
		values = append(values, g)
	}
	return values
}

// with returns the error when some operations are moved, and the work that is then not in low
// precision.
func (s *searcher) with(ops []PrecisionSetOp, lower bool) trial {
	values := s.run(func(p amp.Policy) amp.Policy {
		for _, op := range ops {
			p = op.moved(p, lower)
		}
		return p
	})
	return trial{s.error(values), s.work}
}

// error returns how far values are from the reference: the largest relative error of a
// vector by the Euclidean norm, infinite if one is not finite.
func (s *searcher) error(values [][]float64) float64 {
	if len(values) != len(s.reference) {
		return math.Inf(1)
	}
	worst := 0.0
	for i, want := range s.reference {
		if len(values[i]) != len(want) {
			return math.Inf(1)
		}
		off, all := 0.0, 0.0
		for j, x := range values[i] {
			off = math.Hypot(off, x-want[j])
			all = math.Hypot(all, want[j])
		}
		switch {
		case off-off != 0:
			return math.Inf(1)
		case off > 0:
			worst = max(worst, off/all)
		}
	}
	return worst
}

// candidates returns the operations that can be moved, in order: those that a run under the unchanged
// policy computes in low precision, or the others. It also sets that policy.
func (s *searcher) candidates(lower bool) []PrecisionSetOp {
	var list []PrecisionSetOp
	known := map[string]bool{}
	for _, info := range tensor.Ops() {
		known[info.Name] = info.Name != "cast" && info.Name != "clone" // those are never cast
	}
	defer observer{operation: func(e tensor.Event) {
		low := e.Computed == s.policy.DType()
		if e.Backward || e.View || e.InPlace || e.InCast || !e.Computed.IsFloat() || e.Computed == tensor.Float64 || low == lower || !known[e.Op.Name] || e.Op.GivenDType {
			return
		}
		op := PrecisionSetOp{Op: e.Op.Name, Source: e.Source}
		if s.o.Modules {
			op.Module = e.Module
		}
		if !slices.ContainsFunc(list, func(c PrecisionSetOp) bool { return c.Op == op.Op && c.Module == op.Module }) {
			list = append(list, op)
		}
	}}.watch()()
	s.run(func(p amp.Policy) amp.Policy {
		if p.IsEnabled() {
			s.policy = p
		}
		return p
	})
	return list
}

// moved returns p with the operation moved.
func (op PrecisionSetOp) moved(p amp.Policy, lower bool) amp.Policy {
	to := amp.FP32
	if lower {
		to = amp.LowerPrecision
	}
	return p.WithIn(op.Module, op.Op, to)
}
