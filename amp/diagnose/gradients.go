package diagnose

import (
	"math"
	"slices"

	"halfnote/amp/trace"
	"halfnote/tensor"
)

// Fate is what became of a gradient.
type Fate string

// The fates.
const (
	Alive     Fate = "alive"
	Flushed   Fate = "flushed"   // not 0 in float64, rounded to 0 here
	Overflown Fate = "overflown" // finite in float64, inf or NaN here
	DeadReLU  Fate = "dead ReLU" // 0 in float64 too: the activation lets nothing through
	Saturated Fate = "saturated" // all but 0 in float64 too: the activation is flat there
	Cut       Fate = "cut"       // 0 in float64 too: something else multiplies it by 0
	Zero      Fate = "zero"      // 0 in float64 too, as that of a bias before a normalisation, which nobody misses
	Unused    Fate = "unused"    // no gradient came
)

// LayerGradient is a parameter with its gradient.
type LayerGradient struct {
	Param    string
	Module   string
	DType    tensor.DType // that the gradient was computed in
	Elements int
	Zeros    int // 0 in float64 too
	Flushed  int // 0 here only
	Subnormal,
	Infinite int
	Lowest, Highest float64 // magnitudes in float64 that are not 0, the loss scale in them; NaN if there are none
	Rescue          float64 // the power of two by which a loss scale would have to be larger, for all but one in a thousand to survive; 1 if they do
	Fate            Fate
	Loss            *Death // where it got lost, nil if it did not
}

// FlushedShare is the part of the elements with a gradient that have lost it.
func (l LayerGradient) FlushedShare() float64 { return portion(l.Flushed, l.Elements-l.Zeros) }

// ZeroShare is the part of the elements whose gradient is 0 in float64 too.
func (l LayerGradient) ZeroShare() float64 { return portion(l.Zeros, l.Elements) }

func portion(n, all int) float64 {
	if all == 0 {
		return 0
	}
	return float64(n) / float64(all)
}

// Death is where gradients are lost: in a derivative, or in an operation forward that
// rounds to 0 what derivatives multiply by.
type Death struct {
	Forward     bool
	Op, Of      string // the operation, and the one that it derives, forward itself
	trace.Place        // of that
	Source      string // the line of the cell that called that
	DType       tensor.DType
	Fate        Fate
	Elements    int     // that are not 0 in float64
	Share       float64 // of them that are lost here
}

// GradientsReport is what Gradients returns.
type GradientsReport struct {
	Layers []LayerGradient // in the order in which the step used them
	Deaths []*Death        // in the order in which they ran, backward from the loss
	First  *Death          // the first that a layer died of, nil if none did

	Scale   float64 // the loss scale of the run
	Rescue  float64 // the power of two by which it would have to be larger for all but one in a thousand of the gradients on the way to survive; 1 if they do
	Ceiling float64 // the largest power of two by which it may be larger before one overflows; less than 1 if one has
}

// lost is the share of a layer's gradients from which on it counts as dying.
const lost = 0.05

// Gradients runs step, which trains one step or a few, and returns for each parameter of
// net what became of its gradient, beside the gradient that the same step has in float64:
// the share that was flushed to zero, and where that happened first, with the loss scale
// that would have saved it; told apart from what is zero in float64 too, behind a ReLU
// that lets nothing through or a sigmoid that is flat. The step is taken; it need not be
// changed for this, and its numbers do not change.
func Gradients(net any, step func()) *GradientsReport {
	needStep("Gradients", step != nil)
	w := newWake(net)
	defer w.watch()()
	step()
	return w.report()
}

// Alive tells whether no parameter's gradient got lost.
func (r *GradientsReport) Alive() bool {
	return !slices.ContainsFunc(r.Layers, func(l LayerGradient) bool { return !l.Fate.well() })
}

func (f Fate) well() bool { return f == Alive || f == Zero }

// report judges what the wake has seen.
func (w *wake) report() *GradientsReport {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := &GradientsReport{Deaths: w.deaths, Scale: w.scale, Rescue: w.all.rescue(), Ceiling: w.all.ceiling()}
	var first *Death
	for _, p := range w.params {
		l := w.layers[p.Tensor.ID()]
		slices.SortFunc(w.of[l], func(a, b *Death) int { return slices.Index(w.deaths, a) - slices.Index(w.deaths, b) })
		l.judge(w.of[l])
		if l.Fate == Unused && w.backwards == 0 {
			continue
		}
		r.Layers = append(r.Layers, l.LayerGradient)
		if l.Loss != nil && (first == nil || slices.Index(w.deaths, l.Loss) < slices.Index(w.deaths, first)) {
			first = l.Loss
		}
	}
	r.First = first
	order := func(l LayerGradient) int {
		if i, ok := w.used[l.Param]; ok {
			return i
		}
		return math.MaxInt
	}
	slices.SortStableFunc(r.Layers, func(a, b LayerGradient) int { return order(a) - order(b) })
	return r
}

// judge says what became of a layer, with the deaths on the way to it: the first that
// takes at least half of what the worst one takes is what it died of.
func (l *layer) judge(deaths []*Death) {
	died := func(fates ...Fate) bool {
		worst := 0.0
		for _, d := range deaths {
			if slices.Contains(fates, d.Fate) {
				worst = max(worst, d.Share)
			}
		}
		for _, d := range deaths {
			if slices.Contains(fates, d.Fate) && d.Share >= worst/2 {
				l.Fate, l.Loss = d.Fate, d
				return true
			}
		}
		return false
	}
	l.Rescue = l.seen.rescue()
	switch {
	case l.Elements == 0:
		l.Fate = Unused
	case l.Infinite > 0:
		l.Fate = Overflown
		died(Overflown)
	case l.FlushedShare() >= lost:
		if l.Fate = Flushed; !died(Flushed, Saturated) {
			l.Loss = nil
		}
	case l.Zeros == l.Elements:
		if l.Fate = Zero; !died(DeadReLU, Saturated, Cut) {
			l.Loss = nil
		}
	case slices.ContainsFunc(deaths, func(d *Death) bool { return d.Fate == Saturated && d.Share > 0.9 }):
		died(Saturated)
	default:
		l.Fate = Alive
	}
}
