package optim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"halfnote/internal/plumbing"
	"halfnote/tensor"
)

// Group is a set of parameters with its own settings. Each optimizer reads the settings that
// its constructor lists. It is an entry of torch.optim.Optimizer.param_groups.
type Group struct {
	LR             float64 // learning rate
	Momentum       float64 // fraction of the velocity that a step keeps
	Dampening      float64 // fraction of a gradient that the velocity omits
	WeightDecay    float64
	Beta1, Beta2   float64 // decay rates of the running means of the gradient and its square
	Eps            float64 // term added to the divisor
	Alpha          float64 // RMSprop's decay rate of the mean square; ASGD's power
	Rho            float64 // Adadelta's decay rate
	LRDecay        float64 // Adagrad's learning rate decay
	InitialSum     float64 // Adagrad's initial sum of squares
	MomentumDecay  float64 // NAdam's momentum decay
	EtaMinus       float64 // Rprop's factor of a step size where the gradient's sign changes
	EtaPlus        float64 // Rprop's factor where the sign stays
	StepMin        float64 // Rprop's smallest step size
	StepMax        float64 // Rprop's largest step size
	Lambd          float64 // ASGD's decay
	StartAverage   float64 // ASGD's step at which the average begins
	Beta2Decay     float64 // Adafactor's power of the step's number, 0 or less
	FactorEps1     float64 // Adafactor's smallest root mean square of a gradient; 0 is the dtype's epsilon
	FactorEps2     float64 // Adafactor's smallest root mean square of a parameter
	ClipThreshold  float64 // Adafactor's largest root mean square of an update
	Nesterov       bool
	Maximize       bool
	AMSGrad        bool
	Centered       bool
	Decoupled      bool         // weight decay is subtracted from the parameter itself
	NSSteps        float64      // Muon's number of Newton-Schulz steps
	NSCoefficients [3]float64   // Muon's polynomial of singular values
	NSDType        tensor.DType // dtype of Muon's Newton-Schulz steps
	AdjustLR       string       // how Muon's learning rate depends on the shape
	InitialLR      float64      // learning rate that a scheduler started from

	fused             bool
	stochastic, kahan bool // rounding of parameters of 16 bits
	params            []*tensor.Tensor
	steps             plumbing.Steps[*tensor.Tensor] // fused updates of the current step
	guard             *tensor.Tensor                 // row of the current parameter's counts, nil if its step is unconditional
}

// Params returns the parameters of the group.
func (g *Group) Params() []*tensor.Tensor { return slices.Clone(g.params) }

// Option is a setting of an optimizer or of a group. Each constructor lists the options it
// takes; others make it panic.
type Option struct {
	name string // torch's name
	set  func(*Group)
}

// LR sets a group's learning rate; that of the constructor by default.
func LR(lr float64) Option { return Option{"lr", func(g *Group) { g.LR = lr }} }

// Momentum sets the fraction of the velocity that a step keeps; 0 by default.
func Momentum(m float64) Option { return Option{"momentum", func(g *Group) { g.Momentum = m }} }

// Dampening sets the fraction of a gradient that the velocity omits; 0 by default.
func Dampening(d float64) Option { return Option{"dampening", func(g *Group) { g.Dampening = d }} }

// Nesterov enables Nesterov momentum; off by default. It requires momentum without
// dampening.
func Nesterov() Option { return Option{"nesterov", func(g *Group) { g.Nesterov = true }} }

// WeightDecay adds d times the parameter to its gradient, or subtracts it from the parameter
// if decay is decoupled; 0 by default, 0.01 for AdamW.
func WeightDecay(d float64) Option {
	return Option{"weight_decay", func(g *Group) { g.WeightDecay = d }}
}

// Decoupled subtracts weight decay from the parameter itself; off by default except for
// AdamW. It is decoupled_weight_decay.
func Decoupled() Option {
	return Option{"decoupled_weight_decay", func(g *Group) { g.Decoupled = true }}
}

// Maximize ascends instead of descending; off by default.
func Maximize() Option { return Option{"maximize", func(g *Group) { g.Maximize = true }} }

// Betas sets the decay rates of the running means; 0.9 and 0.999 by default.
func Betas(beta1, beta2 float64) Option {
	return Option{"betas", func(g *Group) { g.Beta1, g.Beta2 = beta1, beta2 }}
}

// Eps sets the term added to the divisor; 1e-8 by default, 1e-10 for Adagrad and
// 1e-6 for Adadelta.
func Eps(eps float64) Option { return Option{"eps", func(g *Group) { g.Eps = eps }} }

// AMSGrad divides by the root of the largest mean square so far; off by default.
func AMSGrad() Option { return Option{"amsgrad", func(g *Group) { g.AMSGrad = true }} }

// Alpha sets the decay rate of RMSprop's mean square, 0.99 by default, or the power of ASGD's
// learning rate decay, 0.75 by default.
func Alpha(a float64) Option { return Option{"alpha", func(g *Group) { g.Alpha = a }} }

// Centered makes RMSprop divide by an estimate of the standard deviation; off by default.
func Centered() Option { return Option{"centered", func(g *Group) { g.Centered = true }} }

