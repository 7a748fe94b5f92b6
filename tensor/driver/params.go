package driver

import "fmt"

// Params holds the parameters of a code that needs more than the scalars of a [Kernel]. The code's
// comment names its type. All types are comparable.
type Params interface{ params() }

// ParamsOf returns k's parameters. It panics if they have another type.
func ParamsOf[P Params](k Kernel) P {
	p, ok := k.Params.(P)
	if !ok {
		panic(fmt.Sprintf("driver: %v: parameters have type %T; want %T", k.Code, k.Params, p))
	}
	return p
}

// SortParams are the parameters of [ArgSort].
type SortParams struct {
	Descending bool // the largest element comes first
}

// ContractParams are the parameters of [Contract]: the numbers of axes of the rows, of the columns
// and of the sum, each at least 1.
type ContractParams struct{ Rows, Columns, Sum int }

// SGDParams are the parameters of [SGD] and [GuardedSGD].
type SGDParams struct {
	Rate      float64 // learning rate; GuardedSGD takes it from the row
	Momentum  float64
	Decay     float64 // weight decay
	Dampening float64
	Nesterov  bool
	First     bool // the velocity is undefined before this step
}

// AdamParams are the parameters of [Adam] and [GuardedAdam].
type AdamParams struct {
	Rate         float64 // learning rate divided by 1 - Beta1^n at step n; GuardedAdam takes it from the row
	Beta1, Beta2 float64
	Eps          float64
	Decay        float64 // fraction of dst that is subtracted first
	Scale        float64 // 1/sqrt(1 - Beta2^n); GuardedAdam takes it from the row
}

// BernoulliParams are the parameters of [Bernoulli] and [BernoulliBits].
type BernoulliParams struct {
	P   float64   // probability of true
	Key [2]uint32 // key of the generator
	Row int       // elements per row, for BernoulliBits
}

// AttentionParams are the parameters of [Attention] and [AttentionGrad].
type AttentionParams struct {
	Scale   float64 // factor of the scores
	Kept    float64 // factor of weights that dropout keeps
	Causal  bool    // query i sees keys 0 to i; excludes a mask
	Masked  bool    // there is a mask
	Dropout bool    // there are bits of dropout
}

// AdvanceParams are the parameters of [Advance]. The betas are 0 for SGD.
type AdvanceParams struct{ Rate, Beta1, Beta2 float64 }

// ScaleParams are the parameters of [UpdateScale].
type ScaleParams struct {
	Growth, Backoff float64
	Interval        int // clean steps before the scale grows
	Hysteresis      int // overflows before the scale shrinks
	Min, Max        float32
}

func (SortParams) params()      {}
func (ContractParams) params()  {}
func (SGDParams) params()       {}
func (AdamParams) params()      {}
func (BernoulliParams) params() {}
func (AttentionParams) params() {}
func (AdvanceParams) params()   {}
func (ScaleParams) params()     {}
