package nn

// sequence holds the options of sequence layers.
type sequence struct {
	relu, batchFirst, bidirectional bool
	layers, projection              int
	dropout                         float64
	kdim, vdim                      int
	biasKV, zeroAttn                bool
	gelu, normFirst                 bool
	feedforward                     int
	eps                             float64
	unsorted                        bool
	total                           int
	paddingValue                    float64
	paddingSide                     string
}

// NonlinearityReLU makes RNN and RNNCell compute with max(x, 0); by default with tanh.
// It is nonlinearity="relu".
func NonlinearityReLU() Option {
	return Option{"NonlinearityReLU", func(c *config) { c.relu = true }}
}

// BatchFirst makes inputs and outputs (batch, time, features); by default they are
// (time, batch, features). It is batch_first=True.
func BatchFirst() Option { return Option{"BatchFirst", func(c *config) { c.batchFirst = true }} }

// Bidirectional adds a second network that reads the sequence from its end; by default
// there is one. It is bidirectional=True.
func Bidirectional() Option {
	return Option{"Bidirectional", func(c *config) { c.bidirectional = true }}
}

// Layers stacks n networks, each reading the one below; 1 by default. It is num_layers.
func Layers(n int) Option { return Option{"Layers", func(c *config) { c.layers = n }} }

// Projection projects LSTM's hidden state h to size n; by default there is
// none. It is proj_size.
func Projection(n int) Option { return Option{"Projection", func(c *config) { c.projection = n }} }

// Drop is the probability of dropout inside a layer; each constructor documents its
// default. It is dropout=p.
func Drop(p float64) Option { return Option{"Drop", func(c *config) { c.dropout = p }} }

// KDim is the number of features of attention's keys; by default that of the queries. It is
// kdim.
func KDim(n int) Option { return Option{"KDim", func(c *config) { c.kdim = n }} }

// VDim is the number of features of attention's values; by default that of the queries. It
// is vdim.
func VDim(n int) Option { return Option{"VDim", func(c *config) { c.vdim = n }} }

// BiasKV adds a learned key and value to attention's; by default there are none. It is
// add_bias_kv=True.
func BiasKV() Option { return Option{"BiasKV", func(c *config) { c.biasKV = true }} }

// ZeroAttn adds a key and a value of zeros to attention's; by default there are none.
// It is add_zero_attn=True.
func ZeroAttn() Option { return Option{"ZeroAttn", func(c *config) { c.zeroAttn = true }} }

// ActivationGELU selects GELU for a Transformer's feed-forward part, instead of ReLU. It is
// activation="gelu".
func ActivationGELU() Option { return Option{"ActivationGELU", func(c *config) { c.gelu = true }} }

// NormFirst normalises before attention and the feed-forward part; by default after
// them. It is norm_first=True.
func NormFirst() Option { return Option{"NormFirst", func(c *config) { c.normFirst = true }} }

// Feedforward is the width of a Transformer's feed-forward part; 2048 by default. It is
// dim_feedforward.
func Feedforward(n int) Option { return Option{"Feedforward", func(c *config) { c.feedforward = n }} }
