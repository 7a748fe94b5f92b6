package diagnose

import (
	"math"
	"slices"

	"halfnote/amp/trace"
	"halfnote/tensor"
)

// Outcome is the outcome of a parameter's gradient.
type Outcome string

// The outcomes.
const (
	Preserved  Outcome = "preserved"
	Flushed    Outcome = "flushed"    // not 0 in float64, rounded to 0 here: 5 % of the elements or more
	Subnormal  Outcome = "subnormal"  // arrives, but so small that half of the elements or more have fewer bits
	Overflowed Outcome = "overflowed" // finite in float64, inf or NaN here
	DeadReLU   Outcome = "dead ReLU"  // 0 in float64 too: the activation blocks it
	Absorbed   Outcome = "absorbed"   // wrong: inf in the forward pass became finite numbers, as x/inf is 0
	Saturated  Outcome = "saturated"  // nearly 0 in float64 too: the activation is flat there
	Cut        Outcome = "cut"        // 0 in float64 too: something else multiplies it by 0
	Zero       Outcome = "zero"       // 0 in float64 too and harmless, such as that of a bias before a normalisation
	Unused     Outcome = "unused"     // received no gradient
)

// LayerGradient is a parameter with its gradient.
type LayerGradient struct {
	Param    string
	Module   string
	DType    tensor.DType // dtype in which the gradient was computed
	Elements int
	Zeros    int // elements that are 0 in float64 too
	Flushed  int // elements that are 0 only here
	Subnormal,
	Infinite int
	Lowest, Highest float64 // nonzero magnitudes in float64, times the loss scale; NaN if there are none
	Rescue          float64 // power of two by which the loss scale must grow for all but one in a thousand to survive; 1 if they do
	Outcome         Outcome
	Loss            *Underflow // where it was lost, without an operation if no single one did; or nil
}

// FlushedShare returns the share of the elements with a nonzero gradient that were flushed to
// 0.
func (l LayerGradient) FlushedShare() float64 { return portion(l.Flushed, l.Elements-l.Zeros) }

// SubnormalShare returns the share of the elements with a nonzero gradient that are subnormal.
func (l LayerGradient) SubnormalShare() float64 { return portion(l.Subnormal, l.Elements-l.Zeros) }

// InfiniteShare returns the share of the elements with a nonzero gradient that are not finite.
func (l LayerGradient) InfiniteShare() float64 { return portion(l.Infinite, l.Elements-l.Zeros) }

// ZeroShare returns the share of the elements whose gradient is 0 in float64 too.
func (l LayerGradient) ZeroShare() float64 { return portion(l.Zeros, l.Elements) }

func portion(n, all int) float64 {
	if all == 0 {
		return 0
	}
	return float64(n) / float64(all)
}

// Underflow is a place where gradients are lost: a derivative, or a forward operation that rounds
// factors of derivatives to 0.
type Underflow struct {
	Forward     bool
	Op, Of      string // operation, and the one that it differentiates; in the forward pass, itself
	trace.Place        // place of Of
	Source      string // cell line that called Of
	DType       tensor.DType
	Outcome     Outcome
	Elements    int         // elements that are not 0 in float64
	Share       float64     // share of those that is lost here
	Inf         *Occurrence // for Absorbed, the operation that overflowed; else nil
	order       int
}

// GradientsReport is the result of Gradients.
type GradientsReport struct {
	Layers     []LayerGradient // layers in order of use
	Underflows []*Underflow    // underflows in order of execution, backward from the loss
	First      *Underflow      // first underflow that caused a layer's loss, or nil

	Scale   float64 // loss scale of the run
	Rescue  float64 // power of two by which the scale must grow for all but one in a thousand of the gradients on the way to survive; 1 if they do
	Ceiling float64 // largest power of two by which the scale may grow without overflow; less than 1 after an overflow
	// Static is the recommended loss scale: that of [Band], for all gradients of this step in
	// low precision. It is the default scale of amp.NewGradScaler, 65,536, where that rescues the gradients
	// and leaves a factor of 8 before overflow. It may be too small to rescue
	// the smallest gradients if their range is too wide. It is 0 without such gradients.
	Static float64

	recorded, torch bool // of a recording, of a program in PyTorch
}

// The minimum shares of lost gradients for a layer to count as dying, and of subnormal ones to count as subnormal.
const (
	lost      = 0.05
	imprecise = 0.5
)

