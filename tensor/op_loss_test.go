package tensor

import (
	"math"
	"strings"
	"testing"
)

// TestLossErrors checks that errors of losses name the invalid arguments and the expected ones.
func TestLossErrors(t *testing.T) {
	x, y := Zeros(2, 3), Zeros(3, 2)
	var o lossOptions
	for want, f := range map[string]func(){
		"mse_loss: shapes (2, 3) and (3, 2): input and target do not match; want equal shapes":                            func() { functional{}.MSELoss(x, y, lossOptions{}) },
		"l1_loss: Reduction is \"batchmean\"; want \"mean\", \"sum\" or \"none\"":                                         func() { functional{}.L1Loss(x, x, lossOptions{Reduction: reduceBatchMean}) },
		"smooth_l1_loss: shapes (2, 3) and (2, 3): beta is -1; want at least 0":                                           func() { functional{}.SmoothL1Loss(x, x, -1, o) },
		"huber_loss: shapes (2, 3) and (2, 3): delta is 0; want a number above 0":                                         func() { functional{}.HuberLoss(x, x, 0, o) },
		"the input contains 2; want probabilities from 0 to 1, such as Sigmoid returns":                                   func() { functional{}.BinaryCrossEntropy(Full(2, 3), Zeros(3), o) },
		"the input contains NaN; want probabilities from 0 to 1, such as Sigmoid returns":                                 func() { functional{}.BinaryCrossEntropy(Full(math.NaN(), 3), Zeros(3), o) },
		"shapes (2,) and (2, 3): cannot broadcast weight (2,) to the input's shape (2, 3)":                                func() { functional{}.BinaryCrossEntropyWithLogits(x, x, lossOptions{PosWeight: Zeros(2)}) },
		"multilabel_soft_margin_loss: shapes () and (): input and target are scalars; want classes as the last dimension": func() { functional{}.MultiLabelSoftMarginLoss(Scalar(1), Scalar(1), o) },
		"margin_ranking_loss: shapes (2, 3) and (3, 2)":                                                                   func() { functional{}.MarginRankingLoss(x, x, y, 0, o) },
		"cosine_embedding_loss: shapes (2, 3), (2, 3) and (3,): inputs and target do not match": func() {
			functional{}.CosineEmbeddingLoss(x, x, Zeros(3), 0, o)
		},
		"triplet_margin_loss: shapes (2, 3), (2, 3) and (2, 3): margin is 0 and P is 2; want both above 0, and inputs (N, D) or (D)": func() { functional{}.TripletMarginLoss(x, x, x, 0, o) },
		"kl_div: shape (): the input is a scalar; want a batch as the first dimension for ReduceBatchMean": func() {
			functional{}.KLDiv(Scalar(1), Scalar(1), lossOptions{Reduction: reduceBatchMean})
		},
		"gaussian_nll_loss: shapes (2, 3), (2, 3) and (3,): variance does not match the input; want the input's shape, or one whose last dimension is 1 or missing": func() { functional{}.GaussianNLLLoss(x, x, Zeros(3), o) },
		"nll_loss: shapes (2, 3) and (2,): the target at (1,) is 7; want a class from 0 to 2, or -100, which is ignored": func() {
			functional{}.NLLLoss(x, FromInts([]int{0, 7}), o)
		},
		"cross_entropy: shapes (1, 3, 2) and (1, 2): the target at (0, 1) is -1; want a class from 0 to 2, or 5, which": func() {
			functional{}.CrossEntropy(Zeros(1, 3, 2), FromInts([]int{5, -1}, 1, 2), lossOptions{IgnoreIndex: []int{5}})
		},
		"nll_loss: dtypes float32 and float32: target has dtype float32; want class indices of an integer dtype such as int64": func() { functional{}.NLLLoss(x, Zeros(2), o) },
		"nll_loss: shapes (2, 3) and (3,): input and target do not match":                                                      func() { functional{}.NLLLoss(x, FromInts([]int{0, 1, 2}), o) },
		"nll_loss: shapes (2, 3) and (2,): weight does not match the classes; want (3,), one weight for each class": func() {
			functional{}.NLLLoss(x, FromInts([]int{0, 1}), lossOptions{Weight: Ones(2)})
		},
		"cross_entropy: shapes (2, 3) and (2, 3): LabelSmoothing is 2; want 0 to 1, and an input (N, C), (C) or (N, C, …)": func() { functional{}.CrossEntropy(x, x, lossOptions{LabelSmoothing: 2}) },
		"cross_entropy: shapes (2, 3) and (2,): weight does not match the classes; want (3,), one weight for each class":   func() { functional{}.CrossEntropy(x, x, lossOptions{Weight: Ones(2)}) },
		"multi_margin_loss: shapes (2, 3) and (2,): P is 3; want 1 or 2": func() {
			functional{}.MultiMarginLoss(x, FromInts([]int{0, 1}), 1, lossOptions{P: 3})
		},
		"multi_margin_loss: shapes (2, 3) and (2,): the target at (0,) is -100; want a class from 0 to 2": func() {
			functional{}.MultiMarginLoss(x, FromInts([]int{-100, 1}), 1, o)
		},
		"multilabel_margin_loss: shapes (1, 3) and (1, 3): the target at (0, 1) is 3; want a class from 0 to 2, or -1 after the last": func() {
			functional{}.MultiLabelMarginLoss(Zeros(3), FromInts([]int{0, 3, -1}), o)
		},
		"dropout: shape (2, 3): p is 1.5; want a number from 0 to 1":                 func() { Dropout(x, 1.5, false) },
		"alpha_dropout: dtype int64: t has dtype int64; want a floating-point dtype": func() { AlphaDropout(FromInts([]int{1}), 0.5, true) },
		"feature_dropout: shape (3,): t is 1-D; want at least 2-D, (N, C, …)":        func() { FeatureDropout(Zeros(3), 0.5, true) },
		"variance contains -1; want at least 0":                                      func() { functional{}.GaussianNLLLoss(x, x, Full(-1, 2), o) },
	} {
		if err := Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that contains %q", err, want)
		}
	}
}

