package optim

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"halfnote/internal/plumbing"
	"halfnote/internal/text"
	"halfnote/tensor"
)

// Scheduler sets the learning rates of an optimizer's groups at each step. Call Step after
// the optimizer's, once per epoch or once per batch. It is
// torch.optim.lr_scheduler.LRScheduler.
//
// Most schedulers multiply the current learning rate, so that several can work on one
// optimizer.
type Scheduler struct {
	name      string
	opt       *Optimizer
	next      func(s *Scheduler, i int, g *Group) float64 // learning rate of group i at s.epoch
	epoch     int                                         // steps since the start
	begin     bool                                        // next computes the initial learning rate
	goes      bool                                        // continues from the current learning rate when its turn comes
	arguments map[string]float64                          // numbers that the constructor was given, by torch's names, to compare with a state
	parts     []*Scheduler                                // parts of a composite scheduler
	until     []int                                       // epochs at which the parts' turns end, if they take turns

	follows bool // Step waits for a step of the optimizer
	seen    int  // the optimizer's steps at the last Step
	alone   int  // steps without a step of the optimizer before them
}

// newScheduler returns a scheduler that has set the initial learning rates.
func newScheduler(name string, opt *Optimizer, arguments map[string]float64, next func(s *Scheduler, i int, g *Group) float64) *Scheduler {
	check(opt != nil, name, "the optimizer is nil; want an Optimizer")
	s := &Scheduler{name: name, opt: opt, arguments: arguments, next: next, seen: opt.taken}
	for _, g := range opt.groups {
		if g.InitialLR == 0 {
			g.InitialLR = g.LR
		}
	}
	s.start()
	return s
}

// start sets the learning rates at epoch 0.
func (s *Scheduler) start() {
	s.epoch, s.begin = 0, true
	s.set()
	s.begin = false
}

// set sets the learning rates at s.epoch.
func (s *Scheduler) set() {
	for i, g := range s.opt.groups {
		g.LR = s.next(s, i, g)
	}
}

// FollowSkips makes Step do nothing if the optimizer has not stepped since the last call, for
// example because an amp.GradScaler skipped its step, so that a per-batch schedule counts
// updates. It is off by default, as in torch, which warns instead. It returns s.
func (s *Scheduler) FollowSkips() *Scheduler {
	s.follows = true
	return s
}

// StepsAlone returns the number of calls of Step without a step of the optimizer since the
// previous call: learning rates that were never used or, with FollowSkips, waits.
func (s *Scheduler) StepsAlone() int { return s.alone }

// Step advances to the next epoch and sets its learning rates. It is
// torch.optim.lr_scheduler.LRScheduler.step.
func (s *Scheduler) Step() {
	idle := s.opt.taken == s.seen
	s.seen = s.opt.taken
	if idle {
		if s.alone++; s.follows {
			return
		}
	}
	calls.Note(plumbing.Call[*tensor.Tensor]{Name: "lr_scheduler.step", By: s, Tensors: s.opt.Params()})
	s.epoch++
	switch {
	case s.parts == nil:
		s.set()
	case s.until == nil:
		for _, part := range s.parts {
			part.Step()
		}
	default:
		turn, starts := slices.BinarySearch(s.until, s.epoch)
		if starts {
			turn++
		}
		part := s.parts[turn]
		switch {
		case !starts:
			part.Step()
		case part.goes:
			part.epoch = 0
			part.set()
		default:
			s.reset()
			part.start()
		}
	}
}

// reset restores the initial learning rates of all groups.
func (s *Scheduler) reset() {
	for _, g := range s.opt.groups {
		g.LR = g.InitialLR
	}
}

// LastLR returns the learning rates of the groups. It is get_last_lr.
func (s *Scheduler) LastLR() []float64 {
	var out []float64
	for _, g := range s.opt.groups {
		out = append(out, g.LR)
	}
	return out
}

// Epoch returns the number of steps so far.
func (s *Scheduler) Epoch() int { return s.epoch }

// String returns the scheduler's name and position, and whether it advanced while the
// optimizer did not.
func (s *Scheduler) String() string {
	text := fmt.Sprintf("%s(epoch %d, lr %v)", s.name, s.epoch, s.LastLR())
	if s.alone > 0 && !s.follows && s.opt.taken > 0 {
		text += fmt.Sprintf("; %d of its steps had no optimizer step before them (a scaler may have skipped it): FollowSkips waits for the optimizer", s.alone)
	}
	return text
}