// Rho sets the decay rate of Adadelta's means; 0.9 by default.
func Rho(r float64) Option { return Option{"rho", func(g *Group) { g.Rho = r }} }

// LRDecay makes Adagrad divide the learning rate of step n, from 0, by 1 + n d; 0 by
// default.
func LRDecay(d float64) Option { return Option{"lr_decay", func(g *Group) { g.LRDecay = d }} }

// InitialSum sets the initial value of Adagrad's sum of squares; 0 by default. It is
// initial_accumulator_value.
func InitialSum(s float64) Option {
	return Option{"initial_accumulator_value", func(g *Group) { g.InitialSum = s }}
}

// MomentumDecay sets NAdam's momentum decay; 4e-3 by default.
func MomentumDecay(d float64) Option {
	return Option{"momentum_decay", func(g *Group) { g.MomentumDecay = d }}
}

// Etas sets the factors of Rprop's step sizes: minus, between 0 and 1, where the gradient's
// sign changes, and plus, above 1, where it stays; 0.5 and 1.2 by default.
func Etas(minus, plus float64) Option {
	return Option{"etas", func(g *Group) { g.EtaMinus, g.EtaPlus = minus, plus }}
}

// StepSizes sets the bounds of Rprop's step sizes; 1e-6 and 50 by default.
func StepSizes(min, max float64) Option {
	return Option{"step_sizes", func(g *Group) { g.StepMin, g.StepMax = min, max }}
}

// Lambd sets ASGD's decay; 1e-4 by default.
func Lambd(l float64) Option { return Option{"lambd", func(g *Group) { g.Lambd = l }} }

// StartAverage sets the step after which ASGD averages; 1e6 by default. It is t0.
func StartAverage(step float64) Option {
	return Option{"t0", func(g *Group) { g.StartAverage = step }}
}

// Beta2Decay makes Adafactor weight the squares of step n, from 1, by n to the power d, which
// is at most 0; -0.8 by default.
func Beta2Decay(d float64) Option { return Option{"beta2_decay", func(g *Group) { g.Beta2Decay = d }} }

// FactorEps sets Adafactor's smallest root mean squares: of a gradient's element, where 0,
// the default, means the epsilon of the parameter's dtype, and of a parameter, 1e-3 by
// default. It is Adafactor's eps.
func FactorEps(gradient, parameter float64) Option {
	return Option{"factor_eps", func(g *Group) { g.FactorEps1, g.FactorEps2 = gradient, parameter }}
}

// ClipThreshold sets the largest root mean square of Adafactor's update, at least 1; 1 by default.
// It is d.
func ClipThreshold(d float64) Option { return Option{"d", func(g *Group) { g.ClipThreshold = d }} }

// setting is a field of Group under torch's name.
type setting struct {
	name   string
	number func(*Group) *float64
	flag   func(*Group) *bool   // for a bool, instead of number
	word   func(*Group) *string // for a text, instead of number
	within bounds               // bounds of a number; the zero value means notNegative
	option string               // option that sets it; "" means the name up to its dot
}

// bounds is the range of a setting.
type bounds struct {
	text string
	hold func(x float64) bool
}

var (
	notNegative = bounds{"at least 0", func(x float64) bool { return x >= 0 }}
	notPositive = bounds{"at most 0", func(x float64) bool { return x <= 0 }}
	share       = bounds{"at least 0 and below 1", func(x float64) bool { return x >= 0 && x < 1 }}
	fraction    = bounds{"a number between 0 and 1", func(x float64) bool { return x > 0 && x < 1 }}
	aboveOne    = bounds{"a number above 1", func(x float64) bool { return x > 1 }}
	below100    = bounds{"a whole number below 100", func(x float64) bool { return x >= 0 && x < 100 && x == float64(int(x)) }}
	anyNumber   = bounds{"a number", func(x float64) bool { return x-x == 0 }}
	atLeastOne  = bounds{"at least 1", func(x float64) bool { return x >= 1 }}
)

