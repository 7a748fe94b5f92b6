package optim

import (
	"cmp"
	"fmt"
	"maps"
	"math"

	"halfnote/internal/plumbing"
	"halfnote/tensor"
)

// ReduceLROnPlateauOptions are the options of NewReduceLROnPlateau. The zero value holds
// torch's defaults.
type ReduceLROnPlateauOptions struct {
	Max       bool    // larger is better
	Factor    float64 // factor of a reduction, below 1; 0.1 by default
	Patience  int     // number of steps without improvement to tolerate; 10 by default, negative for none
	Threshold float64 // smallest improvement, relative to the best; 1e-4 by default
	Absolute  bool    // Threshold is an absolute difference
	Cooldown  int     // number of steps ignored after a reduction
	Low       float64 // lower bound of the learning rates
	Eps       float64 // smallest change of a learning rate to make; 1e-8 by default
}

// ReduceLROnPlateau lowers learning rates when a metric, such as the validation loss, stops
// improving. It is torch.optim.lr_scheduler.ReduceLROnPlateau.
type ReduceLROnPlateau struct {
	opt           *Optimizer
	o             ReduceLROnPlateauOptions
	best          float64
	bad, cooldown int
	epoch         int
}

// NewReduceLROnPlateau returns a ReduceLROnPlateau for opt. It is
// torch.optim.lr_scheduler.ReduceLROnPlateau.
func NewReduceLROnPlateau(opt *Optimizer, o ReduceLROnPlateauOptions) *ReduceLROnPlateau {
	o.Factor = cmp.Or(o.Factor, 0.1)
	o.Patience = max(cmp.Or(o.Patience, 10), 0)
	o.Threshold = cmp.Or(o.Threshold, 1e-4)
	o.Eps = cmp.Or(o.Eps, 1e-8)
	check(o.Factor < 1, "ReduceLROnPlateau", "Factor is %v; want a number below 1", o.Factor)
	p := &ReduceLROnPlateau{opt: opt, o: o, best: math.Inf(1)}
	if o.Max {
		p.best = math.Inf(-1)
	}
	return p
}

// Step records the latest metric and lowers the learning rates if it has not improved on the
// best for too many steps.
func (p *ReduceLROnPlateau) Step(metric float64) {
	calls.Note(plumbing.Call[*tensor.Tensor]{Name: "lr_scheduler.step", By: p, Tensors: p.opt.Params(), Number: metric})
	p.epoch++
	if p.better(metric) {
		p.best, p.bad = metric, 0
	} else {
		p.bad++
	}
	if p.cooldown > 0 {
		p.cooldown--
		p.bad = 0
	}
	if p.bad <= p.o.Patience {
		return
	}
	for _, g := range p.opt.groups {
		if lr := max(g.LR*p.o.Factor, p.o.Low); g.LR-lr > p.o.Eps {
			g.LR = lr
		}
	}
	p.cooldown, p.bad = p.o.Cooldown, 0
}

func (p *ReduceLROnPlateau) better(x float64) bool {
	sign := 1.0
	if p.o.Max {
		sign = -1
	}
	if p.o.Absolute {
		return sign*x < float64(sign*p.best)-p.o.Threshold
	}
	return sign*x < sign*p.best*(1-float64(sign*p.o.Threshold))
}

// StateDict returns the state for a checkpoint, like [Scheduler.StateDict].
func (p *ReduceLROnPlateau) StateDict() map[string]float64 {
	return map[string]float64{"best": p.best, "num_bad_epochs": float64(p.bad), "cooldown_counter": float64(p.cooldown), "last_epoch": float64(p.epoch)}
}

// LoadStateDict restores the result of StateDict, like [Scheduler.LoadStateDict].
func (p *ReduceLROnPlateau) LoadStateDict(state map[string]float64) error {
	if isTorchs(state) {
		o := p.o
		arguments := map[string]float64{"factor": o.Factor, "patience": float64(o.Patience), "threshold": o.Threshold, "cooldown": float64(o.Cooldown), "eps": o.Eps}
		if err := sameArguments("ReduceLROnPlateau", arguments, state); err != nil {
			return err
		}
		own := p.StateDict()
		state = maps.Clone(state)
		maps.DeleteFunc(state, func(name string, _ float64) bool { _, ok := own[name]; return !ok })
	}
	if err := sameNames("ReduceLROnPlateau", p.StateDict(), state); err != nil {
		return err
	}
	p.best, p.bad, p.cooldown, p.epoch = state["best"], int(state["num_bad_epochs"]), int(state["cooldown_counter"]), int(state["last_epoch"])
	return nil
}

// String returns the epoch, the best metric and the steps since.
func (p *ReduceLROnPlateau) String() string {
	return fmt.Sprintf("ReduceLROnPlateau(epoch %d, best %v, %d without a better one)", p.epoch, p.best, p.bad)
}
