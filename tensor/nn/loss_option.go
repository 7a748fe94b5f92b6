package nn

import (
	"fmt"
	"slices"

	"halfnote/internal/plumbing"
	"halfnote/tensor"
)

// Reduction is the reduction of a loss's elements: "mean", the default, "sum", "none" or, for
// KLDiv, "batchmean", the sum divided by the size of the first dimension. It panics for another
// name. It is reduction.
func Reduction(name string) Option {
	return Option{"Reduction", func(c *config) {
		r := slices.Index(plumbing.Reductions, name)
		if r < 0 {
			panic(&tensor.Error{Op: "reduction", Why: fmt.Sprintf("unknown name %q; want one of %q", name, plumbing.Reductions)})
		}
		c.loss.Reduction = uint8(r)
	}}
}

// Weight multiplies a loss's elements, or its classes; none by default.
func Weight(w *tensor.Tensor) Option {
	return Option{"Weight", func(c *config) { c.loss.Weight = w }}
}

// PosWeight multiplies the positive terms of a loss's elements; none by default.
func PosWeight(w *tensor.Tensor) Option {
	return Option{"PosWeight", func(c *config) { c.loss.PosWeight = w }}
}

// IgnoreIndex lists target classes to ignore; -100 by default.
func IgnoreIndex(classes ...int) Option {
	return Option{"IgnoreIndex", func(c *config) { c.loss.IgnoreIndex = classes }}
}

// LabelSmoothing spreads a fraction of each target's probability over all classes; 0 by
// default.
func LabelSmoothing(fraction float64) Option {
	return Option{"LabelSmoothing", func(c *config) { c.loss.LabelSmoothing = fraction }}
}

// LogTarget treats targets as logarithms; off by default.
func LogTarget() Option { return Option{"LogTarget", func(c *config) { c.loss.LogTarget = true }} }

// LogInput sets whether inputs are the logarithms of rates, as by default, or rates. It is
// log_input.
func LogInput(on bool) Option { return Option{"LogInput", func(c *config) { c.loss.Rates = !on }} }

// FullLoss adds the terms of a loss that do not depend on the input; off by default.
func FullLoss() Option { return Option{"FullLoss", func(c *config) { c.loss.Full = true }} }

// DistanceSwap uses the harder of two negatives; off by default.
func DistanceSwap() Option { return Option{"DistanceSwap", func(c *config) { c.loss.Swap = true }} }

// P sets the order of a norm, or the power of a margin.
func P(p float64) Option { return Option{"P", func(c *config) { c.loss.P = p }} }

// Margin sets a loss's margin.
func Margin(m float64) Option { return Option{"Margin", func(c *config) { c.margin = m }} }

// Beta is the difference above which a smooth L1 loss is linear.
func Beta(b float64) Option { return Option{"Beta", func(c *config) { c.beta = b }} }

// Delta is the difference above which a Huber loss is linear.
func Delta(d float64) Option { return Option{"Delta", func(c *config) { c.beta = d }} }
