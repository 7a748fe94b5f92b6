package experiment

import (
	"fmt"
	"math"

	"halfnote/amp/trace"
	"halfnote/display/chart"
	"halfnote/internal/text"
	"halfnote/tensor"
)

// ScaleRow holds the effect of float16 on gradients under one loss scale.
type ScaleRow struct {
	Scale                         float64
	Zeros, Subnormals, Infinities float64 // shares of the nonzero gradients
}

// LossScaleSweepReport is the result of [LossScaleSweep].
type LossScaleSweepReport struct {
	Report
	Scales  []ScaleRow
	Largest float64 // largest power of two at which no gradient overflows
}

// Lognormal returns n float32 gradients with a distribution like that of deep networks: their
// logarithms are normal around that of median, with deviation sigma.
func Lognormal(n int, median, sigma float64, seed int64) *tensor.Tensor {
	return tensor.NewGenerator(seed).Randn(n).MulScalar(sigma).AddScalar(math.Log(median)).Exp()
}

// LossScaleSweep returns the shares of gradients that float16 flushes to zero, stores with fewer
// digits or makes infinite, under each loss scale: section 3.2 of the paper. The scales are 1, 8,
// 128, 1024 and 65536 by default. Of Lognormal(1000000, 1e-7, 2.5, seed) these flush 31.4, 9.4, 0.77,
// 0.06 and 0.00 %.
func LossScaleSweep(gradients *tensor.Tensor, scales ...float64) *LossScaleSweepReport {
	if len(scales) == 0 {
		scales = []float64{1, 8, 128, 1024, 65536}
	}
	r := &LossScaleSweepReport{}
	r.Header = []string{"loss scale", "zero", "subnormal", "infinite"}
	s := gradients.Stats()
	total := float64(max(s.Count-s.Zeros, 1))
	zeros := chart.Series{Name: "zero", DType: "float16"}
	for _, scale := range scales {
		h := gradients.Detach().Float().MulScalar(scale).Half().Stats()
		row := ScaleRow{scale, float64(h.Zeros-s.Zeros) / total, float64(h.Subnormals) / total, float64(h.Infs-s.Infs) / total}
		r.Scales = append(r.Scales, row)
		zeros.Values = append(zeros.Values, 100*row.Zeros)
		r.row(scale, percent(row.Zeros), percent(row.Subnormals), percent(row.Infinities))
	}
	if s.AbsMax > 0 {
		r.Largest = math.Exp2(math.Floor(math.Log2(65504 / s.AbsMax)))
	}
	if len(r.Scales) > 0 {
		first, last := r.Scales[0], r.Scales[len(r.Scales)-1]
		r.Says = fmt.Sprintf("float16 flushes %s of the gradients to zero at loss scale %s and %s at %s; up to %s none overflows.",
			percent(first.Zeros), scaleText(first.Scale), percent(last.Zeros), scaleText(last.Scale), scaleText(r.Largest))
	}
	r.Figure = chart.Spectrum(gradients.Float32s())
	return r
}

// Histogram holds the shares of a run's numbers in each part of float16's range.
type Histogram struct {
	Values     []float32
	Zeros      float64 // share that is exactly 0, in float64 too
	Flushed    float64 // share that the run itself, in half precision, flushed to 0
	Irrelevant float64 // share below 2^-27, which a scale of 8 does not rescue
	Rescued    float64 // share from 2^-27 to 2^-24, which a scale of 8 rescues
	Subnormal  float64 // share from 2^-24 to 2^-14
	Normal     float64 // share from 2^-14 to 65504
	Overflow   float64 // share above 65504
	Lost       float64 // share of the nonzero numbers that become 0 in float16, or already did
	Largest    float64
}

// GradientHistogramReport is the result of [GradientHistogram].
type GradientHistogramReport struct {
	Report
	Activations Histogram // gradients of activations
	Weights     Histogram // gradients of parameters
}

// kept is the approximate number of gradients of a run that a histogram keeps.
const keptValues = 1 << 21

