package nn_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// TestLosses compares each loss module with the loss function, and default options with the same options given
// explicitly.
func TestLosses(t *testing.T) {
	x := tensor.New([]float64{.1, .7, .2, .6, .3, .1}, 2, 3)
	y := tensor.New([]float64{.3, .3, .4, .1, .8, .1}, 2, 3)
	w := tensor.New([]float64{.5, 1, 2})
	classes, signs := tensor.FromInts([]int{2, 0}), tensor.New([]float64{1, -1, 1, 1, -1, -1}, 2, 3)
	sum, sums := nn.Reduction("sum"), []nn.Option{nn.Reduction("sum")}
	weighted := []nn.Option{nn.Weight(w), nn.IgnoreIndex(2), nn.LabelSmoothing(.1)}
	for _, c := range []struct {
		loss *nn.Loss
		more *tensor.Tensor // further inputs
		y    *tensor.Tensor
		want *tensor.Tensor
		f    *tensor.Tensor
	}{
		{nn.NewMSELoss(), nil, y, nn.MSELoss(x, y), nn.MSELoss(x, y)},
		{nn.NewL1Loss(sum), nil, y, nn.L1Loss(x, y, sums...), nn.L1Loss(x, y, sum)},
		{nn.NewSmoothL1Loss(nn.Beta(.3)), nil, y, nn.SmoothL1Loss(x, y, nn.Beta(.3)), nn.SmoothL1Loss(x, y, nn.Beta(.3))},
		{nn.NewHuberLoss(nn.Delta(.3)), nil, y, nn.HuberLoss(x, y, nn.Delta(.3)), nn.HuberLoss(x, y, nn.Delta(.3))},
		{nn.NewCrossEntropyLoss(nn.Weight(w), nn.IgnoreIndex(2), nn.LabelSmoothing(.1)), nil, classes, nn.CrossEntropy(x, classes, weighted...), nn.CrossEntropy(x, classes, nn.Weight(w), nn.IgnoreIndex(2), nn.LabelSmoothing(.1))},
		{nn.NewNLLLoss(nn.Weight(w)), nil, classes, nn.NLLLoss(x, classes, nn.Weight(w)), nn.NLLLoss(x, classes, nn.Weight(w))},
		{nn.NewBCELoss(nn.Weight(w)), nil, y, nn.BinaryCrossEntropy(x, y, nn.Weight(w)), nn.BinaryCrossEntropy(x, y, nn.Weight(w))},
		{nn.NewBCEWithLogitsLoss(nn.PosWeight(w)), nil, y, nn.BinaryCrossEntropyWithLogits(x, y, nn.PosWeight(w)), nn.BinaryCrossEntropyWithLogits(x, y, nn.PosWeight(w))},
		{nn.NewKLDivLoss(nn.LogTarget()), nil, y, nn.KLDiv(x, y, nn.LogTarget()), nn.KLDiv(x, y, nn.LogTarget())},
		{nn.NewPoissonNLLLoss(nn.LogInput(false), nn.FullLoss()), nil, y, nn.PoissonNLLLoss(x, y, nn.LogInput(false), nn.FullLoss()), nn.PoissonNLLLoss(x, y, nn.LogInput(false), nn.FullLoss())},
		{nn.NewGaussianNLLLoss(nn.FullLoss()), x, y, nn.GaussianNLLLoss(x, y, x, nn.FullLoss()), nn.GaussianNLLLoss(x, y, x, nn.FullLoss())},
		{nn.NewHingeEmbeddingLoss(), nil, signs, nn.HingeEmbeddingLoss(x, signs, nn.Margin(1)), nn.HingeEmbeddingLoss(x, signs)},
		{nn.NewCosineEmbeddingLoss(), tensor.Ones(2), y, nn.CosineEmbeddingLoss(x, y, tensor.Ones(2), nn.Margin(0)), nn.CosineEmbeddingLoss(x, y, tensor.Ones(2))},
		{nn.NewMarginRankingLoss(nn.Margin(.5)), signs, y, nn.MarginRankingLoss(x, y, signs, nn.Margin(.5)), nn.MarginRankingLoss(x, y, signs, nn.Margin(.5))},
		{nn.NewSoftMarginLoss(), nil, signs, nn.SoftMarginLoss(x, signs), nn.SoftMarginLoss(x, signs)},
		{nn.NewMultiLabelSoftMarginLoss(nn.Weight(w)), nil, y, nn.MultiLabelSoftMarginLoss(x, y, nn.Weight(w)), nn.MultiLabelSoftMarginLoss(x, y, nn.Weight(w))},
		{nn.NewMultiLabelMarginLoss(), nil, signs.ReLU().Long(), nn.MultiLabelMarginLoss(x, signs.ReLU().Long()), nn.MultiLabelMarginLoss(x, signs.ReLU().Long())},
		{nn.NewMultiMarginLoss(nn.P(2)), nil, classes, nn.MultiMarginLoss(x, classes, nn.Margin(1), nn.P(2)), nn.MultiMarginLoss(x, classes, nn.P(2))},
		{nn.NewTripletMarginLoss(nn.P(1), nn.DistanceSwap()), x.Neg(), y, nn.TripletMarginLoss(x, y, x.Neg(), nn.Margin(1), nn.P(1), nn.DistanceSwap()), nn.TripletMarginLoss(x, y, x.Neg(), nn.P(1), nn.DistanceSwap())},
	} {
		more := []*tensor.Tensor{c.more}
		if c.more == nil {
			more = nil
		}
		if got := c.loss.Forward(x, c.y, more...); !tensor.Equal(got, c.want) || !tensor.Equal(c.f, c.want) || math.IsNaN(got.Item()) {
			t.Errorf("%v: module gives %v, function %v, want %v", c.loss, got, c.f, c.want)
		}
		if !strings.HasSuffix(fmt.Sprint(c.loss), "Loss()") {
			t.Errorf("got string %v", c.loss)
		}
	}
	for want, f := range map[string]func(){
		"MSELoss: option Margin is not supported here; want one of [Reduction]":                             func() { nn.NewMSELoss(nn.Margin(1)) },
		"triplet_margin_loss: Forward was called with two tensors; want three, the last being the negative": func() { nn.NewTripletMarginLoss().Forward(x, y) },
		"Dropout: the probability is -1; want a number from 0 to 1":                                         func() { nn.NewDropout(-1) },
		"Dropout2d: shape (2, 3): input is 2-D; want 3-D, or 4-D with a batch":                              func() { nn.NewDropout2d(.5).Forward(x) },
	} {
		if err := tensor.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that contains %q", err, want)
		}
	}
	if got := nn.StateDict(nn.NewBCEWithLogitsLoss(nn.PosWeight(w))); len(got) != 1 || !tensor.Equal(got["pos_weight"], w) {
		t.Errorf("got state %v, want pos_weight, which is a buffer in torch", got)
	}
}

func TestDropout(t *testing.T) {
	x := tensor.Ones(4, 50)
	for _, d := range []*nn.Dropout{nn.NewDropout(.5), nn.NewAlphaDropout(.5), nn.NewFeatureAlphaDropout(.5), nn.NewDropout1d(.5)} {
		net := nn.NewSequential(d)
		if got := net.Forward(x); tensor.Equal(got, x) {
			t.Errorf("%v: no element was dropped in training", d)
		}
		nn.Eval(net)
		if got := net.Forward(x); !tensor.Equal(got, x) {
			t.Errorf("%v: elements were dropped in evaluation", d)
		}
	}
	planes := nn.NewDropout2d(.5).Forward(tensor.Ones(8, 3, 3))
	if planes.Dim() != 3 {
		t.Errorf("result of planes: got %d dimensions, want 3", planes.Dim())
	}
	for _, p := range planes.Reshape(8, 9).Mean(1).Float64s() {
		if p != 0 && p != 2 {
			t.Errorf("mean of a plane: got %v, want 0 or 2", p)
		}
	}
	if got, want := fmt.Sprint(nn.NewDropout3d(.25)), "Dropout3d(p=0.25, inplace=False)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
