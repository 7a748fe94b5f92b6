package nn_test

import (
	"math"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// TestUpdateBN compares running statistics with the averages of the batches' means and
// unbiased variances, as torch.optim.swa_utils.update_bn computes them.
func TestUpdateBN(t *testing.T) {
	tensor.ManualSeed(3)
	first, untracked := nn.NewBatchNorm1d(2, nn.Momentum(0.5)), nn.NewBatchNorm1d(2, nn.TrackRunningStats(false))
	instance := nn.NewInstanceNorm1d(2, nn.TrackRunningStats(true))
	net := nn.NewSequential(first, untracked)
	other := []any{net, instance}
	nn.Eval(untracked)
	batches := []*tensor.Tensor{tensor.Randn(5, 2), tensor.Randn(5, 2).MulScalar(3), tensor.Randn(5, 2).AddScalar(7)}
	first.RunningMean.Fill(100)
	instance.RunningMean.Fill(100)
	var want [2][2]float64 // mean and variance of each channel
	for _, x := range batches {
		mean, variance := x.Mean(0).Float64s(), x.Var(0).Float64s()
		for c := range 2 {
			want[c][0] += mean[c] / 3
			want[c][1] += variance[c] / 3
		}
	}
	calls := 0
	nn.UpdateBN(other, func() {
		for _, x := range batches {
			calls++
			if y := net.Forward(x); y.RequiresGrad() || !first.Training() || !untracked.Training() {
				t.Error("pass ran with the tape on, or with a layer in evaluation")
			}
		}
	})
	for c := range 2 {
		for i, got := range []float64{first.RunningMean.At(c), first.RunningVar.At(c)} {
			if math.Abs(got-want[c][i]) > 1e-5*math.Abs(want[c][i]) {
				t.Errorf("channel %d, statistic %d: got %v, want %v", c, i, got, want[c][i])
			}
		}
	}
	if calls != 3 || first.NumBatchesTracked.Item() != 3 || !first.Training() || untracked.Training() {
		t.Errorf("got %d calls, %v batches tracked, modes %v and %v; want 3, 3 and unchanged modes", calls, first.NumBatchesTracked.Item(), first.Training(), untracked.Training())
	}
	if instance.RunningMean.At(0) != 100 {
		t.Error("the statistics of an instance norm were reset")
	}
	before := first.RunningMean.At(0)
	net.Forward(tensor.Zeros(5, 2))
	if got := first.RunningMean.At(0); math.Abs(got-before/2) > 1e-6 {
		t.Errorf("mean after a batch of zeros: got %v, want %v from the layer's own momentum", got, before/2)
	}
	nn.UpdateBN(nn.NewLinear(2, 2), func() { t.Error("pass was called without batch-norm layers") })
}

// TestUpdateBNPanics checks that modes and momentum are restored if pass panics.
func TestUpdateBNPanics(t *testing.T) {
	bn := nn.NewBatchNorm1d(2, nn.Momentum(0.5))
	nn.Eval(bn)
	err := tensor.Try(func() { nn.UpdateBN(bn, func() { bn.Forward(tensor.Ones(4, 3)) }) })
	if err == nil || bn.Training() {
		t.Errorf("got error %v and training mode %v", err, bn.Training())
	}
}

func TestParametersToVectorAndBack(t *testing.T) {
	net := nn.NewLinear(3, 2)
	params := nn.Parameters(net)
	v := nn.ParametersToVector(params)
	if v.Dim() != 1 || v.Numel() != 8 || v.At(7) != net.Bias.At(1) || v.At(2) != net.Weight.At(0, 2) {
		t.Errorf("got the vector %v for %v and %v", v, net.Weight, net.Bias)
	}
	v.Mul(tensor.Arange(0, 8)).Sum().Backward()
	if net.Weight.Grad().At(1, 0) != 3 || net.Bias.Grad().At(1) != 7 {
		t.Errorf("got gradients %v and %v, want 0 to 7", net.Weight.Grad(), net.Bias.Grad())
	}
	nn.VectorToParameters(tensor.Arange(0, 8), params)
	if net.Weight.At(1, 1) != 4 || net.Bias.At(0) != 6 || !net.Weight.IsLeaf() {
		t.Errorf("got %v and %v; want 0 to 7", net.Weight, net.Bias)
	}
	for want, f := range map[string]func(){
		"tensor: parameters_to_vector: params is empty; want at least one tensor, for example from nn.Parameters(net)": func() { nn.ParametersToVector(nil) },
		"tensor: vector_to_parameters: a tensor of shape (7,) for 2 parameters with 8 elements; want a vector of 8":    func() { nn.VectorToParameters(tensor.Zeros(7), params) },
		"tensor: vector_to_parameters: a nil tensor for 2 parameters with 8 elements; want a vector of 8":              func() { nn.VectorToParameters(nil, params) },
		"tensor: vector_to_parameters: parameter 1 is nil; want a tensor":                                              func() { nn.VectorToParameters(v, []*tensor.Tensor{net.Weight, nil}) },
	} {
		if err := tensor.Try(f); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