// GradientHistogram runs step and returns histograms of the gradients of activations and of
// parameters from its backward passes, as in figure 3 of the paper: their shares in each part of
// float16's range, and those that a loss scale of 8 would rescue. Run it in float32, without autocast
// and scaler, to see the effect that float16 would have. A run in half precision flushes gradients to 0
// before they are looked at: they are found by computing the step in float64 too, and counted as
// Flushed, without their magnitudes. net is the model.
func GradientHistogram(net any, step func()) *GradientHistogramReport {
	needed("GradientHistogram", "step", step != nil, "a function that runs a training step")
	var activations, weights gradients
	var shadows trace.Shadows
	half := false // an operation ran in half precision
	take := func(g *gradients, t *tensor.Tensor) {
		if len(g.values) < keptValues && t.DType().IsFloat() {
			g.values = append(g.values, t.Float32s()...)
			if half {
				g.flushed += flushedIn(t.Float32s(), shadows.Values(t))
			}
		}
	}
	var remove []func()
	for _, p := range parameters(net) {
		remove = append(remove, p.RegisterHook(func(g *tensor.Tensor) *tensor.Tensor {
			take(&weights, g)
			return nil
		}))
	}
	stop := tensor.Observe(func(e tensor.Event) {
		if half = half || e.Out.DType.IsFloat() && e.Out.DType.Size() < 4; half {
			shadows.Follow(e)
		}
		if e.Backward && !e.View && !e.InPlace && e.Op.Name != "cast" && e.Of != "cast" {
			take(&activations, e.Result)
		}
	})
	defer func() {
		stop()
		for _, f := range remove {
			f()
		}
	}()
	step()
	r := &GradientHistogramReport{Activations: histogram(activations), Weights: histogram(weights)}
	r.Header = []string{"share of", "gradients of activations", "of parameters"}
	a, w := r.Activations, r.Weights
	r.row("exactly 0", percent(a.Zeros), percent(w.Zeros))
	if half {
		r.row("flushed to 0 by this run", percent(a.Flushed), percent(w.Flushed))
	}
	r.row("below 2^-27", percent(a.Irrelevant), percent(w.Irrelevant))
	r.row("2^-27 to 2^-24: a scale of 8 rescues them", percent(a.Rescued), percent(w.Rescued))
	r.row("2^-24 to 2^-14: subnormal", percent(a.Subnormal), percent(w.Subnormal))
	r.row("normal in float16", percent(a.Normal), percent(w.Normal))
	r.row("above 65504", percent(a.Overflow), percent(w.Overflow))
	r.row("numbers", len(a.Values), len(w.Values))
	r.Figure = chart.Spectrum(a.Values)
	r.Says = fmt.Sprintf("%s of the activations' gradients are exactly 0; float16 flushes %s of the others to 0, and %s of the parameters' gradients.",
		percent(a.Zeros), percent(a.Lost), percent(w.Lost))
	if half {
		r.Figure = r.Figure.Title(fmt.Sprintf("This run in half precision flushed %s of its gradients to 0 itself; the others are those that float16 keeps", percent(a.Flushed)))
		r.Says += " The run was in half precision: it flushed some of them to 0 itself, and rounded others. A run in float32 shows the magnitude of each."
	}
	return r
}

// gradients holds the gradients of a run.
type gradients struct {
	values  []float32
	flushed int // zeros that are not 0 in float64
}

// flushedIn returns the number of zeros that are not 0 in truth, the same values in float64, or 0 if
// those are unknown. What cancelling sums leave over in float64 counts as 0.
func flushedIn(values []float32, truth []float64) (n int) {
	if len(truth) != len(values) {
		return 0
	}
	largest := 0.0
	for _, x := range truth {
		largest = max(largest, math.Abs(x))
	}
	for i, v := range values {
		if v == 0 && math.Abs(truth[i]) > 1e-12*largest {
			n++
		}
	}
	return n
}

func histogram(g gradients) Histogram {
	values := g.values
	h := Histogram{Values: values}
	n, lost, zeros := float64(max(len(values), 1)), 0.0, 0.0
	for _, v := range values {
		switch x := math.Abs(float64(v)); {
		case x == 0:
			zeros++
			h.Zeros += 1 / n
			continue
		case x < 0x1p-27:
			h.Irrelevant += 1 / n
		case x < 0x1p-24:
			h.Rescued += 1 / n
		case x < 0x1p-14:
			h.Subnormal += 1 / n
		case x <= 65504:
			h.Normal += 1 / n
		default:
			h.Overflow += 1 / n
		}
		x := math.Abs(float64(v))
		h.Largest = max(h.Largest, x)
		if x <= 0x1p-25 {
			lost++
		}
	}
	flushed := float64(g.flushed)
	h.Flushed = flushed / n
	h.Zeros = max(h.Zeros-h.Flushed, 0)
	h.Lost = (lost + flushed) / max(n-zeros+flushed, 1)
	return h
}

// scaleText writes a loss scale: large powers of two as 2²⁶.
func scaleText(v float64) string {
	if f, e := math.Frexp(v); f == .5 && e > 11 {
		return text.Power(2, e-1)
	}
	return fmt.Sprintf("%.6g", v)
}