// Gradients runs step, which trains for one or a few steps, and compares the gradient of each
// parameter of net with that of the same step in float64. It reports the share flushed to zero,
// where this happened first, and the loss scale that would have preserved it, as distinct from
// gradients that are zero in float64 too, for example behind a dead ReLU or a saturated
// sigmoid. The training step takes effect, needs no changes, and has the same results as
// without the diagnosis.
//
// step contains what a step of the run contains. It must call Backward; the scaler and the optimizer
// are there if the run has them. Without a scaler the loss scale is 1:
//
//	scaler, opt := amp.NewGradScaler(), optim.NewSGD(nn.Parameters(net), 0.1)
//	diagnose.Gradients(net, func() {
//		var loss *tensor.Tensor
//		amp.Autocast(amp.Float16, func() { loss = nn.MSELoss(net.Forward(x), y) })
//		scaler.Scale(loss).Backward() // loss.Backward() shows why a scaler is needed
//		scaler.Step(opt)
//		scaler.Update()
//		opt.ZeroGrad()
//	})
func Gradients(net any, step func()) *GradientsReport {
	needStep("Gradients", step != nil)
	needLayers("Gradients", net, "GradientsIn")
	w := newWake(net)
	defer w.watch()()
	step()
	return w.report()
}

// Preserved reports whether every parameter received its gradient.
func (r *GradientsReport) Preserved() bool {
	return !slices.ContainsFunc(r.Layers, func(l LayerGradient) bool { return !l.Outcome.well() })
}

func (o Outcome) well() bool { return o == Preserved || o == Subnormal || o == Zero }

// report evaluates the observations.
func (w *wake) report() *GradientsReport {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := &GradientsReport{Scale: w.scale, Rescue: w.all.rescue(), Ceiling: w.all.ceiling()}
	for _, d := range w.underflows {
		if d.Outcome != Flushed || d.Share >= lost { // smaller ones matter only where several add up
			r.Underflows = append(r.Underflows, d)
		}
	}
	if w.all.margin > 0 {
		need, top := w.scale*w.all.enough(), staticScale(1/(w.all.margin*w.scale), 1)
		if top == 1<<maxScale && need*headroom <= w.all.margin*w.scale {
			top = max(top, need)
		}
		r.Static = recommended(need, top)
	}
	var first *Underflow
	for _, p := range w.params {
		l := w.layers[p.Tensor.ID()]
		slices.SortFunc(w.of[l], func(a, b *Underflow) int { return a.order - b.order })
		l.judge(w.of[l])
		if l.Outcome == Unused && w.backwards == 0 {
			continue
		}
		r.Layers = append(r.Layers, l.LayerGradient)
		if l.Loss != nil && (first == nil || l.Loss.order < first.order) {
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

// judge sets the outcome of a layer from the underflows on the way to it: the cause is the first underflow
// that takes at least half as much as the worst one.
func (l *layer) judge(underflows []*Underflow) {
	blame := func(outcomes ...Outcome) bool {
		worst := 0.0
		for _, d := range underflows {
			if slices.Contains(outcomes, d.Outcome) {
				worst = max(worst, d.Share)
			}
		}
		for _, d := range underflows {
			if slices.Contains(outcomes, d.Outcome) && d.Share >= worst/2 {
				l.Outcome, l.Loss = d.Outcome, d
				return true
			}
		}
		return false
	}
	// arrives blames the gradient itself, if no operation on its way loses as much.
	arrives := func(o Outcome, share float64) {
		l.Outcome = o
		l.Loss = &Underflow{Place: trace.Place{Param: l.Param, Module: l.Module}, DType: l.DType, Outcome: o, Elements: l.Elements - l.Zeros, Share: share, order: math.MaxInt}
	}
	l.Rescue = l.seen.rescue()
	switch {
	case l.Elements == 0:
		l.Outcome = Unused
	case l.Infinite > 0:
		arrives(Overflowed, l.InfiniteShare())
		blame(Overflowed)
	case l.wrong >= leastOfGradient && blame(Absorbed):
	case l.FlushedShare() >= lost:
		arrives(Flushed, l.FlushedShare())
		blame(Flushed, Saturated)
	case l.Zeros == l.Elements:
		l.Outcome = Zero
		blame(DeadReLU, Saturated, Cut)
	case slices.ContainsFunc(underflows, func(d *Underflow) bool { return d.Outcome == Saturated && d.Share > 0.9 }):
		blame(Saturated)
	case l.SubnormalShare() >= imprecise:
		l.Outcome = Subnormal
	default:
		l.Outcome = Preserved
	}
}
