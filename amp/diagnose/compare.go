package diagnose

import (
	"math"
	"slices"

	"halfnote/amp"
	"halfnote/amp/trace"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/quant"
)

// ErrorRow is the error of one operation in one variant of a step. Errors are roots of mean squares, relative to that of the result in float64.
type ErrorRow struct {
	Variant  int    // index in CompareReport.Variants
	Module   string // path of the module
	Op       string
	Of       string // operation whose derivative this is part of, "" in the forward pass
	Source   string // line of the cell
	Backward bool
	DType    tensor.DType

	Own   float64 // error of the operation itself, on the operands that it got
	In    float64 // largest error of its operands
	Error float64 // distance from the step in float64
	Worst float64 // largest distance of an element, relative to the largest magnitude in float64
	ULP   float64 // the same distance in units in the last place of DType

	N      int     // number of products in each sum of a matrix product, or in each block of one; 0 for other operations
	Bound  float64 // bound on Own of a product: n·u for the sum and u for the result; NaN where none is known
	Likely float64 // the same with √n·u, which holds with high probability for roundings that are independent
}

// Fate is what an operation does to the error of a step.
type Fate string

// The fates.
const (
	Born    Fate = "born"    // at least half of the error is the operation's own
	Grows   Fate = "grows"   // at least twice that of the operands
	Cancels Fate = "cancels" // at most half of that of the operands
	Passes  Fate = "passes"
)

// Fate returns what the operation does to the error.
func (r ErrorRow) Fate() Fate {
	switch {
	case r.Error > 0 && r.Own >= r.Error/2 && r.In < r.Error:
		return Born
	case r.In > 0 && r.Error >= 2*r.In:
		return Grows
	case r.In > 0 && r.Error <= r.In/2:
		return Cancels
	}
	return Passes
}

// CompareReport is the result of [Compare].
type CompareReport struct {
	Variants []amp.Policy
	Rows     []ErrorRow // in the order of the operations, one variant after another
}

// Compare runs step once for each variant, next to a float64 shadow, and reports how far each operation's result is from the step in float64: where errors are born, grow
// and cancel, forward and backward. A variant is a policy that replaces the one of the step's regions:
//
//	diagnose.Compare(net, func() {
//		var loss *tensor.Tensor
//		amp.Autocast(amp.BFloat16, func() { loss = nn.MSELoss(net.Forward(x), y) })
//		loss.Backward()
//	}, amp.Float16, amp.BFloat16, amp.MXFP8(),
//		amp.BFloat16.Accumulate(amp.Accumulation{DType: tensor.BFloat16}),
//		amp.Off.Accumulate(amp.Accumulation{Reverse: true}))
//
// dtypes and formats are policies, and [amp.Policy.Accumulate] sets the dtype, the rounding and the order of sums. Without variants, they are amp.Off, Float16 and BFloat16.
// step computes a loss and its gradients. The net, its gradients and the default generator are restored after each run, so the step has no effect.
//
// Bounds are those of N. J. Higham and T. Mary, "A New Approach to Probabilistic Rounding Error Analysis", SIAM J. Sci. Comput. 41 (2019).
func Compare(net any, step func(), variants ...amp.Policy) *CompareReport {
	needStep("Compare", step != nil)
	needLayers("Compare", net, "")
	if len(variants) == 0 {
		variants = []amp.Policy{amp.Off, amp.Float16, amp.BFloat16}
	}
	r := &CompareReport{Variants: variants}
	all := parts(net, nil)
	start := take(all, 0, nil)
	defer start.restore(all)
	var models []any
	if net != nil {
		models = append(models, net)
	}
	for i, variant := range variants {
		start.restore(all)
		if net != nil {
			nn.ZeroGrad(net)
		}
		m := &microscope{report: r, variant: i, policy: variant, places: trace.NewPlaces(models...), errors: map[int]float64{}}
		func() {
			defer observer{operation: m.operation}.watch()()
			amp.OverridePolicy(func(p amp.Policy) amp.Policy {
				if !p.IsEnabled() {
					return p
				}
				return variant
			}, step)
		}()
	}
	return r
}

// microscope follows the errors of one variant.
type microscope struct {
	report  *CompareReport
	variant int
	policy  amp.Policy
	places  *trace.Places
	shadows trace.Shadows
	errors  map[int]float64 // of results, by ID
}

