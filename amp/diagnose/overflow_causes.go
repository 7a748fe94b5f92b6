package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"halfnote/tensor"
)

// evidence is what a cause is judged by.
type evidence struct {
	e        *tensor.Event
	op       string
	in       []tensor.Counts // of the operands
	largest  float64         // magnitude of the result in float64: inf or NaN where it is not finite either, NaN where it is not known
	limit    float64         // the largest number of the result's dtype
	scale    float64
	negative bool // all that is infinite is below 0
	lost     bool // an operand is 0 after something was added to it
	combined bool // it is computed from gradients that carry the scale, by more than the derivatives of a loss
	param    bool // it changes a parameter
}

// over tells whether the result is finite in float64 and too large for its dtype.
func (v *evidence) over() bool { return v.largest > v.limit && !math.IsInf(v.largest, 0) }

func (v *evidence) among(ops ...string) bool { return slices.Contains(ops, v.op) }

func (v *evidence) zeros() bool {
	return slices.ContainsFunc(v.in, func(c tensor.Counts) bool { return c.Zeros > 0 })
}

// cause is one way for inf and NaN to be born.
type cause struct {
	code  string
	finds func(v *evidence) bool // nil: judged elsewhere
	why   string
	cure  string
}

// causes are looked at in this order; the first that matches is it. In their texts OP
// stands for the operation, OF for the one that it derives, DTYPE for the result's dtype,
// SCALE for the loss scale.
var causes = []cause{
	{"parameter", nil, "the parameter was not finite before the run", "go back to a checkpoint from before; it became so in an earlier step, without a GradScaler or by the update itself: run diagnose.Overflow on that step (diagnose.NewRewind finds it)"},
	{"buffer", nil, "the buffer, a running statistic, was not finite before the run: a batch with inf came by, and it never forgets one (pytorch issue 115500)", "set it to its start values, or go back to a checkpoint; then run diagnose.Overflow on the step in which it happens"},
	{"stale-gradient", nil, "the gradient was not finite before the step, and what is added to it stays so", "call opt.ZeroGrad() before each Backward, after skipped steps too"},
	{"data", nil, "it came from outside: no operation of the step has made it", "look at the data: tensor.Stats and Isfinite of each batch; drop or repair rows, and divide by a standard deviation only where it is not 0"},
	{"derivative", nil, "the derivative of OF is not finite at its operand", "keep the operand away from there: a small number added under the root or to the divisor, Clamp before the logarithm"},
	{"scaled-output", nil, "an output with dimensions times the loss scale, in DTYPE: the scale alone may exceed what that holds", "reduce the loss to one number before scaler.Scale (Mean, or a loss of package nn), or cast it to float32"},

	{"update", func(v *evidence) bool { return v.param }, "the update of the parameter overflows: OP divides by 0, or the rate is too large", "keep parameters and optimizer in float32 (an eps of 1e-8 is 0 in float16, so that Adam divides by 0), or lower the learning rate"},
	{"penalty", func(v *evidence) bool { return v.combined && v.over() && v.scale > 1 }, "gradients that still carry the loss scale SCALE are combined", "unscale them first: multiply the results of tensor.GradGraph by 1/scaler.CurrentScale(), out of place, and combine them under amp.Autocast"},
	{"loss-scale", func(v *evidence) bool { return v.e.Backward && v.over() && v.scale > 1 && v.largest/v.scale <= v.limit }, "the gradient carries the loss scale SCALE; without it DTYPE would hold it", "let a GradScaler choose the scale, which skips such steps and lowers it, or give a smaller one: amp.InitScale"},
	{"large-gradient", func(v *evidence) bool { return v.e.Backward && v.over() }, "the gradient exceeds DTYPE whatever the loss scale", "make it smaller where it is made: mean in place of sum in the loss, a smaller weight of the loss, or compute OF in float32: amp.Float16.With(\"OF\", tensor.Raise); bfloat16 holds it"},
	{"derivative", func(v *evidence) bool { return v.e.Backward }, "the derivative of OF is not finite there, in float64 neither", "keep the operand away from 0: (x+eps).Sqrt(), x.Norm() of what is not all 0, Clamp before Log"},

	{"mask", func(v *evidence) bool { return v.negative && v.masks() }, "a mask's large negative number is -inf in DTYPE; a row of which all is masked becomes NaN in softmax", "mask with MaskedFill(mask, math.Inf(-1)) and leave no row without an element, or take tensor.FInfo(tensor.Float16).Min"},
	{"cast", func(v *evidence) bool { return v.op == "cast" && v.over() }, "the value is larger than DTYPE holds, whatever the loss scale", "make it smaller before (a normalisation layer, a smaller initialisation, a smaller rate), keep FOR in float32 with amp.Float16.With(\"FOR\", tensor.Raise), or train in bfloat16"},
	{"exp", func(v *evidence) bool { return v.among("exp", "exp2", "expm1", "cosh", "sinh", "logit") }, "OP grows past DTYPE: float16 ends at exp(11.09), float32 at exp(88.7)", "subtract the largest element first, as Softmax, LogSoftmax and LogSumExp do; under amp.Autocast exp runs in float32"},
	{"eps", func(v *evidence) bool {
		return v.lost && v.zeros() && v.among("div", "log", "log2", "log10", "reciprocal", "rsqrt", "pow")
	}, "the small number that was to keep OP away from 0 is lost: added to 0 in float16 it is 0, as 1e-8 is", "take an eps that float16 has (1e-6 is, 1e-8 is not), or compute this in float32"},
	{"log", func(v *evidence) bool { return v.among("log", "log2", "log10", "log1p", "xlogy", "logit") }, "the logarithm of 0 or of a negative number: a probability that was rounded to 0, or 1 minus one that was rounded to 1 (sigmoid(8.4) is 1 in float16)", "compute it from the logits: LogSoftmax, CrossEntropy, LogSigmoid, BCEWithLogits; or Clamp before"},
	{"division", func(v *evidence) bool { return v.among("div", "div_scalar", "reciprocal", "rsqrt") }, "OP divides by 0 or by what is nearly 0", "add a number that DTYPE has (1e-6, not 1e-8) to the divisor, or Clamp it"},
	{"root", func(v *evidence) bool { return v.among("sqrt") }, "the root of a negative number, which rounding may have made of a 0", "Clamp at 0 before"},
	{"square", func(v *evidence) bool {
		return v.over() && v.among("square", "pow", "mul", "mul_scalar", "addcmul", "hypot")
	}, "a product of elements exceeds DTYPE: 256² does in float16", "compute it in float32: x.To(tensor.Float32) first, or pow and norm under amp.Autocast, which run in float32"},
	{"reduction", func(v *evidence) bool { return v.over() && v.reduces() }, "a sum over many elements, or of their squares, exceeds DTYPE", "reduce in float32: under amp.Autocast, where this list runs so, or with tensor.SumAs and x.To(tensor.Float32); mean in place of sum"},
	{"product", func(v *evidence) bool {
		return v.over() && (v.e.Op.Category == tensor.Lower || v.among("conv", "conv_transpose"))
	}, "the sums of products exceed DTYPE: no loss scale helps, for this is before the loss", "make activations smaller (a normalisation layer before it, a smaller initialisation, clipping), keep it in float32 with amp.Float16.With(\"OP\", tensor.Raise), or train in bfloat16"},
	{"range", func(v *evidence) bool { return v.over() }, "the result exceeds DTYPE", "keep it in float32 with amp.Float16.With(\"OP\", tensor.Raise), or make its operands smaller"},
	{"undefined", func(*evidence) bool { return true }, "OP has no finite value there, in float64 neither", "look at its operands' ranges above"},
}

