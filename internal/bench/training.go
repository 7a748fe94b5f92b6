package bench

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/nn/models"
	"halfnote/tensor/optim"
)

// trainers prepare the training steps that are measured, from the sizes of a Spec and a dtype.
var trainers = map[string]func(sizes []int, dtype string) *trainer{
	"mlp":    newMLP,
	"resnet": newResNet,
	"bert":   newBERT,
}

// trainer trains a network repeatedly on the same random batch.
type trainer struct {
	policy amp.Policy
	scaler *amp.GradScaler
	opt    *optim.Optimizer
	loss   func() *tensor.Tensor
}

// newTrainer prepares steps in dtype: "float32"; "bfloat16", under autocast with the
// lists of the default device; or "float16", with a gradient scaler too. It panics for any other
// dtype.
func newTrainer(dtype string, opt *optim.Optimizer, loss func() *tensor.Tensor) *trainer {
	t := &trainer{opt: opt, loss: loss}
	gpu := tensor.DefaultDevice() != tensor.CPU
	switch {
	case dtype == "float32":
		t.policy = amp.Off
	case dtype == "bfloat16" && gpu:
		t.policy = amp.BFloat16
	case dtype == "bfloat16":
		t.policy = amp.CPUBFloat16
	case dtype == "float16" && gpu:
		t.policy = amp.Float16
	case dtype == "float16":
		t.policy = amp.CPUFloat16
	default:
		panic(&tensor.Error{Op: "bench", Why: fmt.Sprintf("training in %q; want float32, bfloat16 or float16", dtype)})
	}
	t.scaler = amp.NewGradScaler(amp.ScalerEnabled(dtype == "float16"))
	return t
}

// step runs forward, backward and the optimizer's step. It returns the loss before it, as a scalar tensor, without synchronising with the device.
func (t *trainer) step() *tensor.Tensor {
	t.opt.ZeroGrad()
	var loss *tensor.Tensor
	amp.Autocast(t.policy, func() { loss = t.loss() })
	t.scaler.Scale(loss).Backward()
	t.scaler.StepNonBlocking(t.opt)
	t.scaler.Update()
	return loss.Detach()
}

// newMLP trains linear layers with ReLU between them, by mean squared error and SGD. The sizes are those of the batch and
// of a layer, and the number of layers.
func newMLP(sizes []int, dtype string) *trainer {
	batch, width, layers := sizes[0], sizes[1], sizes[2]
	net := models.NewMLP(slices.Repeat([]int{width}, layers+1))
	draw(net)
	x, y := tensor.Randn(batch, width), tensor.Randn(batch, width)
	return newTrainer(dtype, optim.NewSGD(nn.Parameters(net), 0.1), func() *tensor.Tensor {
		return nn.MSELoss(net.Forward(x), y)
	})
}

// newResNet trains ResNet-18 on a batch of images (3, 32, 32) of ten classes, by cross entropy and SGD with momentum. The size
// is that of the batch.
func newResNet(sizes []int, dtype string) *trainer {
	net := models.NewResNet18(models.ResNetOptions{Classes: 10, SmallStem: true})
	draw(net)
	x, labels := tensor.Randn(sizes[0], 3, 32, 32), tensor.Randint(0, 10, sizes[0])
	return newTrainer(dtype, optim.NewSGD(nn.Parameters(net), 0.01, optim.Momentum(0.9)), func() *tensor.Tensor {
		return nn.CrossEntropy(net.Forward(x), labels)
	})
}

// newBERT trains a classifier with two labels, by cross entropy and AdamW, with dropout of 0.1. The sizes are those of the batch, of
// a sequence and of a layer, and the number of layers. Each head has 64 features.
func newBERT(sizes []int, dtype string) *trainer {
	const vocabulary = 30522
	batch, length, hidden, layers := sizes[0], sizes[1], sizes[2], sizes[3]
	net := models.NewBERTClassifier(models.BERTConfig{
		Vocabulary: vocabulary, Hidden: hidden, Layers: layers, Heads: hidden / 64, Intermediate: 4 * hidden, Positions: 512, Types: 2, Dropout: 0.1,
	}, 2)
	draw(net)
	ids, labels := tensor.Randint(0, vocabulary, batch, length), tensor.Randint(0, 2, batch)
	return newTrainer(dtype, optim.NewAdamW(nn.Parameters(net), 1e-4), func() *tensor.Tensor {
		return nn.CrossEntropy(net.Forward(ids), labels)
	})
}

// draw gives net parameters that any library with torch's random numbers can reproduce. In order of
// their names, those of several dimensions are normal with variance 1 / (number of elements per index
// of the first dimension); biases are 0, and other parameters of one dimension are unchanged.
func draw(net any) {
	tensor.ManualSeed(1)
	list := nn.NamedParameters(net)
	slices.SortFunc(list, func(a, b nn.Named) int { return strings.Compare(a.Name, b.Name) })
	tensor.NoGrad(func() {
		for _, p := range list {
			switch t := p.Tensor; {
			case t.Dim() > 1:
				t.Assign(tensor.Randn(t.Shape()...).MulScalar(1 / math.Sqrt(float64(t.Numel()/t.Size(0)))))
			case strings.HasSuffix(p.Name, "bias"):
				t.Fill(0)
			}
		}
	})
}
