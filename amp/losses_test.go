package amp_test

import (
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// TestLosses checks that under float16 autocast losses are float32, whether they are on torch's
// list or composed of operations on it, that dropout keeps the dtype of its input, and that binary
// cross entropy panics.
func TestLosses(t *testing.T) {
	x := tensor.New([]float64{.1, .7, .2, .6, .3, .1}, 2, 3).Half()
	y := tensor.New([]float64{.3, .3, .4, .1, .8, .1}, 2, 3).Half()
	classes, signs := tensor.FromInts([]int{2, 0}), tensor.New([]float64{1, -1, 1, 1, -1, -1}, 2, 3).Half()
	amp.Autocast(amp.Float16, func() {
		for name, loss := range map[string]*tensor.Tensor{
			"mse_loss": nn.MSELoss(x, y), "l1_loss": nn.L1Loss(x, y), "smooth_l1_loss": nn.SmoothL1Loss(x, y), "huber_loss": nn.HuberLoss(x, y),
			"nll_loss": nn.NLLLoss(x, classes), "nll_loss2d": nn.NLLLoss(x.Unsqueeze(2), classes.Unsqueeze(1)),
			"cross_entropy": nn.CrossEntropy(x, classes), "cross_entropy of probabilities": nn.CrossEntropy(x, y),
			"binary_cross_entropy_with_logits": nn.BinaryCrossEntropyWithLogits(x, y), "kl_div": nn.KLDiv(x, y),
			"poisson_nll_loss": nn.PoissonNLLLoss(x, y), "gaussian_nll_loss": nn.GaussianNLLLoss(x, y, y),
			"hinge_embedding_loss": nn.HingeEmbeddingLoss(x, signs), "margin_ranking_loss": nn.MarginRankingLoss(x, y, signs),
			"cosine_embedding_loss": nn.CosineEmbeddingLoss(x, y, tensor.Ones(2)), "soft_margin_loss": nn.SoftMarginLoss(x, signs),
			"multi_margin_loss": nn.MultiMarginLoss(x, classes), "multilabel_margin_loss": nn.MultiLabelMarginLoss(x, signs.ReLU().Long()),
			"multilabel_soft_margin_loss": nn.MultiLabelSoftMarginLoss(x, y), "triplet_margin_loss": nn.TripletMarginLoss(x, y, signs),
		} {
			if loss.DType() != tensor.Float32 {
				t.Errorf("%s: got %v, want float32", name, loss.DType())
			}
		}
		if d := tensor.Dropout(x, 0.5, true).DType(); d != tensor.Float16 {
			t.Errorf("dropout: got %v, want float16", d)
		}
	})
	err := try(func() {
		amp.Autocast(amp.Float16, func() { nn.BinaryCrossEntropy(x, y) })
	})
	if err == nil || !strings.Contains(err.Error(), "amp: binary_cross_entropy: unsafe to autocast") {
		t.Errorf("binary_cross_entropy under autocast: got %v, want an error that contains \"unsafe to autocast\"", err)
	}
}
