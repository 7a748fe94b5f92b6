package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"halfnote/amp"
	"halfnote/internal/text"
	"halfnote/tensor"
)

// evidence holds the facts from which a cause is inferred.
type evidence struct {
	e        *tensor.Event
	op       string
	in       []tensor.Counts // counts of each operand
	largest  float64         // largest magnitude of the result in float64; inf or NaN if not finite there either, NaN if unknown
	limit    float64         // largest finite value of the result's dtype
	scale    float64
	negative bool // all infinities are negative
	lost     bool // an operand is still 0 after an addition
	combined bool // computed from scaled gradients by operations other than the loss's own derivatives
	param    bool // the operation updates a parameter
}

// factor returns the magnitude of the constant by which the operation multiplies or divides
// every element, or 0 without one.
func (v *evidence) factor() float64 {
	switch {
	case v.among("mul_scalar", "div_scalar"):
		f := v.largest / v.in[0].AbsMax
		if v.op == "div_scalar" {
			f = 1 / f
		}
		return f
	case v.among("mul") && len(v.in) == 2:
		for i, c := range v.in {
			if c.Count == 1 && v.in[1-i].Count > 1 {
				return c.AbsMax
			}
		}
	}
	return 0
}

// over reports whether the result is finite in float64 but too large for its dtype.
func (v *evidence) over() bool { return v.largest > v.limit && !math.IsInf(v.largest, 0) }

func (v *evidence) among(ops ...string) bool { return slices.Contains(ops, v.op) }

func (v *evidence) zeros() bool {
	return slices.ContainsFunc(v.in, func(c tensor.Counts) bool { return c.Zeros > 0 })
}

// cause is one way in which inf or NaN arises.
type cause struct {
	code  string
	finds func(v *evidence) bool // predicate; nil if the cause is assigned elsewhere
	why   string
	cure  string
}

