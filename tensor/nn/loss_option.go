package nn

import "halfnote/tensor"

// Reduction says what a loss makes of its elements; tensor.ReduceMean by default.
func Reduction(r tensor.Reduction) Option {
	return Option{"Reduction", func(c *config) { c.loss.Reduction = r }}
}

// Weight multiplies a loss's elements, or its classes; none by default.
func Weight(w *tensor.Tensor) Option {
	return Option{"Weight", func(c *config) { c.loss.Weight = w }}
}

// PosWeight multiplies a loss's elements in as far as they are positive; none by
// default.
func PosWeight(w *tensor.Tensor) Option {
	return Option{"PosWeight", func(c *config) { c.loss.PosWeight = w }}
}

// IgnoreIndex names target classes that do not count; -100 by default.
func IgnoreIndex(classes ...int) Option {
	return Option{"IgnoreIndex", func(c *config) { c.loss.IgnoreIndex = classes }}
}

// LabelSmoothing spreads a share of each target's probability over all classes; 0 by
// default.
func LabelSmoothing(share float64) Option {
	return Option{"LabelSmoothing", func(c *config) { c.loss.LabelSmoothing = share }}
}

// LogTarget takes targets as logarithms; off by default.
func LogTarget() Option { return Option{"LogTarget", func(c *config) { c.loss.LogTarget = true }} }

// Rates takes inputs as rates, not as their logarithms; off by default. It is
// log_input=False.
func Rates() Option { return Option{"Rates", func(c *config) { c.loss.Rates = true }} }

// Full adds the terms of a loss that do not depend on the input; off by default.
func Full() Option { return Option{"Full", func(c *config) { c.loss.Full = true }} }

// Swap takes the harder of two negatives; off by default.
func Swap() Option { return Option{"Swap", func(c *config) { c.loss.Swap = true }} }

// Power sets the order of a norm, or the power of a margin.
func Power(p float64) Option { return Option{"Power", func(c *config) { c.loss.P = p }} }

// Margin sets a loss's margin.
func Margin(m float64) Option { return Option{"Margin", func(c *config) { c.margin = m }} }

// Beta sets where a smooth L1 loss stops being a square.
func Beta(b float64) Option { return Option{"Beta", func(c *config) { c.beta = b }} }

// Delta sets where a Huber loss stops being a square.
func Delta(d float64) Option { return Option{"Delta", func(c *config) { c.beta = d }} }
