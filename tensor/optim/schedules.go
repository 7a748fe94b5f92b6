package optim

import "math"

// NewStepLR returns a scheduler that multiplies the learning rates by gamma, 0.1 in
// torch by default, every size steps. It is torch.optim.lr_scheduler.StepLR.
func NewStepLR(opt *Optimizer, size int, gamma float64) *Scheduler {
	check(size > 0, "StepLR", "the step size is %d; want at least 1", size)
	return newScheduler("StepLR", opt, func(s *Scheduler, _ int, g *Group) float64 {
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
	times := map[int]int{}
	for _, m := range milestones {
		times[m]++
	}
	return newScheduler("MultiStepLR", opt, func(s *Scheduler, _ int, g *Group) float64 {
		return g.LR * math.Pow(gamma, float64(times[s.epoch]))
	})
}

// NewExponentialLR returns a scheduler that multiplies the learning rates by gamma
// at every step. It is torch.optim.lr_scheduler.ExponentialLR.
func NewExponentialLR(opt *Optimizer, gamma float64) *Scheduler {
	return newScheduler("ExponentialLR", opt, func(s *Scheduler, _ int, g *Group) float64 {
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
	return newScheduler("ConstantLR", opt, func(s *Scheduler, _ int, g *Group) float64 {
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
	return newScheduler("LinearLR", opt, func(s *Scheduler, _ int, g *Group) float64 {
		switch {
		case s.epoch == 0:
			return g.LR * startFactor
		case s.epoch > totalIters:
			return g.LR
		}
		rise := endFactor - startFactor
		return g.LR * (1 + rise/(float64(totalIters)*startFactor+float64(s.epoch-1)*rise))
	})
}

// NewPolynomialLR returns a scheduler that lowers learning rates to 0 over steps steps, by
// the remaining fraction of steps to the given power. It is
// torch.optim.lr_scheduler.PolynomialLR, whose defaults are 5 and 1.
func NewPolynomialLR(opt *Optimizer, steps int, power float64) *Scheduler {
	check(steps > 0, "PolynomialLR", "%d steps; want at least 1", steps)
	return newScheduler("PolynomialLR", opt, func(s *Scheduler, _ int, g *Group) float64 {
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
	return newScheduler("CosineAnnealingLR", opt, func(s *Scheduler, _ int, g *Group) float64 {
		wave := func(epoch int) float64 { return 1 + math.Cos(math.Pi*float64(epoch)/float64(steps)) }
		switch {
		case s.begin:
			return g.LR
		case (s.epoch-1-steps)%(2*steps) == 0: // rises from the lowest point, where wave is 0
			return g.LR + (g.InitialLR-low)*(1-math.Cos(math.Pi/float64(steps)))/2
		}
		return wave(s.epoch)/wave(s.epoch-1)*(g.LR-low) + low
	})
}

// NewCosineAnnealingWarmRestarts returns a scheduler that lowers learning rates to low over
// steps steps along half a cosine and restarts, each period being factor times as long as
// the one before. It is torch.optim.lr_scheduler.CosineAnnealingWarmRestarts.
func NewCosineAnnealingWarmRestarts(opt *Optimizer, steps, factor int, low float64) *Scheduler {
	check(steps > 0 && factor > 0, "CosineAnnealingWarmRestarts", "%d steps, factor %d; want at least 1 each", steps, factor)
	return newScheduler("CosineAnnealingWarmRestarts", opt, func(s *Scheduler, _ int, g *Group) float64 {
		at, length := s.epoch, steps
		for at >= length {
			at, length = at-length, length*factor
		}
		return low + (g.InitialLR-low)*(1+math.Cos(math.Pi*float64(at)/float64(length)))/2
	})
}

// NewLambdaLR returns a scheduler that sets learning rates to the initial ones times
// factor(epoch); with several factors, each group has its own. It is
// torch.optim.lr_scheduler.LambdaLR.
func NewLambdaLR(opt *Optimizer, factor ...func(epoch int) float64) *Scheduler {
	of := factors("LambdaLR", opt, factor)
	return newScheduler("LambdaLR", opt, func(s *Scheduler, i int, g *Group) float64 {
		return g.InitialLR * of(i)(s.epoch)
	})
}

// NewMultiplicativeLR returns a scheduler that multiplies learning rates by
// factor(epoch) at every step; with several factors, each group has its own. It is
// torch.optim.lr_scheduler.MultiplicativeLR.
func NewMultiplicativeLR(opt *Optimizer, factor ...func(epoch int) float64) *Scheduler {
	of := factors("MultiplicativeLR", opt, factor)
	s := newScheduler("MultiplicativeLR", opt, func(s *Scheduler, i int, g *Group) float64 {
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
