package nn

import (
	"fmt"
	"slices"

	"halfnote/tensor"
)

// Option configures a constructor, whose comment lists the options it takes; others make it
// panic.
type Option struct {
	name string
	set  func(*config)
}

// config holds the values that options set. Each constructor starts from its own defaults.
type config struct {
	bias      bool
	generator *tensor.Generator
	lookup

	loss         lossOptions
	attention    attentionOptions
	alpha, k     float64
	margin, beta float64
	sequence

	dim      int
	keepDim  bool
	distance func(x, y *tensor.Tensor) *tensor.Tensor
	divValue float64
	tau      float64
	hard     bool
	headBias bool

	linearBias *tensor.Tensor
	places     []int
	tensorName string
	wholeNorm  bool
	iterations int

	clip   clipping
	slope  float64
	mode   string // reduction of bags, fan of an initialisation, or interpolation
	resize tensor.InterpolateOptions
	masks  masks

	vision visionConfig
}

// Bias sets whether a layer has a bias; on by default, except for LinearCrossEntropyLoss. It
// is bias.
func Bias(on bool) Option { return Option{"Bias", func(c *config) { c.bias = on }} }

// InitFrom draws the parameters from g; by default from the generator that
// tensor.ManualSeed seeds.
func InitFrom(g *tensor.Generator) Option {
	return Option{"InitFrom", func(c *config) { c.generator = g }}
}

// configure returns c changed by options, which must be among those that the
// constructor takes.
func configure(constructor string, c config, options []Option, takes ...string) config {
	for _, o := range options {
		if !slices.Contains(takes, o.name) {
			panic(&tensor.Error{Op: constructor, Why: fmt.Sprintf("option %s is not supported here; want one of %v", o.name, takes)})
		}
		o.set(&c)
	}
	return c
}

// uniform draws uniform numbers from the configured generator.
func (c config) uniform(low, high float64, shape ...int) *tensor.Tensor {
	if c.generator != nil {
		return c.generator.Uniform(low, high, shape...)
	}
	return tensor.Uniform(low, high, shape...)
}

// need panics unless the argument called name of op is present; want describes it.
func need(op, name string, there bool, want string) {
	if !there {
		panic(&tensor.Error{Op: op, Why: name + " is nil; want " + want})
	}
}
