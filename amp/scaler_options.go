package amp

import (
	"fmt"
	"math"
)

// ScalerOption configures a GradScaler.
type ScalerOption func(*GradScaler)

// InitScale sets the scale to start with; 65536 by default.
func InitScale(scale float64) ScalerOption { return func(s *GradScaler) { s.scale = float32(scale) } }

// GrowthFactor sets what the scale is multiplied by after GrowthInterval clean
// steps; 2 by default. It must exceed 1.
func GrowthFactor(f float64) ScalerOption { return func(s *GradScaler) { s.growth = f } }

// BackoffFactor sets what the scale is multiplied by after an overflow; 0.5 by
// default. It must be below 1.
func BackoffFactor(f float64) ScalerOption { return func(s *GradScaler) { s.backoff = f } }

// GrowthInterval sets how many clean steps in a row make the scale grow; 2000 by
// default.
func GrowthInterval(steps int) ScalerOption { return func(s *GradScaler) { s.interval = steps } }

// Enabled switches a scaler off when on is false: Scale then returns the loss
// itself, Step is the optimizer's own and Update does nothing.
func Enabled(on bool) ScalerOption { return func(s *GradScaler) { s.enabled = on } }

// The options below are not torch's. Without them a scaler is torch's.

// StaticScale sets a scale that Update leaves as it is, as P. Micikevicius and others,
// "Mixed Precision Training" (2018), choose from 8 to 32768. Steps whose gradients are
// not finite are skipped all the same. The scale moves by default.
func StaticScale(scale float64) ScalerOption {
	return func(s *GradScaler) { s.scale, s.static = float32(scale), true }
}

// MinScale sets a floor below which Update does not back off, as 1, under which
// unscaling may overflow; 0 by default. It is jmp's min_loss_scale.
func MinScale(scale float64) ScalerOption { return func(s *GradScaler) { s.least = float32(scale) } }

// MaxScale sets a ceiling above which Update does not grow; none by default. It is
// max_loss_scale of NVIDIA Apex, there 2^24.
func MaxScale(scale float64) ScalerOption { return func(s *GradScaler) { s.most = float32(scale) } }

// AbortAtMin has Update panic with an *[Error] when a step was skipped at the scale that
// MinScale sets, which it needs: it then cannot go lower, and the run is lost. Off by
// default. It is what DeepSpeed and fairseq do.
func AbortAtMin() ScalerOption { return func(s *GradScaler) { s.abort = true } }

// Hysteresis sets from which overflow on, counted since the scale grew last, Update backs
// off, so that n-1 batches out of the ordinary cost a step each and no scale; 1 by
// default. It is hysteresis of Megatron-LM, there 2.
func Hysteresis(n int) ScalerOption { return func(s *GradScaler) { s.hysteresis = n } }

// Names gives the models whose parameters results and errors call by their names,
// "encoder.0.weight"; without it they have numbers. They are structs or modules, as for
// nn.NamedParameters.
func Names(models ...any) ScalerOption {
	return func(s *GradScaler) { s.models = append(s.models, models...) }
}

// NewGradScaler returns a scaler. It panics with an *[Error] if an enabled one has a growth
// factor of at most 1 or a backoff factor of at least 1, or limits that do not fit
// together.
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
		refuse("growth_factor", "give one above 1, as 2", "the growth factor is %v", s.growth)
	case !(s.backoff < 1):
		refuse("backoff_factor", "give one below 1, as 0.5", "the backoff factor is %v", s.backoff)
	case math.IsInf(float64(s.scale), 0):
		refuse("init_scale", "give one below 3.4e38", "the scale to start with is infinite in float32")
	case s.least != 0 && !(s.least > 0 && s.least <= s.scale):
		refuse("min_scale", "give a MinScale above 0 and at most the scale to start with", "the least scale is %v and the scale to start with %v", s.least, s.scale)
	case !(s.most >= s.scale):
		refuse("max_scale", "give a MaxScale of at least the scale to start with", "the largest scale is %v and the scale to start with %v", s.most, s.scale)
	case s.abort && s.least == 0:
		refuse("min_scale", "give MinScale too, as amp.MinScale(1)", "AbortAtMin has no least scale")
	case s.hysteresis < 1:
		refuse("hysteresis", "give 1 or more", "the hysteresis is %d overflows", s.hysteresis)
	}
}