// StateDict returns the scheduler's state for a checkpoint, without its constructor's
// arguments; the optimizer's state has the learning rates. It is
// torch.optim.lr_scheduler.LRScheduler.state_dict.
func (s *Scheduler) StateDict() map[string]float64 {
	state := map[string]float64{"last_epoch": float64(s.epoch)}
	for i, part := range s.parts {
		for name, n := range part.StateDict() {
			state[fmt.Sprintf("%d.%s", i, name)] = n
		}
	}
	return state
}

// LoadStateDict restores the result of StateDict of a scheduler with the same constructor
// arguments. If names are missing or unknown, it returns an error that lists them all and
// changes nothing. It also takes the numbers of PyTorch's state_dict, from data.Numbers; the error names
// arguments that differ.
func (s *Scheduler) LoadStateDict(state map[string]float64) error {
	if isTorchs(state) {
		own, err := s.fromTorch(state)
		if err != nil {
			return err
		}
		state = own
	}
	if err := sameNames(s.name, s.StateDict(), state); err != nil {
		return err
	}
	s.load(state)
	return nil
}

func (s *Scheduler) load(state map[string]float64) {
	s.epoch = int(state["last_epoch"])
	for i, part := range s.parts {
		of := map[string]float64{}
		for name, n := range state {
			if own, ok := strings.CutPrefix(name, fmt.Sprintf("%d.", i)); ok {
				of[own] = n
			}
		}
		part.load(of)
	}
}

