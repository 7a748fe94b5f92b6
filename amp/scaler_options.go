package amp

import (
	"fmt"
	"math"
)

// ScalerOption configures a GradScaler.
type ScalerOption func(*GradScaler)

// InitScale sets the initial scale; 65536 by default.
func InitScale(scale float64) ScalerOption { return func(s *GradScaler) { s.scale = float32(scale) } }

// GrowthFactor sets the factor applied to the scale after GrowthInterval clean steps; 2 by
// default. It must exceed 1.
func GrowthFactor(f float64) ScalerOption { return func(s *GradScaler) { s.growth = f } }

// BackoffFactor sets the factor applied to the scale after an overflow; 0.5 by default. It must
// be below 1.
func BackoffFactor(f float64) ScalerOption { return func(s *GradScaler) { s.backoff = f } }

// GrowthInterval sets the number of consecutive clean steps after which the scale grows; 2000
// by default.
func GrowthInterval(steps int) ScalerOption { return func(s *GradScaler) { s.interval = steps } }

// ScalerEnabled disables the scaler if on is false: Scale then returns the loss itself, Step calls
// the optimizer's Step and Update does nothing.
func ScalerEnabled(on bool) ScalerOption { return func(s *GradScaler) { s.enabled = on } }

// torch lacks the options below. Without them a scaler behaves as torch's does.

// StaticScale sets a scale that Update does not change; P. Micikevicius and others, "Mixed
// Precision Training" (2018), choose one from 8 to 32768. Steps with non-finite gradients are
// still skipped. By default the scale is dynamic.
func StaticScale(scale float64) ScalerOption {
	return func(s *GradScaler) { s.scale, s.static = float32(scale), true }
}

// MinScale sets a lower bound for Update's back-off; 0 by default. With a bound of 1, unscaling
// cannot overflow. It is jmp's min_loss_scale.
func MinScale(scale float64) ScalerOption { return func(s *GradScaler) { s.least = float32(scale) } }

// MaxScale sets an upper bound for Update's growth; unbounded by default. It is
// max_loss_scale of NVIDIA Apex, there 2^24.
func MaxScale(scale float64) ScalerOption { return func(s *GradScaler) { s.most = float32(scale) } }

// AbortAtMin makes Update panic with an *[Error] if a step was skipped at the scale set by
// MinScale, which is required: the scale cannot go lower, so the run is lost. Off by default.
// DeepSpeed and fairseq do this.
func AbortAtMin() ScalerOption { return func(s *GradScaler) { s.abort = true } }

// Hysteresis sets the number of overflows, counted since the scale last grew, at which Update
// backs off, so that n-1 unusual batches cost one step each but do not lower the scale; 1 by
// default. It is hysteresis of Megatron-LM, there 2.
func Hysteresis(n int) ScalerOption { return func(s *GradScaler) { s.hysteresis = n } }

// SyncFoundInf makes all steps of several processes agree: f is called once for each check of an optimizer's gradients with
// whether this process has found inf or NaN, and returns whether any has. All processes must check in the same order. By default
// each decides alone, which suffices if they have the same gradients. dist.NewShardedGradScaler sets it; torch has it in
// torch.distributed.fsdp.sharded_grad_scaler.ShardedGradScaler.
func SyncFoundInf(f func(found bool) bool) ScalerOption {
	return func(s *GradScaler) { s.share = f }
}

// ParamNames makes results and errors refer to the parameters of models by name, "encoder.0.weight",
// instead of by number. Models are structs or modules, as for nn.NamedParameters.
func ParamNames(models ...any) ScalerOption {
	return func(s *GradScaler) { s.models = append(s.models, models...) }
}

// NewGradScaler returns a scaler with torch's defaults: the scale is 65536 at first, half after
// a gradient that is not finite, and twice as large after 2000 clean steps in a row. It panics
// with an *[Error] if an enabled scaler has a growth factor of at most 1, a backoff factor of at
// least 1, or inconsistent limits.
func NewGradScaler(options ...ScalerOption) *GradScaler {
	s := &GradScaler{
		enabled: true, scale: 65536, growth: 2, backoff: 0.5, interval: 2000, most: float32(math.Inf(1)), hysteresis: 1,
		stages: map[any]*stage{}, streaks: map[any]*streak{},
	}
	for i, option := range options {
		need("NewGradScaler", fmt.Sprintf("option %d", i+1), option != nil, "a ScalerOption")
		option(s)
	}
	if s.enabled {
		s.checkOptions()
	}
	return s
}

func (s *GradScaler) checkOptions() {
	refuse := func(code, cure, why string, args ...any) {
		panic(&Error{Code: code, Call: "NewGradScaler", Why: fmt.Sprintf(why, args...), Cure: cure})
	}
	switch {
	case !(s.growth > 1):
		refuse("growth_factor", "set one above 1, such as 2", "the growth factor is %v", s.growth)
	case !(s.backoff < 1):
		refuse("backoff_factor", "set one below 1, such as 0.5", "the backoff factor is %v", s.backoff)
	case math.IsInf(float64(s.scale), 0):
		refuse("init_scale", "set one below 3.4e38", "the initial scale is infinite in float32")
	case s.least != 0 && !(s.least > 0 && s.least <= s.scale):
		refuse("min_scale", "set a MinScale above 0 and at most the initial scale", "MinScale is %v, but the initial scale is %v", s.least, s.scale)
	case !(s.most >= s.scale):
		refuse("max_scale", "set a MaxScale of at least the initial scale", "MaxScale is %v, but the initial scale is %v", s.most, s.scale)
	case s.abort && s.least == 0:
		refuse("min_scale", "set MinScale too, for example amp.MinScale(1)", "AbortAtMin is set without MinScale")
	case s.hysteresis < 1:
		refuse("hysteresis", "set at least 1", "the hysteresis is %d overflows", s.hysteresis)
	}
}
