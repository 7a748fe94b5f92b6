package diagnose

import (
	"fmt"
	"math"
	"slices"

	"halfnote/tensor"
)

// An operation may return finite numbers for inf: x/inf is 0. No inf or NaN shows then, but the numbers are wrong if the inf stands
// for a number that was only too large for its dtype. So everything that depends on an origin is computed a second time, in float64,
// from the origin on, and compared at the loss and at the gradients of parameters.

// Change is what an origin of inf has changed although another operation returned finite numbers for it.
type Change struct {
	Absorbed []Occurrence // operations that returned finite numbers for inf or NaN, in order
	Wrong    float64      // distance of their results from those without the overflow, relative to the latter's norm; 0 if unknown
	// Loss and Without are the loss and what it would be without the overflow; NaN if they are unknown or the same.
	Loss, Without float64
	Params        []string // parameters whose gradients differ, by more than half, from those without the overflow
	unknown       bool     // a recording cannot tell what the numbers would be
}

// unchanged is the change of an origin that nothing is known of.
var unchanged = Change{Loss: math.NaN(), Without: math.NaN()}

// matters reports whether the run has another loss, or other gradients.
func (c *Change) matters() bool { return !math.IsNaN(c.Without) || len(c.Params) > 0 }

// The least relative differences that matter.
const (
	leastOfResult   = 1e-2
	leastOfLoss     = 1e-2
	leastOfGradient = 0.5
)

// mostExact is the number of bytes of the results in float64 beyond which no more are computed.
const mostExact = 1 << 29

// exactResults holds results as they would be without an overflow.
type exactResults struct {
	of    map[int]*tensor.Tensor // in float64, or integers; by ID
	bytes int
}

// values returns the exact elements of t, or nil if they are unknown.
func (x *exactResults) values(t *tensor.Tensor) []float64 {
	if y := x.of[t.ID()]; y != nil && y.Numel() == t.Numel() {
		return y.Float64s()
	}
	return nil
}

// follow computes the result of e without overflows, if each operand that depends on one is known. A result that is not finite then
// either is not kept: inf was meant, or is not the fault of a dtype.
func (x *exactResults) follow(e *tensor.Event, depends func(id int) bool) {
	in := make([]*tensor.Tensor, len(e.Operands))
	known := true
	for i, t := range e.Operands {
		if in[i] = x.of[t.ID()]; in[i] == nil {
			known = known && !depends(t.ID())
		}
	}
	delete(x.of, e.Out.ID)
	if !known {
		return
	}
	var y *tensor.Tensor
	tensor.Unobserved(func() {
		_ = tensor.Try(func() { y = again(e, in) }) // an operation without a form in float64 is unknown
	})
	if y == nil || x.bytes > mostExact || y.DType().IsFloat() && nonFinite(y.Counts()) {
		return
	}
	x.of[e.Out.ID] = y
	x.bytes += y.Bytes()
}

// again returns the result of e for other operands, or nil if that is unknown. A nil operand stands for that of e.
func again(e *tensor.Event, in []*tensor.Tensor) *tensor.Tensor {
	sum := e.InPlace && e.Backward && e.Op.Name == "add_" && len(in) == 2 // of gradients
	for i, t := range e.Operands {
		switch {
		case in[i] != nil:
		case sum && i == 0: // it already holds the sum
			in[i] = inFloat64(t).Sub(inFloat64(e.Operands[1]))
		default:
			in[i] = inFloat64(t)
		}
	}
	switch {
	case sum:
		return in[0].Add(in[1])
	case e.InPlace || slices.Contains(random, e.Op.Name) && len(in) < 2:
		return nil
	case e.Op.Name == "cast" && e.Out.DType.IsFloat():
		return inFloat64(in[0])
	}
	y := e.Rerun(in)
	if y != nil && y.DType().IsFloat() {
		return inFloat64(y)
	}
	return y
}

// inFloat64 returns a tensor without its graph, in float64 if it is floating-point.
func inFloat64(t *tensor.Tensor) *tensor.Tensor {
	if t.DType().IsFloat() {
		return t.Detach().Double()
	}
	return t.Detach()
}

// apart returns the distance of values from exact ones, relative to the latter's norm. Exact ones that are not finite do not count.
func apart(values, exact []float64) float64 {
	off, all := 0.0, 0.0
	for i, x := range exact {
		if x-x != 0 {
			continue
		}
		off += (values[i] - x) * (values[i] - x)
		all += x * x
	}
	switch {
	case off == 0:
		return 0
	case all == 0:
		return 1
	}
	return math.Sqrt(off / all)
}

// absorb notes that the operation of r returned finite numbers although the origins roots reached it.
func (a *tracker) absorb(e *tensor.Event, r *result, roots []*NonFinite) {
	const most = 8
	wrong := 0.0
	if exact := a.exact.values(e.Result); exact != nil {
		wrong = apart(e.Result.Float64s(), exact)
	}
	for _, b := range roots {
		c := &b.Change
		c.Wrong = max(c.Wrong, wrong)
		same := func(p Occurrence) bool { return p.Op == r.Op && p.Module == r.Module && p.Source == r.Source }
		if len(c.Absorbed) < most && !slices.ContainsFunc(c.Absorbed, same) && (!e.Backward || len(c.Absorbed) == 0) {
			c.Absorbed = append(c.Absorbed, r.Occurrence)
		}
	}
}

// weigh compares a loss with the loss without the overflows that it depends on.
func (a *tracker) weigh(loss *tensor.Tensor) {
	r, exact := a.results[loss.ID()], a.exact.values(loss)
	if r == nil || len(exact) != 1 {
		return
	}
	is, without := loss.Float64s()[0], exact[0]
	for _, b := range r.behind {
		if c := &b.Change; c.Wrong > leastOfResult && math.IsNaN(c.Without) && apart([]float64{is}, exact) > leastOfLoss {
			c.Loss, c.Without = is, without
		}
	}
}

// compare compares a gradient with that without the overflows that it depends on.
func (a *tracker) compare(g *tensor.Tensor, r *result, name string) {
	exact := a.exact.values(g)
	if exact == nil || nonFinite(r.Counts) || apart(g.Float64s(), exact) < leastOfGradient {
		return
	}
	for _, b := range r.behind {
		if c := &b.Change; c.Wrong > leastOfResult && !slices.Contains(c.Params, name) {
			c.Params = append(c.Params, name)
		}
	}
}

// text returns sentences about where the origin became finite numbers, and what that has changed; "" if it did not.
func (c *Change) text() string {
	if len(c.Absorbed) == 0 {
		return ""
	}
	var names []string
	for _, p := range c.Absorbed {
		names = append(names, p.title()+p.at())
	}
	text := "It became finite numbers in " + some(names, 3)
	if op := c.Absorbed[0].Op; op == "div" || op == "reciprocal" {
		text += ": x/inf is 0"
	}
	text += "."
	if !math.IsNaN(c.Without) {
		text += fmt.Sprintf(" The loss is %.4g; without the overflow it would be %.4g.", c.Loss, c.Without)
	}
	switch {
	case len(c.Params) > 0:
		text += " Without the overflow the gradient of " + some(c.Params, 4) + " would be another one."
	case c.matters():
	case c.unknown:
		text += " Run without it, the loss may be another one: a recording has no values to compute that from."
	case c.Wrong < leastOfResult:
		text += " They are what they would be without it, as far as that is known."
	default:
		text += " The loss and the gradients are nearly what they would be without it."
	}
	return text
}