// sameNames returns an error unless state has exactly the names of own.
func sameNames(name string, own, state map[string]float64) error {
	var wrong []string
	for _, key := range slices.Sorted(maps.Keys(own)) {
		if _, ok := state[key]; !ok {
			wrong = append(wrong, key+" is missing")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(state)) {
		if _, ok := own[key]; !ok {
			wrong = append(wrong, key+" is unknown to this scheduler")
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("optim: load state dict of %s: %s", name, strings.Join(wrong, "; "))
	}
	return nil
}

// check panics unless ok.
func check(ok bool, name, format string, args ...any) {
	if !ok {
		panic(&tensor.Error{Op: name, Why: text.Sprintf(format, args...)})
	}
}

// NewChainedScheduler returns a scheduler that steps all of parts, which belong to
// one optimizer. It is torch.optim.lr_scheduler.ChainedScheduler.
func NewChainedScheduler(parts ...*Scheduler) *Scheduler {
	oneOptimizer("ChainedScheduler", parts)
	return &Scheduler{name: "ChainedScheduler", opt: parts[0].opt, parts: parts, seen: parts[0].opt.taken}
}

// NewSequentialLR returns a scheduler that runs parts, which belong to one optimizer, in
// turn: the second from epoch milestones[0] on, and so on. It panics unless milestones
// increase and are one fewer than parts. It is torch.optim.lr_scheduler.SequentialLR.
func NewSequentialLR(parts []*Scheduler, milestones []int) *Scheduler {
	oneOptimizer("SequentialLR", parts)
	check(len(milestones) == len(parts)-1 && slices.IsSorted(milestones), "SequentialLR",
		"%d schedulers, milestones %v; want one milestone fewer than schedulers, in increasing order", len(parts), milestones)
	arguments := map[string]float64{}
	for i, m := range milestones {
		arguments[fmt.Sprintf("_milestones.%d", i)] = float64(m)
	}
	s := &Scheduler{name: "SequentialLR", opt: parts[0].opt, arguments: arguments, parts: parts, until: append([]int{}, milestones...), seen: parts[0].opt.taken}
	s.reset()
	parts[0].start()
	return s
}

func oneOptimizer(name string, parts []*Scheduler) {
	check(len(parts) > 0, name, "the list of schedulers is empty; want at least one")
	for i, p := range parts {
		check(p != nil && p.opt != nil, name, "scheduler %d is nil or has no optimizer; make it with this package's constructors", i)
		check(p.opt == parts[0].opt, name, "scheduler %d has a different optimizer from the first; want one optimizer", i)
	}
}

// NewStepLR returns a scheduler that multiplies the learning rates by gamma, 0.1 in
// torch by default, every size steps. It is torch.optim.lr_scheduler.StepLR.
func NewStepLR(opt *Optimizer, size int, gamma float64) *Scheduler {
	check(size > 0, "StepLR", "the step size is %d; want at least 1", size)
	return newScheduler("StepLR", opt, map[string]float64{"step_size": float64(size), "gamma": gamma}, func(s *Scheduler, _ int, g *Group) float64 {
		if s.epoch == 0 || s.epoch%size != 0 {
			return g.LR
		}
		return g.LR * gamma
	})
}

// NewMultiStepLR returns a scheduler that multiplies the learning rates by gamma at
// each of milestones; one listed twice applies twice. It is
// torch.optim.lr_scheduler.MultiStepLR.
func NewMultiStepLR(opt *Optimizer, milestones []int, gamma float64) *Scheduler {
	times, arguments := map[int]int{}, map[string]float64{"gamma": gamma}
	for _, m := range milestones {
		times[m]++
		arguments[fmt.Sprintf("milestones.%d", m)]++
	}
	return newScheduler("MultiStepLR", opt, arguments, func(s *Scheduler, _ int, g *Group) float64 {
		return g.LR * math.Pow(gamma, float64(times[s.epoch]))
	})
}

// NewExponentialLR returns a scheduler that multiplies the learning rates by gamma
// at every step. It is torch.optim.lr_scheduler.ExponentialLR.
func NewExponentialLR(opt *Optimizer, gamma float64) *Scheduler {
	return newScheduler("ExponentialLR", opt, map[string]float64{"gamma": gamma}, func(s *Scheduler, _ int, g *Group) float64 {
		if s.begin {
			return g.LR
		}
		return g.LR * gamma
	})
}

// NewConstantLR returns a scheduler that multiplies the learning rates by factor,
// from 0 to 1, for the first totalIters steps. It is
// torch.optim.lr_scheduler.ConstantLR, whose defaults are 1/3 and 5.
func NewConstantLR(opt *Optimizer, factor float64, totalIters int) *Scheduler {
	check(factor >= 0 && factor <= 1, "ConstantLR", "factor is %v; want 0 to 1", factor)
	return newScheduler("ConstantLR", opt, map[string]float64{"factor": factor, "total_iters": float64(totalIters)}, func(s *Scheduler, _ int, g *Group) float64 {
		switch s.epoch {
		case 0:
			return g.LR * factor
		case totalIters:
			return g.LR * (1 / factor)
		}
		return g.LR
	})
}

// NewLinearLR returns a scheduler that multiplies the learning rates by a factor that moves
// linearly from startFactor, above 0 and up to 1, to endFactor, from 0 to 1, and stays there after
// totalIters steps. It is torch.optim.lr_scheduler.LinearLR, whose defaults are 1/3, 1 and 5.
func NewLinearLR(opt *Optimizer, startFactor, endFactor float64, totalIters int) *Scheduler {
	check(startFactor > 0 && startFactor <= 1 && endFactor >= 0 && endFactor <= 1, "LinearLR", "factors from %v to %v; want the first above 0 and both up to 1", startFactor, endFactor)
	return newScheduler("LinearLR", opt, map[string]float64{"start_factor": startFactor, "end_factor": endFactor, "total_iters": float64(totalIters)}, func(s *Scheduler, _ int, g *Group) float64 {
		switch {
		case s.epoch == 0:
			return g.LR * startFactor
		case s.epoch > totalIters:
			return g.LR
		}
		rise := endFactor - startFactor
		return g.LR * (1 + rise/(float64(float64(totalIters)*startFactor)+float64(float64(s.epoch-1)*rise)))
	})
}

// NewPolynomialLR returns a scheduler that lowers learning rates to 0 over steps steps, by
// the remaining fraction of steps to the given power. It is
// torch.optim.lr_scheduler.PolynomialLR, whose defaults are 5 and 1.
func NewPolynomialLR(opt *Optimizer, steps int, power float64) *Scheduler {
	check(steps > 0, "PolynomialLR", "%d steps; want at least 1", steps)
	return newScheduler("PolynomialLR", opt, map[string]float64{"total_iters": float64(steps), "power": power}, func(s *Scheduler, _ int, g *Group) float64 {
		if s.begin || s.epoch > steps {
			return g.LR
		}
		left := func(epoch int) float64 { return 1 - float64(epoch)/float64(steps) }
		return g.LR * math.Pow(left(s.epoch)/left(s.epoch-1), power)
	})
}

// NewCosineAnnealingLR returns a scheduler that lowers learning rates to low over steps
// steps along a cosine, and raises them again. It is
// torch.optim.lr_scheduler.CosineAnnealingLR: I. Loshchilov and F. Hutter, "SGDR: Stochastic
// Gradient Descent with Warm Restarts" (2017), without the restarts.
func NewCosineAnnealingLR(opt *Optimizer, steps int, low float64) *Scheduler {
	check(steps > 0, "CosineAnnealingLR", "%d steps; want at least 1", steps)
	return newScheduler("CosineAnnealingLR", opt, map[string]float64{"T_max": float64(steps), "eta_min": low}, func(s *Scheduler, _ int, g *Group) float64 {
		wave := func(epoch int) float64 { return 1 + math.Cos(math.Pi*float64(epoch)/float64(steps)) }
		switch {
		case s.begin:
			return g.LR
		case (s.epoch-1-steps)%(2*steps) == 0: // rises from the lowest point, where wave is 0
			return g.LR + float64((g.InitialLR-low)*(1-math.Cos(math.Pi/float64(steps)))/2)
		}
		return float64(wave(s.epoch)/wave(s.epoch-1)*(g.LR-low)) + low
	})
}

// NewCosineAnnealingWarmRestarts returns a scheduler that lowers learning rates to low over
// steps steps along half a cosine and restarts, each period being factor times as long as
// the one before. It is torch.optim.lr_scheduler.CosineAnnealingWarmRestarts.
func NewCosineAnnealingWarmRestarts(opt *Optimizer, steps, factor int, low float64) *Scheduler {
	check(steps > 0 && factor > 0, "CosineAnnealingWarmRestarts", "%d steps, factor %d; want at least 1 each", steps, factor)
	return newScheduler("CosineAnnealingWarmRestarts", opt, map[string]float64{"T_0": float64(steps), "T_mult": float64(factor), "eta_min": low}, func(s *Scheduler, _ int, g *Group) float64 {
		at, length := s.epoch, steps
		for at >= length {
			at, length = at-length, length*factor
		}
		return low + float64((g.InitialLR-low)*(1+math.Cos(math.Pi*float64(at)/float64(length)))/2)
	})
}

// NewLambdaLR returns a scheduler that sets learning rates to the initial ones times
// factor(epoch); with several factors, each group has its own. It is
// torch.optim.lr_scheduler.LambdaLR.
func NewLambdaLR(opt *Optimizer, factor ...func(epoch int) float64) *Scheduler {
	of := factors("LambdaLR", opt, factor)
	return newScheduler("LambdaLR", opt, nil, func(s *Scheduler, i int, g *Group) float64 {
		return g.InitialLR * of(i)(s.epoch)
	})
}

// NewMultiplicativeLR returns a scheduler that multiplies learning rates by
// factor(epoch) at every step; with several factors, each group has its own. It is
// torch.optim.lr_scheduler.MultiplicativeLR.
func NewMultiplicativeLR(opt *Optimizer, factor ...func(epoch int) float64) *Scheduler {
	of := factors("MultiplicativeLR", opt, factor)
	s := newScheduler("MultiplicativeLR", opt, nil, func(s *Scheduler, i int, g *Group) float64 {
		if s.begin {
			return g.LR
		}
		return g.LR * of(i)(s.epoch)
	})
	s.goes = true
	return s
}

// factors returns the function of each group.
func factors(name string, opt *Optimizer, list []func(int) float64) func(i int) func(int) float64 {
	check(opt != nil, name, "the optimizer is nil; want an Optimizer")
	check(len(list) == 1 || len(list) == len(opt.groups), name, "%d functions, %d groups; want one function, or one per group", len(list), len(opt.groups))
	return func(i int) func(int) float64 { return list[i%len(list)] }
}