// causes are tried in this order, and the first match is chosen. In their texts OP stands for
// the operation, OF for the operation it differentiates, DTYPE for the result's dtype,
// SCALE for the loss scale, CONSTANT for the factor or divisor, and MOST for the largest magnitude
// that it keeps in range.
var causes = []cause{
	{"parameter", nil, "the parameter was not finite before the run", "restore an earlier checkpoint; an earlier step made it non-finite, either without a GradScaler or in the update itself: run diagnose.Overflow on that step (diagnose.NewRewind finds it)"},
	{"buffer", nil, "the buffer, a running statistic, was not finite before the run: it took in a batch with inf and never recovers (pytorch issue 115500)", "reset it to its initial values, or restore a checkpoint; then run diagnose.Overflow on the step in which it happens"},
	{"stale-gradient", nil, "the gradient was not finite before the step, and adding to it cannot make it finite", "call opt.ZeroGrad() before each Backward, after skipped steps too"},
	{"data", nil, "the value was already non-finite in the input data", "inspect each batch with x.Stats() and x.IsFinite(); drop or repair rows, and divide by a standard deviation only where it is not 0"},
	{"derivative", nil, "the derivative of OF is not finite at its operand", "keep the operand away from that point: add a small number under the root or to the divisor, or call Clamp before the logarithm"},
	{"scaled-output", nil, "an output that is not a scalar was multiplied by the loss scale in DTYPE, whose range the scale alone may exceed", "reduce the loss to a scalar before scaler.Scale (with Mean, or a loss from package nn), or cast it to float32"},

	{"update", func(v *evidence) bool { return v.param }, "the parameter update overflows: OP divides by 0, or the learning rate is too large", "keep parameters and optimizer state in float32 (an eps of 1e-8 is 0 in float16, so Adam divides by 0), or lower the learning rate"},
	{"penalty", func(v *evidence) bool { return v.combined && v.over() && v.scale > 1 }, "gradients were combined while still multiplied by the loss scale SCALE", "unscale them first: multiply the results of tensor.GradGraph by 1/scaler.CurrentScale(), out of place, then combine them under amp.Autocast"},
	{"loss-scale", func(v *evidence) bool { return v.e.Backward && v.over() && v.scale > 1 && v.largest/v.scale <= v.limit }, "the gradient is multiplied by the loss scale SCALE; unscaled, it would fit in DTYPE", "use a GradScaler, which skips such steps and lowers the scale, or start from a smaller scale with amp.InitScale"},
	{"large-gradient", func(v *evidence) bool { return v.e.Backward && v.over() }, "the gradient exceeds the range of DTYPE at any loss scale", "make it smaller at its source: use mean instead of sum in the loss, weight the loss less, or compute OF in float32 with amp.Float16.With(\"OF\", amp.FP32); bfloat16 can hold it"},
	{"derivative", func(v *evidence) bool { return v.e.Backward }, "the derivative of OF is not finite at that point, not even in float64", "keep the operand away from 0: add an eps before Sqrt, avoid Norm of an all-zero tensor, call Clamp before Log"},

	{"mask", func(v *evidence) bool { return v.negative && v.masks() }, "the mask's large negative value is -inf in DTYPE; softmax returns NaN for a fully masked row", "use MaskedFill(mask, math.Inf(-1)) and keep at least one element unmasked in each row, or mask with -tensor.FInfo(tensor.Float16).Max"},
	{"cast", func(v *evidence) bool { return v.op == "cast" && v.over() }, "the value exceeds the range of DTYPE at any loss scale", "make it smaller beforehand (a normalisation layer, a smaller initialisation, a lower learning rate), keep FOR in float32 with amp.Float16.With(\"FOR\", amp.FP32), or train in bfloat16"},
	{"exp", func(v *evidence) bool { return v.among("exp", "exp2", "expm1", "cosh", "sinh", "logit") }, "OP exceeds the range of DTYPE: float16 ends at exp(11.09), float32 at exp(88.7)", "subtract the largest element first, as Softmax, LogSoftmax and LogSumExp do; under amp.Autocast, exp runs in float32"},
	{"eps", func(v *evidence) bool {
		return v.lost && v.zeros() && v.among("div", "log", "log2", "log10", "reciprocal", "rsqrt", "pow")
	}, "the small number meant to keep OP away from 0 is lost: in float16 it rounds to 0, as 1e-8 does", "choose an eps that is not 0 in float16 (1e-6 is not, 1e-8 is), or compute this in float32"},
	{"log", func(v *evidence) bool { return v.among("log", "log2", "log10", "log1p", "xlogy", "logit") }, "the logarithm of 0 or of a negative number: a probability rounded to 0, or 1 minus a probability rounded to 1 (sigmoid(8.4) is 1 in float16)", "compute it from the logits with LogSoftmax, CrossEntropy, LogSigmoid or BinaryCrossEntropyWithLogits, or call Clamp first"},
	{"factor", func(v *evidence) bool { return v.over() && v.factor() > 0 }, "every element is TIMES the constant CONSTANT, and only those up to MOST stay within the range of DTYPE", "choose a smaller factor or a larger divisor, apply it in float32 (call x.To(tensor.Float32) first), or make the operand smaller before it"},
	{"division", func(v *evidence) bool { return v.among("div", "div_scalar", "reciprocal", "rsqrt") }, "OP divides by 0 or by nearly 0", "add a number that DTYPE can represent (1e-6, not 1e-8) to the divisor, or call Clamp on it"},
	{"root", func(v *evidence) bool { return v.among("sqrt") }, "the square root of a negative number, possibly a 0 that rounding made negative", "call Clamp with a lower bound of 0 first"},
	{"square", func(v *evidence) bool {
		return v.over() && v.among("square", "pow", "mul", "mul_scalar", "addcmul", "hypot")
	}, "a product of elements exceeds the range of DTYPE: 256² does in float16", "compute it in float32: call x.To(tensor.Float32) first, or use pow or norm, which run in float32 under amp.Autocast"},
	{"reduction", func(v *evidence) bool { return v.over() && v.reduces() }, "a sum over many elements, or of their squares, exceeds the range of DTYPE", "reduce in float32: under amp.Autocast, which runs reductions in float32, or with x.SumAs(tensor.Float32) or x.To(tensor.Float32); or use mean instead of sum"},
	{"product", func(v *evidence) bool {
		return v.over() && (amp.Listed(v.e.Op) == amp.LowerPrecision || v.among("conv", "conv_transpose"))
	}, "the sums of products exceed the range of DTYPE; no loss scale helps, because this precedes the loss", "make the activations smaller (a normalisation layer before it, a smaller initialisation, clipping), keep it in float32 with amp.Float16.With(\"OP\", amp.FP32), or train in bfloat16"},
	{"range", func(v *evidence) bool { return v.over() }, "the result exceeds the range of DTYPE", "keep it in float32 with amp.Float16.With(\"OP\", amp.FP32), or make its operands smaller"},
	{"undefined", func(*evidence) bool { return true }, "OP has no finite value at that point, not even in float64", "check the ranges of its operands above"},
}

