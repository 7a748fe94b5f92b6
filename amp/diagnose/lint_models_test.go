package diagnose_test

import (
	"testing"

	"halfnote/amp"
	"halfnote/amp/diagnose"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/nn/models"
	"halfnote/tensor/optim"
)

type lstm struct {
	Emb *nn.Embedding
	RNN *nn.LSTM
	Out *nn.Linear
}

func TestLintCleanModels(t *testing.T) {
	tensor.ManualSeed(2)
	scaler := amp.NewGradScaler(amp.InitScale(256))
	learn := func(opt *optim.Optimizer, forward func() *tensor.Tensor) func() {
		return func() {
			opt.ZeroGrad()
			var loss *tensor.Tensor
			amp.Autocast(amp.Float16, func() { loss = forward() })
			scaler.Scale(loss).Backward()
			scaler.Unscale(opt)
			nn.ClipGradNorm(opt.Params(), 1)
			scaler.Step(opt)
			scaler.Update()
		}
	}
	t.Run("bert", func(t *testing.T) {
		c := models.BERTConfig{Vocabulary: 100, Hidden: 64, Layers: 2, Heads: 4, Intermediate: 128, Positions: 32, Types: 2, Dropout: 0.1}
		net := models.NewBERTClassifier(c, 1)
		ids, labels := tensor.Randint(1, 100, 8, 16), tensor.Bernoulli(0.5, 8)
		mask := tensor.Ones(8, 16)
		step := learn(optim.NewAdamW(nn.Parameters(net), 2e-5), func() *tensor.Tensor {
			return nn.BinaryCrossEntropyWithLogits(net.ForwardInput(models.BERTInput{IDs: ids, Mask: mask}).Squeeze(1), labels)
		})
		if report := diagnose.Lint(net, step); !report.Clean() {
			t.Errorf("%v", report)
		}
	})
	t.Run("lstm", func(t *testing.T) {
		m := &lstm{nn.NewEmbedding(64, 64), nn.NewLSTM(64, 64, nn.BatchFirst(), nn.NumLayers(2)), nn.NewLinear(64, 64)}
		ids := tensor.Randint(0, 64, 8, 16)
		if report := diagnose.Lint(m, learn(optim.NewAdam(nn.Parameters(m), 1e-3), func() *tensor.Tensor {
			y := m.RNN.Forward(m.Emb.Forward(ids))
			return nn.CrossEntropy(m.Out.Forward(y).Reshape(-1, 64), ids.Reshape(-1))
		})); !report.Clean() {
			t.Errorf("%v", report)
		}
	})
	t.Run("transformer", func(t *testing.T) {
		enc := nn.NewTransformerEncoder(nn.NewTransformerEncoderLayer(64, 4, nn.BatchFirst()), 2, nil)
		head := nn.NewLinear(64, 64)
		net := map[string]any{"enc": enc, "head": head}
		x, y := tensor.Randn(8, 16, 64), tensor.Randint(0, 64, 8)
		if report := diagnose.Lint(net, learn(optim.NewAdamW(nn.Parameters(net), 1e-3), func() *tensor.Tensor {
			return nn.CrossEntropy(head.Forward(enc.Forward(x).Mean(1)), y)
		})); !report.Clean() {
			t.Errorf("%v", report)
		}
	})
	t.Run("autoencoder", func(t *testing.T) {
		net := nn.NewSequential(nn.NewConv2d(8, 16, 3, nn.Padding(1)), nn.NewGroupNorm(4, 16), nn.NewSiLU(), nn.NewConv2d(16, 32, 3, nn.Stride(2)), nn.NewBatchNorm2d(32), nn.NewLeakyReLU(0.1), nn.NewConvTranspose2d(32, 16, 3, nn.Stride(2)), nn.NewInstanceNorm2d(16), nn.NewGELU(), nn.NewConv2d(16, 8, 1))
		x := tensor.Rand(4, 8, 17, 17)
		if report := diagnose.Lint(net, learn(optim.NewRMSprop(nn.Parameters(net), 1e-3), func() *tensor.Tensor {
			y := net.Forward(x)
			return nn.SmoothL1Loss(y, x).Add(nn.KLDiv(y.Float().LogSoftmax(1), x.Softmax(1)).MulScalar(0.1))
		})); !report.Clean() {
			t.Errorf("%v", report)
		}
	})
	t.Run("custom softmax attention", func(t *testing.T) {
		b := newBench()
		net := nn.NewSequential(b.net, nn.NewLayerNorm([]int{64}))
		opt := optim.NewSGD(nn.Parameters(net), 0.1, optim.Momentum(0.9), optim.WeightDecay(1e-4))
		if report := diagnose.Lint(net, learn(opt, func() *tensor.Tensor {
			h := net.Forward(b.x)
			scores := h.MatMul(h.T()).MulScalar(0.125)
			mask := tensor.Ones(64, 64).Triu(1).To(tensor.Bool)
			scores = scores.MaskedFill(mask, -1e4)
			p := scores.Softmax(-1)
			out := p.MatMul(h)
			l2 := tensor.Scalar(0)
			for _, w := range nn.Parameters(net) {
				l2 = l2.Add(w.Pow(2).Sum())
			}
			return nn.MSELoss(out, b.y).Add(l2.MulScalar(1e-5))
		})); !report.Clean() {
			t.Errorf("%v", report)
		}
	})
	t.Run("resnet", func(t *testing.T) {
		net := models.NewCIFARResNet(8, models.ResNetOptions{})
		x, y := tensor.Randn(4, 3, 32, 32), tensor.Randint(0, 10, 4)
		step := learn(optim.NewSGD(nn.Parameters(net), 0.1, optim.Momentum(0.9)), func() *tensor.Tensor { return nn.CrossEntropy(net.Forward(x), y) })
		if report := diagnose.Lint(net, step); !report.Clean() {
			t.Errorf("%v", report)
		}
	})
}