// all lists every setting by name.
var all = []setting{
	{name: "adjust_lr_fn", word: func(g *Group) *string { return &g.AdjustLR }},
	{name: "alpha", number: func(g *Group) *float64 { return &g.Alpha }},
	{name: "amsgrad", flag: func(g *Group) *bool { return &g.AMSGrad }},
	{name: "beta2_decay", number: func(g *Group) *float64 { return &g.Beta2Decay }, within: notPositive},
	{name: "betas.0", number: func(g *Group) *float64 { return &g.Beta1 }, within: share},
	{name: "betas.1", number: func(g *Group) *float64 { return &g.Beta2 }, within: share},
	{name: "centered", flag: func(g *Group) *bool { return &g.Centered }},
	{name: "d", number: func(g *Group) *float64 { return &g.ClipThreshold }, within: atLeastOne},
	{name: "dampening", number: func(g *Group) *float64 { return &g.Dampening }},
	{name: "decoupled_weight_decay", flag: func(g *Group) *bool { return &g.Decoupled }},
	{name: "eps", number: func(g *Group) *float64 { return &g.Eps }},
	{name: "eps.0", number: func(g *Group) *float64 { return &g.FactorEps1 }, option: "factor_eps"},
	{name: "eps.1", number: func(g *Group) *float64 { return &g.FactorEps2 }, option: "factor_eps"},
	{name: "etas.0", number: func(g *Group) *float64 { return &g.EtaMinus }, within: fraction},
	{name: "etas.1", number: func(g *Group) *float64 { return &g.EtaPlus }, within: aboveOne},
	{name: "initial_accumulator_value", number: func(g *Group) *float64 { return &g.InitialSum }},
	{name: "initial_lr", number: func(g *Group) *float64 { return &g.InitialLR }},
	{name: "lambd", number: func(g *Group) *float64 { return &g.Lambd }},
	{name: "lr", number: func(g *Group) *float64 { return &g.LR }},
	{name: "lr_decay", number: func(g *Group) *float64 { return &g.LRDecay }},
	{name: "maximize", flag: func(g *Group) *bool { return &g.Maximize }},
	{name: "momentum", number: func(g *Group) *float64 { return &g.Momentum }},
	{name: "momentum_decay", number: func(g *Group) *float64 { return &g.MomentumDecay }},
	{name: "nesterov", flag: func(g *Group) *bool { return &g.Nesterov }},
	{name: "ns_coefficients.0", number: func(g *Group) *float64 { return &g.NSCoefficients[0] }, within: anyNumber},
	{name: "ns_coefficients.1", number: func(g *Group) *float64 { return &g.NSCoefficients[1] }, within: anyNumber},
	{name: "ns_coefficients.2", number: func(g *Group) *float64 { return &g.NSCoefficients[2] }, within: anyNumber},
	{name: "ns_steps", number: func(g *Group) *float64 { return &g.NSSteps }, within: below100},
	{name: "rho", number: func(g *Group) *float64 { return &g.Rho }, within: share},
	{name: "step_sizes.0", number: func(g *Group) *float64 { return &g.StepMin }},
	{name: "step_sizes.1", number: func(g *Group) *float64 { return &g.StepMax }},
	{name: "t0", number: func(g *Group) *float64 { return &g.StartAverage }},
	{name: "weight_decay", number: func(g *Group) *float64 { return &g.WeightDecay }},
}

// settings returns the settings that o's rule reads.
func (o *Optimizer) settings() []setting { return o.named(o.takes) }

// named returns the settings that the named options set.
func (o *Optimizer) named(names []string) []setting {
	return slices.DeleteFunc(slices.Clone(all), func(s setting) bool {
		name, _, _ := strings.Cut(s.name, ".")
		return !slices.Contains(names, cmp.Or(s.option, name))
	})
}

// text returns the value in g as Python writes it.
func (s setting) text(g *Group) string {
	switch v := s.value(g).(type) {
	case bool:
		return truth(v)
	default:
		return fmt.Sprint(v)
	}
}

// value returns the value in g: a float64, bool or string.
func (s setting) value(g *Group) any {
	switch {
	case s.flag != nil:
		return *s.flag(g)
	case s.word != nil:
		return *s.word(g)
	}
	return *s.number(g)
}

// set sets the value in g. It reports whether v is of the setting's type.
func (s setting) set(g *Group, v any) (ok bool) {
	switch v := v.(type) {
	case float64:
		if ok = s.number != nil; ok {
			*s.number(g) = v
		}
	case bool:
		if ok = s.flag != nil; ok {
			*s.flag(g) = v
		}
	case string:
		if ok = s.word != nil; ok {
			*s.word(g) = v
		}
	}
	return ok
}

// truth returns b as Python writes it.
func truth(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

// configured returns g changed by options, which must be in range and among those that the
// optimizer takes.
func (o *Optimizer) configured(g Group, options []Option) Group {
	for _, option := range options {
		if !slices.Contains(o.takes, option.name) {
			o.fail("%s is not a setting of %s; want one of %s", option.name, o.name, strings.Join(o.takes, ", "))
		}
		option.set(&g)
	}
	for _, s := range o.settings() {
		if s.number == nil {
			continue
		}
		within := s.within
		if within.hold == nil {
			within = notNegative
		}
		if x := *s.number(&g); !within.hold(x) {
			o.fail("%s is %v; want %s", s.name, x, within.text)
		}
	}
	if g.stochastic && g.kahan || (g.stochastic || g.kahan) && g.fused {
		o.fail("more than one of StochasticRounding, KahanSum and Fused; want one")
	}
	if g.AdjustLR != "" && adjustments[g.AdjustLR] == nil {
		o.fail("adjust_lr_fn is %q; want original, match_rms_adamw or spectral_unclamped", g.AdjustLR)
	}
	if _, ok := o.rule.(muon); !ok && g.Nesterov && (g.Momentum <= 0 || g.Dampening != 0) { // Muon without momentum follows the gradient
		o.fail("Nesterov with momentum %v and dampening %v; want momentum above 0 and dampening 0", g.Momentum, g.Dampening)
	}
	return g
}
