package plumbing

// The reductions of a loss's elements.
const (
	ReduceMean      = iota // mean, the default
	ReduceSum              // sum
	ReduceNone             // no reduction
	ReduceBatchMean        // sum divided by the size of the first dimension; KLDiv only
)

// Reductions are torch's names of the reductions.
var Reductions = []string{"mean", "sum", "none", "batchmean"}

// LossOptions are the options of a loss. The zero value is torch's default. The comment on
// each loss names the options it uses in addition to Reduction.
type LossOptions[T any] struct {
	Reduction      uint8
	Weight         T       // weight of each class, or of each element of a binary loss, broadcast; nil is 1
	PosWeight      T       // weight of positive targets, broadcast; nil is 1
	IgnoreIndex    []int   // target classes that are ignored; nil is -100 only
	LabelSmoothing float64 // fraction of a target's probability spread over all classes
	LogTarget      bool    // targets are logarithms
	Rates          bool    // inputs are rates, not logarithms of rates
	Full           bool    // add the terms that do not depend on the input
	Swap           bool    // use the harder of two negatives
	P              float64 // order of a norm or power; 0 is torch's default
	Eps            float64 // lower bound of a divisor or logarithm; 0 is torch's default
	Blank          int     // CTCLoss: class of the blank label
	ZeroInfinity   bool    // CTCLoss: infinite losses and their gradients become 0
}

// PoolOptions are the options of pooling. Each list has one number for all dimensions, or one
// per dimension. The zero value is torch's default.
type PoolOptions struct {
	Stride   []int // step of the window; default: its size
	Padding  []int // elements added on both sides, at most half the window; default 0
	Dilation []int // distance between the window's elements, for max pooling; default 1
	CeilMode bool  // keeps a window that begins inside and ends outside
	// Average pooling:
	ExcludePadding bool // leaves padding out of the divisor: count_include_pad=False
	Divisor        int  // divisor in place of the number of elements
}

// AttentionOptions are the options of ScaledDotProductAttention. The zero value is the
// default.
type AttentionOptions[T any] struct {
	// Mask broadcasts to (…, L, S). A bool mask excludes keys where it is false; any
	// other mask is added to the scores. nil applies no mask.
	Mask T
	// IsCausal lets query i attend to keys 0 to i. It excludes Mask.
	IsCausal bool
	// Scale multiplies the scores; 0 stands for 1/√E.
	Scale float64
	// DropoutP is the probability with which each weight becomes 0; the other weights
	// are divided by 1-DropoutP.
	DropoutP float64
	// EnableGQA repeats the heads of keys and values, the third dimension from the
	// end, to match the queries' heads.
	EnableGQA bool
}