var reductions = []string{"sum", "mean", "norm", "linalg_vector_norm", "frobenius_norm", "linalg_matrix_norm", "var", "std", "prod", "cumsum", "cumprod", "logcumsumexp", "logsumexp", "nansum", "dot", "vdot",
	"dist", "cdist", "pdist", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "batch_norm_stats", "batch_norm", "layer_norm", "group_norm", "instance_norm", "rms_norm"}

func (v *evidence) reduces() bool { return v.among(reductions...) }

// masks tells whether the result looks like a mask's: an infinity that was asked for, or
// a power of ten that stands for it.
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

// asked tells whether an infinity is what the operation was given.
func (v *evidence) asked() bool {
	return math.IsInf(v.largest, 0) && v.among("masked_fill", "where")
}

// classify judges a birth by the operation that it is of.
func (a *autopsy) classify(b *Birth, e *tensor.Event, r *result) {
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
	b.Cause = causes[slices.IndexFunc(causes, func(c cause) bool { return c.finds != nil && c.finds(v) })].code
}

// stuck tells whether a result is a sum that left zeros of an operand at zero, in half.
func (a *autopsy) stuck(r *result) bool {
	if r == nil || r.Op != "add_scalar" && r.Op != "add" || len(r.in) == 0 || !half(r.DType) {
		return false
	}
	before := a.results[r.in[0]]
	return r.Counts.Zeros > 0 && (before == nil || before.Counts.Zeros == r.Counts.Zeros)
}

// word says in words what happened and what to do.
func (b *Birth) word() {
	i := slices.IndexFunc(causes, func(c cause) bool { return c.code == b.Cause })
	words := strings.NewReplacer("OP", b.Op, "OF", cmp.Or(b.Of, b.Op), "FOR", cmp.Or(b.For, "the operation"), "DTYPE", b.Out.String(), "SCALE", scaleText(b.Scale))
	b.What = b.amount()
	if len(b.operands) > 0 {
		b.What += ", from " + ranges(b.operands)
	}
	if b.Largest > b.limit && !math.IsInf(b.Largest, 0) {
		b.What += fmt.Sprintf(", the largest would be %.6g and %v ends at %.6g", b.Largest, b.Out, b.limit)
	}
	b.What += ": " + words.Replace(causes[i].why)
	if b.Grew != nil {
		b.What += "; it is too large since " + b.Grew.String()
	}
	b.Cure = words.Replace(causes[i].cure)
	if b.Harmless {
		b.Cure = harmlessly(b)
	}
}

// harmlessly says what to do about a scale that the scaler lowers by itself.
func harmlessly(b *Birth) string {
	fits := b.Scale // the largest power of two with which it is finite
	for fits > 1 && b.Largest/b.Scale*fits > b.limit {
		fits /= 2
	}
	return fmt.Sprintf("nothing need be done: the scaler has skipped the step and lowers the scale from %s; amp.InitScale(%g) would lose no step to this; if steps are skipped again and again, look at what makes these gradients large", scaleText(b.Scale), fits)
}

// amount says how many elements are inf and NaN.
func (b *Birth) amount() string {
	of := fmt.Sprintf(" of %s", count(size(b.Shape), "element"))
	switch {
	case b.NaNs == 0:
		return fmt.Sprintf("%d inf", b.Infs) + of
	case b.Infs == 0:
		return fmt.Sprintf("%d NaN", b.NaNs) + of
	}
	return fmt.Sprintf("%d inf and %d NaN", b.Infs, b.NaNs) + of
}

// random operations give something else each time, and move their generator.
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
		if !(math.Abs(x) <= most) { // NaN stays
			most = math.Abs(x)
		}
	}
	return most
}