// TestLossReduction checks that the sum of 65536 losses of 1 is infinite in float16 and their mean is 1,
// since intermediate sums are not rounded.
func TestLossReduction(t *testing.T) {
	x, y := OnesLike(Zeros(65536).Half()), Zeros(65536).Half()
	for _, loss := range []func(o lossOptions) *Tensor{
		func(o lossOptions) *Tensor { return functional{}.MSELoss(x, y, o) },
		func(o lossOptions) *Tensor { return functional{}.L1Loss(x, y, o) },
		func(o lossOptions) *Tensor { return functional{}.SmoothL1Loss(x, y, 0, o) },
	} {
		if got := loss(lossOptions{}).Item(); math.Abs(got-1) > 1e-3 {
			t.Errorf("mean: got %v, want 1", got)
		}
		if got := loss(lossOptions{Reduction: reduceSum}).Item(); !math.IsInf(got, 1) {
			t.Errorf("sum: got %v, want +Inf", got)
		}
	}
}

// TestErrorsOfWeightsThatRequireGradients checks that losses reject a weight that requires a gradient if
// torch does not compute a gradient for it.
func TestErrorsOfWeightsThatRequireGradients(t *testing.T) {
	x, y, class := Rand(4, 3), Rand(4, 3), FromInts([]int{0, 2, 1, 0})
	w := Ones(3).RequireGrad()
	for name, f := range map[string]func(o lossOptions) *Tensor{
		"nll_loss":             func(o lossOptions) *Tensor { return functional{}.NLLLoss(x, class, o) },
		"cross_entropy":        func(o lossOptions) *Tensor { return functional{}.CrossEntropy(x, class, o) },
		"binary_cross_entropy": func(o lossOptions) *Tensor { return functional{}.BinaryCrossEntropy(x, y, o) },
		"multi_margin_loss":    func(o lossOptions) *Tensor { return functional{}.MultiMarginLoss(x, class, 1, o) },
		"binary_cross_entropy_with_logits": func(o lossOptions) *Tensor {
			o.PosWeight, o.Weight = o.Weight, nil
			return functional{}.BinaryCrossEntropyWithLogits(x, y, o)
		},
	} {
		err := Try(func() { f(lossOptions{Weight: w}) })
		if err == nil || !strings.Contains(err.Error(), "the weight requires a gradient") {
			t.Errorf("%s: got %v, want an error about the weight's gradient", name, err)
		}
		NoGrad(func() { f(lossOptions{Weight: w}) })
		f(lossOptions{Weight: w.Detach()})
	}
}