var reductions = []string{"sum", "mean", "norm", "linalg_vector_norm", "frobenius_norm", "linalg_matrix_norm", "var", "std", "prod", "cumsum", "cumprod", "logcumsumexp", "logsumexp", "nansum", "dot", "vdot",
	"dist", "cdist", "pdist", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "batch_norm_stats", "batch_norm", "layer_norm", "group_norm", "instance_norm", "rms_norm"}

func (v *evidence) reduces() bool { return v.among(reductions...) }

// masks reports whether the result looks like a mask: an infinity that was requested, or a
// power of ten that stands in for it.
func (v *evidence) masks() bool {
	if !v.among("cast", "masked_fill", "where", "add", "add_scalar", "mul", "mul_scalar", "sub", "rsub", "div", "log", "triu", "tril") {
		return false
	}
	if v.asked() {
		return true
	}
	power := math.Log10(v.largest)
	return v.largest >= 1e6 && !math.IsInf(v.largest, 0) && math.Abs(power-math.Round(power)) < 1e-3
}

// asked reports whether the operation was given the infinity as an argument.
func (v *evidence) asked() bool {
	return math.IsInf(v.largest, 0) && v.among("masked_fill", "where")
}

// classify infers the cause of an origin from its operation.
func (a *tracker) classify(b *NonFinite, e *tensor.Event, r *result) {
	v := &evidence{e: e, op: e.Op.Name, scale: 1, limit: math.Inf(1), largest: largest64(e)}
	if e.Out.DType.IsFloat() {
		v.limit = tensor.FInfo(e.Out.DType).Max
	}
	if r.gradient {
		v.scale = a.scale
		v.combined = r.combined
	}
	for _, t := range e.Operands {
		v.in = append(v.in, t.Counts())
		of := a.results[t.ID()]
		for of != nil && (of.view != nil || of.Op == "cast") {
			if of = of.view; of == nil {
				break
			}
		}
		v.lost = v.lost || a.stuck(of)
	}
	v.negative = b.NaNs == 0
	for _, x := range e.Result.Float64s() {
		v.negative = v.negative && !math.IsInf(x, 1)
	}
	for _, p := range a.params {
		v.param = v.param || e.InPlace && p.Tensor.ID() == e.Out.ID
	}
	b.Largest, b.Scale, b.limit, b.operands = v.largest, v.scale, v.limit, v.in
	b.intended = v.negative && v.asked()
	b.factor = v.factor()
	b.Cause = causes[slices.IndexFunc(causes, func(c cause) bool { return c.finds != nil && c.finds(v) })].code
}

// stuck reports whether a result is a half-precision sum that left zeros of an operand at zero.
func (a *tracker) stuck(r *result) bool {
	if r == nil || r.Op != "add_scalar" && r.Op != "add" || len(r.in) == 0 || !half(r.DType) {
		return false
	}
	before := a.results[r.in[0]]
	return r.Counts.Zeros > 0 && (before == nil || before.Counts.Zeros == r.Counts.Zeros)
}

