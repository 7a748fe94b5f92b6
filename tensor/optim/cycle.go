package optim

import (
	"cmp"
	"math"
	"slices"
)

// CycleOptions are the options of NewCyclicLR. The zero value holds torch's defaults.
type CycleOptions struct {
	Up, Down      int                     // steps from the lowest to the highest learning rate, 2000 by default, and back; Down is Up by default
	Mode          string                  // "triangular" (the default), "triangular2" or "exp_range"
	Gamma         float64                 // base of exp_range; 1 by default
	Scale         func(x float64) float64 // factor by the cycle's number, from 1, instead of a Mode
	PerStep       bool                    // Scale takes the step's number, from 0
	FixedMomentum bool                    // momentum stays constant; otherwise it falls as the learning rate rises
	Low, High     float64                 // bounds of the momentum; 0.8 and 0.9 by default
}

// NewCyclicLR returns a scheduler that moves learning rates linearly up and down between low
// and high, and momentum, or the first beta, in the opposite direction. It is
// torch.optim.lr_scheduler.CyclicLR: L. Smith, "Cyclical Learning Rates for Training Neural
// Networks" (2017).
func NewCyclicLR(opt *Optimizer, low, high float64, o CycleOptions) *Scheduler {
	up, down := float64(cmp.Or(o.Up, 2000)), float64(cmp.Or(o.Down, o.Up, 2000))
	total, rise := up+down, up/(up+down)
	m := newMomenta("CyclicLR", opt, o.FixedMomentum, cmp.Or(o.Low, 0.8), cmp.Or(o.High, 0.9))
	scale, perStep := o.Scale, o.PerStep
	if scale == nil {
		mode := o.Mode
		check(slices.Contains([]string{"", "triangular", "triangular2", "exp_range"}, mode), "CyclicLR", "mode is %q; want triangular, triangular2 or exp_range", mode)
		perStep = mode == "exp_range"
		scale = func(x float64) float64 {
			switch mode {
			case "triangular2":
				return 1 / math.Pow(2, x-1)
			case "exp_range":
				return math.Pow(cmp.Or(o.Gamma, 1), x)
			}
			return 1
		}
	}
	for _, g := range opt.groups {
		g.LR = low
	}
	return newScheduler("CyclicLR", opt, map[string]float64{"total_size": total, "step_ratio": rise}, func(s *Scheduler, _ int, g *Group) float64 {
		at := float64(s.epoch) / total
		cycle := math.Floor(1 + at)
		height := 1 + at - cycle
		if height <= rise {
			height /= rise
		} else {
			height = (height - 1) / (rise - 1)
		}
		number := cycle
		if perStep {
			number = float64(s.epoch)
		}
		m.set(g, m.high-float64((m.high-m.low)*height*scale(number)))
		return low + float64((high-low)*height*scale(number))
	})
}

// OneCycleOptions are the options of NewOneCycleLR. The zero value holds torch's defaults.
type OneCycleOptions struct {
	Start         float64 // fraction of the steps that rise; 0.3 by default
	Linear        bool    // linear phases instead of cosines
	FixedMomentum bool    // momentum stays constant; otherwise it falls as the learning rate rises
	Low, High     float64 // bounds of the momentum; 0.85 and 0.95 by default
	Div           float64 // ratio of the highest learning rate to the first; 25 by default
	FinalDiv      float64 // ratio of the first to the last; 1e4 by default
	ThreePhase    bool    // falls back to the first before the last
}

// NewOneCycleLR returns a scheduler for steps steps in total. Learning rates rise to high
// and then fall to almost 0; momentum, or the first beta, moves in the opposite direction.
// Step panics after that many steps. It is torch.optim.lr_scheduler.OneCycleLR: L. Smith and
// N. Topin, "Super-Convergence" (2018).
func NewOneCycleLR(opt *Optimizer, high float64, steps int, o OneCycleOptions) *Scheduler {
	const name = "OneCycleLR"
	part := cmp.Or(o.Start, 0.3)
	check(steps > 0 && part <= 1, name, "%d steps, Start %v; want at least 1 step, and a fraction up to 1", steps, part)
	m := newMomenta(name, opt, o.FixedMomentum, cmp.Or(o.Low, 0.85), cmp.Or(o.High, 0.95))
	first := high / cmp.Or(o.Div, 25)
	last := first / cmp.Or(o.FinalDiv, 1e4)
	type phase struct{ end, lr, momentum float64 } // values at its end
	n := float64(steps)
	phases := []phase{{float64(part*n) - 1, high, m.low}, {n - 1, last, m.high}}
	if o.ThreePhase {
		phases = []phase{{float64(part*n) - 1, high, m.low}, {float64(2*part*n) - 2, first, m.high}, {n - 1, last, m.high}}
	}
	for _, g := range opt.groups {
		g.InitialLR = first
	}
	between := func(from, to, at float64) float64 {
		if o.Linear {
			return float64((to-from)*at) + from
		}
		return to + float64((from-to)/2*(math.Cos(math.Pi*at)+1))
	}
	return newScheduler(name, opt, map[string]float64{"total_steps": n}, func(s *Scheduler, _ int, g *Group) float64 {
		check(s.epoch <= steps, name, "step %d of %d; want at most that many calls of Step", s.epoch, steps)
		from := phase{0, first, m.high}
		for i, to := range phases {
			if epoch := float64(s.epoch); epoch <= to.end || i == len(phases)-1 {
				at := (epoch - from.end) / (to.end - from.end)
				m.set(g, between(from.momentum, to.momentum, at))
				return between(from.lr, to.lr, at)
			}
			from = to
		}
		return g.LR
	})
}

// momenta sets momentum, or the first beta, if the optimizer has one and the scheduler
// changes it.
type momenta struct {
	low, high float64
	set       func(g *Group, to float64)
}

func newMomenta(name string, opt *Optimizer, fixed bool, low, high float64) momenta {
	check(opt != nil, name, "the optimizer is nil; want an Optimizer")
	m := momenta{low: low, high: high}
	switch {
	case fixed:
		m.set = func(*Group, float64) {}
	case slices.Contains(opt.takes, "betas"):
		m.set = func(g *Group, to float64) { g.Beta1 = to }
	default:
		check(slices.Contains(opt.takes, "momentum"), name, "%s has neither momentum nor betas; use an optimizer that has one of them, or FixedMomentum", opt.name)
		m.set = func(g *Group, to float64) { g.Momentum = to }
	}
	return m
}
