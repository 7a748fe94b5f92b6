package experiment

import (
	"fmt"
	"math"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// small is a linear layer with a scaler of scale 1024, for correct and wrong steps.
type small struct {
	layer  *nn.Linear
	opt    *optim.Optimizer
	scaler *amp.GradScaler
	x, y   *tensor.Tensor
}

func newSmall(seed int64) *small {
	g := tensor.NewGenerator(seed)
	l := nn.NewLinear(8, 8, nn.InitFrom(g))
	return &small{l, optim.NewSGD(nn.Parameters(l), 1), amp.NewGradScaler(amp.InitScale(1024)), g.Randn(16, 8), g.Randn(16, 8)}
}

func (s *small) loss(from, to int) (loss *tensor.Tensor) {
	amp.Autocast(amp.Float16, func() {
		loss = nn.MSELoss(s.layer.Forward(s.x.Slice(0, from, to)), s.y.Slice(0, from, to))
	})
	return loss
}

func (s *small) norm() float64 { return nn.TotalNorm(s.opt.Params(), 2) }

// UnscaleMidwayReport is the result of [UnscaleMidway].
type UnscaleMidwayReport struct {
	Report
	True  float64 // norm of the gradients of both halves of a batch
	Right float64 // norm if unscaled once, at the end
	Wrong float64 // norm if unscaled after the first half, with the second added scaled
}

// UnscaleMidway accumulates the gradients of two halves of a batch. It unscales them at the end, which
// is correct, or after the first half: then the gradients added later still carry the scale, and the
// sum cannot be repaired.
func UnscaleMidway(seed int64) *UnscaleMidwayReport {
	run := func(midway bool, scale bool) float64 {
		s := newSmall(seed)
		if !scale {
			s.scaler = amp.NewGradScaler(amp.ScalerEnabled(false))
		}
		s.scaler.Scale(s.loss(0, 8).MulScalar(0.5)).Backward()
		if midway {
			s.scaler.Unscale(s.opt)
		}
		s.scaler.Scale(s.loss(8, 16).MulScalar(0.5)).Backward()
		if !midway {
			s.scaler.Unscale(s.opt)
		}
		return s.norm()
	}
	r := &UnscaleMidwayReport{True: run(false, false), Right: run(false, true), Wrong: run(true, true)}
	r.Header = []string{"gradient's norm", "value", "of the true one"}
	r.row("without a scale", r.True, 1.0)
	r.row("unscaled at the end", r.Right, r.Right/r.True)
	r.row("unscaled midway", r.Wrong, r.Wrong/r.True)
	r.Says = fmt.Sprintf("Unscaled midway the accumulated gradient is %.0f times too long; unscaled once, at the end, it is right.", r.Wrong/r.True)
	return r
}

// ClipOrderReport is the result of [ClipOrder].
type ClipOrderReport struct {
	Report
	Before float64 // norm of the applied gradients if clipped before unscaling
	After  float64 // norm of the applied gradients if clipped after unscaling
	Limit  float64
}

// ClipOrder clips gradients to a norm of limit, before and after they are unscaled, and returns the
// norm of the gradients that the optimizer applies: if clipped before, it is limit divided by the
// scale.
func ClipOrder(limit float64, seed int64) *ClipOrderReport {
	run := func(first bool) float64 {
		s := newSmall(seed)
		s.scaler.Scale(s.loss(0, 16)).Backward()
		if first {
			nn.ClipGradNorm(s.opt.Params(), limit)
		}
		s.scaler.Unscale(s.opt)
		if !first {
			nn.ClipGradNorm(s.opt.Params(), limit)
		}
		return s.norm()
	}
	r := &ClipOrderReport{Before: run(true), After: run(false), Limit: limit}
	r.Header = []string{"clipped", "norm of the step"}
	r.row("before Unscale", r.Before)
	r.row("after Unscale", r.After)
	r.Says = fmt.Sprintf("Clipped to %g before Unscale, the gradients' norm is %.3g; after, it is %.3g.", limit, r.Before, r.After)
	return r
}

// PenaltyReport is the result of [PenaltyUnscaled].
type PenaltyReport struct {
	Report
	True     float64 // gradient penalty in float32 without a scale
	Unscaled float64 // penalty under autocast of gradients divided by the scale
	Scaled   float64 // penalty under autocast of scaled gradients
}

// PenaltyUnscaled computes a gradient penalty, the norm of the loss's gradients, under autocast with a
// scaled loss: from gradients that are first divided by the scale, which is correct, and from scaled
// ones, which make the penalty too large by the factor of the scale.
func PenaltyUnscaled(seed int64) *PenaltyReport {
	run := func(policy amp.Policy, scale, divide float64) float64 {
		s := newSmall(seed)
		var loss, penalty *tensor.Tensor
		amp.Autocast(policy, func() { loss = nn.MSELoss(s.layer.Forward(s.x), s.y) })
		grads := tensor.GradGraph(loss.MulScalar(scale), s.opt.Params()...)
		amp.Autocast(policy, func() {
			penalty = tensor.Scalar(0)
			for _, g := range grads {
				penalty = penalty.Add(g.MulScalar(1 / divide).Pow(2).Sum())
			}
			penalty = penalty.Sqrt()
		})
		return penalty.Item()
	}
	r := &PenaltyReport{True: run(amp.Off, 1, 1), Unscaled: run(amp.Float16, 1024, 1024), Scaled: run(amp.Float16, 1024, 1)}
	r.Header = []string{"penalty", "value"}
	r.row("float32, no scale", r.True)
	r.row("float16, scaled by 1024, divided again", r.Unscaled)
	r.row("float16, scaled by 1024", r.Scaled)
	r.Says = fmt.Sprintf("The penalty is %.4g; of unscaled gradients under autocast it is %.4g, of scaled ones %.4g.", r.True, r.Unscaled, r.Scaled)
	return r
}

// TwoOptimizersReport is the result of [TwoOptimizers].
type TwoOptimizersReport struct {
	Report
	Skipped [2]bool
	Moved   [2]bool // the optimizer's parameters changed
	Scale   float64 // scale after the update
}

// TwoOptimizers steps two optimizers with one scaler, the second with an infinite gradient:
// only its own step is skipped, and the scale, which both share, halves.
func TwoOptimizers() *TwoOptimizersReport {
	s := amp.NewGradScaler()
	r := &TwoOptimizersReport{}
	r.Header = []string{"optimizer", "gradient", "step"}
	var opts []*optim.Optimizer
	for range 2 {
		opts = append(opts, optim.NewSGD([]*tensor.Tensor{tensor.Ones(1).RequireGrad()}, 0.5))
	}
	for i, opt := range opts {
		w := opt.Params()[0]
		s.Scale(w.Sum()).Backward()
		if i == 1 {
			w.SetGrad(tensor.Full(math.Inf(1), 1))
		}
		g := w.Grad().Item()
		r.Skipped[i] = s.Step(opt).Skipped
		r.Moved[i] = w.Item() != 1
		what := "taken"
		if r.Skipped[i] {
			what = "skipped"
		}
		r.row(i, g, what)
	}
	s.Update()
	r.Scale = s.CurrentScale()
	r.Says = fmt.Sprintf("Only the optimizer whose gradient overflowed skipped its step; the scale is now %g for both.", r.Scale)
	return r
}

// CastCacheReport is the result of [CastCache].
type CastCacheReport struct {
	Report
	Cached   float64 // gradient of the weight with the cache of casts
	Uncached float64 // gradient of the weight without it
	Casts    [2]int  // numbers of casts of the weight, with and without the cache
}

// CastCache uses a weight twice in a region, each time with a gradient of value: with the
// cache both uses share one cast, where their gradients are added in float16; without it
// they are added in float32. For a value of 60000 the sums are infinity and 120000.
func CastCache(value float64) *CastCacheReport {
	run := func(cache bool) (float64, int) {
		w := tensor.Ones(1, 1).RequireGrad()
		x := tensor.Full(value, 1, 1)
		casts := 0
		stop := tensor.Observe(func(e tensor.Event) {
			if e.InCast && e.In[0].ID == w.ID() {
				casts++
			}
		})
		defer stop()
		var y *tensor.Tensor
		amp.Autocast(amp.Float16.WithCache(cache), func() { y = x.MM(w).Float().Add(x.MM(w).Float()) })
		y.Sum().Backward()
		return w.Grad().Item(), casts
	}
	r := &CastCacheReport{}
	r.Cached, r.Casts[0] = run(true)
	r.Uncached, r.Casts[1] = run(false)
	r.Header = []string{"cache", "gradient of the weight", "casts of the weight"}
	r.row("on", r.Cached, r.Casts[0])
	r.row("off", r.Uncached, r.Casts[1])
	r.Says = fmt.Sprintf("Two gradients of %g add up to %g with the cache, in float16, and to %g without, in float32.", value, r.Cached, r.Uncached)
	return r
}

// PoisoningReport is the result of [Poisoning].
type PoisoningReport struct {
	Report
	Legacy bool // the weight had a gradient with the old cache
	Today  bool // the weight had a gradient with the current cache
}

// Poisoning uses a weight in a region first under NoGrad, as in an evaluation, and then for training.
// PyTorch's cache of casts until 2025 then returned the cast without history, and the weight got no
// gradient (pytorch issues 105211 and 112583, fixed by PR 165068).
func Poisoning() *PoisoningReport {
	run := func(p amp.Policy) bool {
		w := tensor.Ones(4, 4).RequireGrad()
		bias := tensor.Zeros(4).RequireGrad()
		x := tensor.Ones(2, 4)
		var loss *tensor.Tensor
		amp.Autocast(p, func() {
			tensor.NoGrad(func() { x.MM(w) })
			loss = x.MM(w).Add(bias).Sum()
		})
		loss.Backward()
		return w.Grad() != nil
	}
	r := &PoisoningReport{Legacy: run(amp.LegacyCache(amp.Float16)), Today: run(amp.Float16)}
	r.Header = []string{"cache", "the weight has a gradient"}
	r.row("as PyTorch had it", r.Legacy)
	r.row("today", r.Today)
	r.Says = "A weight that was first used under NoGrad got no gradient later in the region; today's cache records every cast."
	return r
}