// word writes the sentences about what happened and what to do.
func (b *NonFinite) word() {
	i := slices.IndexFunc(causes, func(c cause) bool { return c.code == b.Cause })
	times, most := "multiplied by", b.limit/b.factor
	if b.Op == "div_scalar" {
		times, most = "divided by", b.limit*b.factor
	}
	words := strings.NewReplacer("OP", b.Op, "OF", cmp.Or(b.Of, b.Op), "FOR", cmp.Or(b.For, "the operation"), "DTYPE", b.Out.String(), "SCALE", scaleText(b.Scale),
		"TIMES", times, "CONSTANT", fmt.Sprintf("%.4g", b.factor), "MOST", number(most))
	b.What = b.amount()
	switch over := b.Largest > b.limit && !math.IsInf(b.Largest, 0); {
	case over && len(b.operands) > 0:
		b.What += fmt.Sprintf(". %s; the largest result would be %s, and %v ends at %s", reaches(b.operands), number(b.Largest), b.Out, number(b.limit))
	case over:
		b.What += fmt.Sprintf("; the largest would be %s, and %v ends at %s", number(b.Largest), b.Out, number(b.limit))
	case len(b.operands) > 0:
		b.What += " (operands: " + ranges(b.operands) + ")"
	}
	b.What += ": " + words.Replace(causes[i].why)
	if b.Grew != nil {
		b.What += "; it has been too large since " + b.Grew.String()
	}
	b.Cure = words.Replace(causes[i].cure)
	if b.Harmless {
		b.Cure = harmlessly(b)
	}
}

// harmlessly returns the advice for a scale that the scaler lowers without help.
func harmlessly(b *NonFinite) string {
	return fmt.Sprintf("nothing: the scaler skipped the step and lowers the scale from %s; amp.InitScale(%s), which leaves a factor of %d before overflow, would avoid the skipped step; if steps are skipped repeatedly, find out why these gradients are large", scaleText(b.Scale), literal(staticScale(b.Largest/b.Scale, b.limit)), headroom)
}

// amount returns the numbers of inf and NaN elements as text.
func (b *NonFinite) amount() string {
	all, noun := size(b.Shape), "result"
	if b.Op == "" || b.Cause == "data" {
		noun = "element"
	}
	n, kind := b.Infs+b.NaNs, "inf"
	switch {
	case b.Infs == 0:
		kind = "NaN"
	case b.NaNs > 0:
		kind = fmt.Sprintf("inf or NaN (%s and %s)", text.Thousands(b.Infs), text.Thousands(b.NaNs))
	}
	verb := "are"
	if n == 1 {
		verb = "is"
	}
	return fmt.Sprintf("%s of %s %s %s", text.Thousands(n), text.Count(all, noun), verb, kind)
}

// reaches writes the largest magnitudes of operands: "both operands reach 2¹²".
func reaches(list []tensor.Counts) string {
	var parts []string
	for _, c := range list {
		if c.AbsMax > 0 {
			parts = append(parts, power(c.AbsMax))
		} else {
			parts = append(parts, span(c))
		}
	}
	switch {
	case len(parts) == 1:
		return "The operand reaches " + parts[0]
	case len(parts) == 2 && parts[0] == parts[1]:
		return "Both operands reach " + parts[0]
	}
	return "The operands reach " + strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
}

// random operations differ at each call and advance their generator.
var random = []string{"dropout", "alpha_dropout", "rand", "bernoulli", "multinomial", "normal"}

// largest64 returns the largest magnitude of an operation's result in float64: inf or NaN
// if that is not finite, NaN where it cannot be computed.
func largest64(e *tensor.Event) (most float64) {
	defer func() {
		if recover() != nil {
			most = math.NaN()
		}
	}()
	values := e.Operands[0].Float64s()
	if e.Op.Name != "cast" {
		if slices.Contains(random, e.Op.Name) || e.InPlace {
			return math.NaN()
		}
		if values = rerun64(e); values == nil {
			return math.NaN()
		}
	}
	for _, x := range values {
		if !(math.Abs(x) <= most) { // NaN propagates
			most = math.Abs(x)
		}
	}
	return most
}