// operation observes an operation.
func (m *microscope) operation(e tensor.Event) {
	place := m.places.Find(e)
	said, ok := m.shadows.Compare(e)
	in := 0.0
	for _, t := range e.Operands {
		in = max(in, m.errors[t.ID()])
	}
	if e.View || e.InPlace {
		m.errors[e.Out.ID] = in
		forget(m.errors, e.Out.ID)
		return
	}
	truth := m.shadows.Values(e.Result)
	if !ok || truth == nil {
		return
	}
	row := ErrorRow{
		Variant: m.variant, Module: place.Module, Op: e.Op.Name, Source: e.Source, Backward: e.Backward, DType: e.Out.DType,
		Own: said.Own, In: in, Bound: math.NaN(), Likely: math.NaN(),
	}
	if e.Backward {
		row.Of = e.Of
	}
	row.measure(e.Result.Float64s(), truth)
	m.errors[e.Out.ID] = row.Error
	forget(m.errors, e.Out.ID)
	tensor.Unobserved(func() { m.bound(&row, &e) })
	m.report.Rows = append(m.report.Rows, row)
}

// measure sets the distances of values from truth.
func (r *ErrorRow) measure(values, truth []float64) {
	off, all, worst, most := 0.0, 0.0, 0.0, 0.0
	for i, x := range truth {
		d := math.Abs(values[i] - x)
		if d != d || math.IsInf(d, 0) {
			if x-x != 0 {
				continue // not finite in float64 either
			}
			d = math.Inf(1)
		}
		off, all = off+d*d, all+x*x
		worst, most = max(worst, d), max(most, math.Abs(x))
		r.ULP = max(r.ULP, d/spacing(r.DType, x))
	}
	if off > 0 {
		r.Error, r.Worst = math.Sqrt(off/all), worst/most
	}
}

// bound sets the bounds on the error of a matrix product in floating point.
func (m *microscope) bound(r *ErrorRow, e *tensor.Event) {
	const sum = tensor.Float32
	n := 0
	switch e.Op.Name {
	case "linear", "mm", "matmul", "bmm", "accumulated_matmul":
		if s := e.Operands[0].Shape(); len(s) > 0 {
			n = s[len(s)-1]
		}
	case "conv1d", "conv2d", "conv3d":
		n = size(e.Operands[1].Shape()[1:])
	}
	if n == 0 || !e.Out.DType.IsFloat() {
		return
	}
	u, rest := tensor.FInfo(sum).Eps/2, 0.
	if a, ok := m.policy.Accumulation(); ok && e.Op.Name == "accumulated_matmul" {
		if u = tensor.FInfo(a.DType).Eps / 2; a.Rounding != quant.Nearest {
			u *= 2 // a rounding that is not to nearest is off by up to a unit in the last place
		}
		if a.Block > 0 && a.Block < n { // the sums of blocks are added in float32
			rest = float64(n) / float64(a.Block) * tensor.FInfo(sum).Eps / 2
			n = a.Block
		}
	}
	exact, sizes := make([]*tensor.Tensor, len(e.Operands)), make([]*tensor.Tensor, len(e.Operands))
	for i, t := range e.Operands {
		exact[i] = t.Detach().Double()
		sizes[i] = exact[i].Abs()
	}
	y, all := e.Rerun(exact), e.Rerun(sizes)
	if y == nil || all == nil {
		return
	}
	length := func(t *tensor.Tensor) float64 { return math.Sqrt(t.Mul(t).Sum().Item()) }
	if length(y) == 0 {
		return
	}
	condition, last := length(all)/length(y), tensor.FInfo(e.Out.DType).Eps/2
	r.N, r.Bound, r.Likely = n, (float64(n)*u+rest)*condition+last, (math.Sqrt(float64(n))*u+rest)*condition+last
}

// microLayer is the error of a layer in one direction.
type microLayer struct {
	module   string
	backward bool
	rows     []ErrorRow // the row that counts for each variant; without a row its Op is ""
}

// layers returns the layers in the order in which they run: the last result of each module forward, and the largest error of its derivatives.
func (r *CompareReport) layers() []microLayer {
	var list []microLayer
	for _, row := range r.Rows {
		if row.Module == "" {
			continue
		}
		i := slices.IndexFunc(list, func(l microLayer) bool { return l.module == row.Module && l.backward == row.Backward })
		if i < 0 {
			i = len(list)
			list = append(list, microLayer{row.Module, row.Backward, make([]ErrorRow, len(r.Variants))})
		}
		if old := &list[i].rows[row.Variant]; !row.Backward || row.Error >= old.Error {
			*old = row
		}
	}
	return list
}

// of returns the rows of a variant.
func (r *CompareReport) of(variant int) []ErrorRow {
	return slices.DeleteFunc(slices.Clone(r.Rows), func(row ErrorRow) bool { return row.Variant != variant })
}
