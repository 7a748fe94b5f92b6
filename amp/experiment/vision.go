package experiment

import (
	"fmt"

	"halfnote/amp"
	"halfnote/amp/apex"
	"halfnote/tensor"
	"halfnote/tensor/data"
	"halfnote/tensor/nn"
	"halfnote/tensor/nn/models"
	"halfnote/tensor/optim"
)

// Vision holds the sizes of [TinyResNet].
type Vision struct {
	Depth         int // 8, 14, 20, …; 50 is ResNet-50
	Images, Batch int
	Epochs        int
	LR            float64
	Levels        []string // levels of Apex, such as "O2", besides float32 and autocast
	Seed          int64
}

// LaptopVision returns sizes that take seconds on two cores: ResNet-8, 64 images.
func LaptopVision() Vision {
	return Vision{Depth: 8, Images: 64, Batch: 16, Epochs: 2, LR: 0.05, Levels: []string{"O1", "O2", "O3"}, Seed: 1}
}

// FullVision returns the sizes of the notes on PyTorch's AMP and Apex: ResNet-50 with batches of 128,
// on as many images as in CIFAR-10.
func FullVision() Vision {
	return Vision{Depth: 50, Images: 50000, Batch: 128, Epochs: 1, LR: 0.1, Levels: []string{"O0", "O1", "O2", "O3"}, Seed: 1}
}

// TinyResNet trains a residual network on synthetic images like CIFAR-10's, with momentum and cross
// entropy: in float32, under autocast with a scaler, and at levels of Apex, from the same parameters.
// The score is the accuracy on a quarter as many images, which are not used for training.
func TinyResNet(s Vision) *RunsReport {
	set := data.SyntheticCIFAR(s.Images+s.Images/4, s.Seed)
	images, labels := set.Fields[0].Float().MulScalar(1.0/128).AddScalar(-1), set.Fields[1]
	specs := []runSpec{
		{name: "float32", dtype: "float32", policy: amp.Off},
		{name: "autocast + scaler", dtype: "float16", policy: amp.Float16, scale: 65536},
	}
	for _, name := range s.Levels {
		dtype := "float16"
		if name == "O0" {
			dtype = "float32"
		}
		level := apex.Level(name).Verbosity(0)
		specs = append(specs, runSpec{name: "Apex " + name, dtype: dtype, apex: &level})
	}
	r := &RunsReport{}
	for _, t := range specs {
		net := s.net()
		per := s.Images / s.Batch
		t.steps = per * s.Epochs
		var last func(x *tensor.Tensor) *tensor.Tensor
		run := t.run(net, func(params []*tensor.Tensor) *optim.Optimizer { return optim.NewSGD(params, s.LR, optim.Momentum(0.9)) },
			func(i int, forward func(x *tensor.Tensor) *tensor.Tensor) *tensor.Tensor {
				last = forward
				from := i % per * s.Batch
				return nn.CrossEntropy(forward(images.Slice(0, from, from+s.Batch)), labels.Slice(0, from, from+s.Batch))
			})
		nn.Eval(net)
		right, n := 0.0, 0
		tensor.NoGrad(func() {
			amp.Autocast(t.policy, func() {
				for from := s.Images; from+s.Batch <= images.Size(0); from += s.Batch {
					right += last(images.Slice(0, from, from+s.Batch)).Argmax(1).Eq(labels.Slice(0, from, from+s.Batch)).Float().Sum().Item()
					n += s.Batch
				}
			})
		})
		run.Score = right / float64(max(n, 1))
		r.Runs = append(r.Runs, run)
	}
	r.compare()
	r.Says = fmt.Sprintf("Final losses: float32 %.3g", r.Runs[0].Final())
	for _, run := range r.Runs[1:] {
		r.Says += fmt.Sprintf(", %s %.3g", run.Name, run.Final())
	}
	r.Says += "."
	return r
}

func (s Vision) net() nn.Module {
	o := models.ResNetOptions{Classes: 10, SmallStem: true, InitFrom: tensor.NewGenerator(s.Seed)}
	if s.Depth == 50 {
		return models.NewResNet50(o)
	}
	return models.NewCIFARResNet(s.Depth, o)
}
