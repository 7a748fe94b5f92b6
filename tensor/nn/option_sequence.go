package nn

import (
	"fmt"

	"halfnote/tensor"
)

// sequence holds the options of sequence layers.
type sequence struct {
	nonlinearity              string
	batchFirst, bidirectional bool
	layers, projection        int
	dropout                   float64
	kdim, vdim                int
	biasKV, zeroAttn          bool
	gelu, normFirst           bool
	feedforward               int
	eps                       float64
	unsorted                  bool
	total                     int
	paddingValue              float64
	paddingSide               string
}

// Nonlinearity selects the function of RNN and RNNCell, "tanh" by default or "relu", or names
// the function that follows a weight in Kaiming's initialisations. It is nonlinearity.
func Nonlinearity(name string) Option {
	return Option{"Nonlinearity", func(c *config) { c.nonlinearity = name }}
}

// relu reports whether the nonlinearity of an RNN is ReLU, and panics if it is neither that nor
// tanh.
func (s sequence) relu() bool { return choose("nonlinearity", s.nonlinearity, "tanh", "relu") }

// BatchFirst makes inputs and outputs (batch, time, features); by default they are
// (time, batch, features). It is batch_first=True.
func BatchFirst() Option { return Option{"BatchFirst", func(c *config) { c.batchFirst = true }} }

// Bidirectional adds a second network that reads the sequence from its end; by default
// there is one. It is bidirectional=True.
func Bidirectional() Option {
	return Option{"Bidirectional", func(c *config) { c.bidirectional = true }}
}

// NumLayers stacks n networks, each reading the one below; 1 by default. It is num_layers.
func NumLayers(n int) Option { return Option{"NumLayers", func(c *config) { c.layers = n }} }

// ProjSize projects LSTM's hidden state h to size n; by default there is
// none. It is proj_size.
func ProjSize(n int) Option { return Option{"ProjSize", func(c *config) { c.projection = n }} }

// DropoutP is the probability of dropout inside a layer; each constructor documents its
// default. It is dropout=p.
func DropoutP(p float64) Option { return Option{"DropoutP", func(c *config) { c.dropout = p }} }

// KDim is the number of features of attention's keys; by default that of the queries. It is
// kdim.
func KDim(n int) Option { return Option{"KDim", func(c *config) { c.kdim = n }} }

// VDim is the number of features of attention's values; by default that of the queries. It
// is vdim.
func VDim(n int) Option { return Option{"VDim", func(c *config) { c.vdim = n }} }

// AddBiasKV adds a learned key and value to attention's; by default there are none. It is
// add_bias_kv=True.
func AddBiasKV() Option { return Option{"AddBiasKV", func(c *config) { c.biasKV = true }} }

// AddZeroAttn adds a key and a value of zeros to attention's; by default there are none.
// It is add_zero_attn=True.
func AddZeroAttn() Option { return Option{"AddZeroAttn", func(c *config) { c.zeroAttn = true }} }

// Activation selects the function of a Transformer's feed-forward part, "relu" by default or
// "gelu". It panics for another name. It is activation.
func Activation(name string) Option {
	return Option{"Activation", func(c *config) { c.gelu = choose("activation", name, "relu", "gelu") }}
}

// choose reports whether an option's value is its second name and not its first, and panics if
// it is neither.
func choose(option, value, first, second string) bool {
	if value != first && value != second {
		panic(&tensor.Error{Op: option, Why: fmt.Sprintf("unknown name %q; want %q or %q", value, first, second)})
	}
	return value == second
}

// NormFirst normalises before attention and the feed-forward part; by default after
// them. It is norm_first=True.
func NormFirst() Option { return Option{"NormFirst", func(c *config) { c.normFirst = true }} }

// DimFeedforward is the width of a Transformer's feed-forward part; 2048 by default. It is
// dim_feedforward.
func DimFeedforward(n int) Option {
	return Option{"DimFeedforward", func(c *config) { c.feedforward = n }}
}
