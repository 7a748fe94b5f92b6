package nn_test

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/driver"
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

func TestCTCErrors(t *testing.T) {
	x, target := tensor.Randn(5, 2, 4).LogSoftmax(-1), tensor.FromInts([]int{1, 2, 3, 3}, 2, 2)
	long := func(n ...int) *tensor.Tensor { return tensor.FromInts(n) }
	for want, f := range map[string]func(){
		"tensor: ctc_loss: an operand is nil":                                                                                          func() { nn.CTCLoss(x, target, nil, long(2, 2)) },
		"tensor: ctc_loss: shape (4,): want non-empty log-probabilities":                                                               func() { nn.CTCLoss(tensor.Zeros(4), target, long(5, 5), long(2, 2)) },
		"tensor: ctc_loss: shapes (5, 2, 4) and (2,): input length 1 is 6; want 0 to 5":                                                func() { nn.CTCLoss(x, target, long(5, 6), long(2, 2)) },
		"tensor: ctc_loss: shapes (5, 2, 4) and (2,): target length 0 is 3; want 0 to 2":                                               func() { nn.CTCLoss(x, target, long(5, 5), long(3, 2)) },
		"tensor: ctc_loss: dtypes float32 and int64: input lengths do not match the input; want one integer for each sample, 2 in all": func() { nn.CTCLoss(x, target, long(5), long(2, 2)) },
		"tensor: ctc_loss: shapes (5, 2, 4) and (4,): the target lengths add":                                                          func() { nn.CTCLoss(x, target.Reshape(4), long(5, 5), long(2, 1)) },
		"tensor: ctc_loss: shapes (5, 2, 4) and (2, 2): element 0 of target 1 is 4; want a class from 0 to 3":                          func() { nn.CTCLoss(x, target.AddScalar(1), long(5, 5), long(2, 2)) },
		"tensor: ctc_loss: shape (5, 2, 4): Blank is 4; want a class from 0 to 3":                                                      func() { nn.CTCLoss(x, target, long(5, 5), long(2, 2), nn.Blank(4)) },
		"tensor: ctc_loss: Forward was not called with four tensors":                                                                   func() { nn.NewCTCLoss().Forward(x, target) },
		"tensor: CTCLoss: option Margin is not supported here":                                                                         func() { nn.NewCTCLoss(nn.Margin(1)) },
		"tensor: ctc_loss_double_backward: shape (5, 2, 4): the third derivative is not supported": func() {
			x := x.Detach().RequireGrad()
			y := nn.CTCLoss(x, target, long(5, 5), long(2, 2))
			for range 3 {
				g := tensor.GradWith(y, []*tensor.Tensor{x}, tensor.BackwardOptions{CreateGraph: true})
				y = g[0].Mul(g[0]).Sum()
			}
		},
	} {
		if err := tensor.Try(f); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	if got := nn.NewCTCLoss(nn.Blank(1)).String(); got != "CTCLoss()" {
		t.Errorf("got %s, want CTCLoss()", got)
	}
}

// TestCTCLossCanBeInterrupted checks that a long loss and its derivative end when a poll panics.
func TestCTCLossCanBeInterrupted(t *testing.T) {
	const times, length = 1000, 200
	classes := make([]int, length)
	for i := range classes {
		classes[i] = 1 + i%3
	}
	x := tensor.Zeros(times, 1, 4).LogSoftmax(-1).RequireGrad()
	loss := func() *tensor.Tensor {
		return nn.CTCLoss(x, tensor.FromInts(classes), tensor.FromInts([]int{times}), tensor.FromInts([]int{length}))
	}
	y := loss()
	for name, f := range map[string]func(){"forward": func() { loss() }, "backward": func() { y.Backward() }} {
		polls := 0
		driver.SetHost(driver.Host{Poll: func() {
			if polls++; polls == times/2 {
				panic("interrupted")
			}
		}})
		func() {
			defer driver.SetHost(driver.Host{})
			defer func() {
				if p := recover(); p != "interrupted" {
					t.Errorf("%s: ended after %d polls with %v, want \"interrupted\"", name, polls, p)
				}
			}()
			f()
		}()
	}
}

// TestCTCBackwardMemory checks that the derivative of a long sequence allocates far less than the
// forward variables, which are one number for each time step and label.
func TestCTCBackwardMemory(t *testing.T) {
	const times, length = 2000, 200
	classes := make([]int, length)
	for i := range classes {
		classes[i] = 1 + i%3
	}
	x := tensor.Zeros(times, 1, 4).LogSoftmax(-1).RequireGrad()
	y := nn.CTCLoss(x, tensor.FromInts(classes), tensor.FromInts([]int{times}), tensor.FromInts([]int{length}))
	const variables = times * (2*length + 1) * 8
	peak := uint64(0)
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before := m.HeapAlloc
	polls := 0
	driver.SetHost(driver.Host{Poll: func() {
		if polls++; polls%500 == 0 {
			runtime.GC()
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc)
		}
	}})
	defer driver.SetHost(driver.Host{})
	y.Backward()
	if used := int64(peak) - int64(before); peak == 0 || used > variables/4 {
		t.Errorf("the derivative allocated %d bytes; want less than a quarter of %d", used, variables)
	}
}
