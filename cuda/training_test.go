//go:build cuda && linux && cgo

package cuda_test

import (
	"math"
	"slices"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/nn/models"
	"halfnote/tensor/optim"
)

// subject is a network with its batch and loss.
type subject struct {
	net  nn.Module
	x, y *tensor.Tensor
	loss func(x, target *tensor.Tensor, options ...nn.Option) *tensor.Tensor
}

// subjects maps names to constructors of networks on the CPU. They draw from the global generator.
var subjects = map[string]func() *subject{
	"mlp": func() *subject {
		return &subject{models.NewMLP([]int{16, 32, 32, 4}), tensor.Randn(24, 16), tensor.Randn(24, 4), nn.MSELoss}
	},
	"cnn": func() *subject {
		net := nn.NewSequential(
			nn.NewConv2d(3, 8, 3, nn.Padding(1), nn.Bias(false)), nn.NewBatchNorm2d(8), nn.NewReLU(), nn.NewMaxPool2d(2),
			nn.NewConv2d(8, 8, 3, nn.Padding(1), nn.Bias(false)), nn.NewBatchNorm2d(8), nn.NewReLU(), nn.NewAvgPool2d(2),
			nn.NewFlatten(), nn.NewLinear(32, 4),
		)
		return &subject{net, tensor.Randn(6, 3, 8, 8), labels(6, 4), nn.CrossEntropy}
	},
	"bert": func() *subject {
		net := models.NewBERTClassifier(models.BERTConfig{Vocabulary: 40, Hidden: 64, Layers: 1, Heads: 2, Intermediate: 128, Positions: 8, Types: 2}, 3)
		return &subject{net, tensor.Randint(1, 40, 4, 8), labels(4, 3), nn.CrossEntropy}
	},
}

// labels returns n labels: 0, 1 … modulo the number of classes.
func labels(n, classes int) *tensor.Tensor {
	all := make([]int, n)
	for i := range all {
		all[i] = i % classes
	}
	return tensor.FromInts(all)
}

// newSubject returns a network on a device, the same each time.
func newSubject(name string, d tensor.Device) *subject {
	tensor.ManualSeed(7)
	s := subjects[name]()
	nn.To(s.net, d)
	s.x, s.y = s.x.ToDevice(d), s.y.ToDevice(d)
	return s
}

// training holds the settings of a training run.
type training struct {
	policy amp.Policy
	scaler []amp.ScalerOption // nil: no scaler
	adam   bool
	fused  bool
}

func (c training) optimizer(params []*tensor.Tensor) *optim.Optimizer {
	var options []optim.Option
	if c.fused {
		options = append(options, optim.Fused())
	}
	if c.adam {
		// Some gradients are 0 except for rounding, for example those of key biases: with a smaller
		// epsilon the sign of the rounding error would move them.
		return optim.NewAdamW(params, 1e-2, append(options, optim.Eps(1e-3))...)
	}
	return optim.NewSGD(params, 0.05, append(options, optim.Momentum(0.9))...)
}

// record is the result of a run: values per step, and the parameters before and after.
type record struct {
	losses, scales []float64
	skipped        []bool
	before, after  []float64
}

func (c training) run(s *subject, steps int) (r record) {
	params := nn.Parameters(s.net)
	r.before = contents(params)
	opt := c.optimizer(params)
	scaler := amp.NewGradScaler(append(slices.Clone(c.scaler), amp.ScalerEnabled(c.scaler != nil))...)
	for range steps {
		opt.ZeroGrad()
		var loss *tensor.Tensor
		amp.Autocast(c.policy, func() { loss = s.loss(s.net.Forward(s.x), s.y) })
		scaler.Scale(loss).Backward()
		result := scaler.Step(opt)
		r.skipped = append(r.skipped, result.Skipped)
		scaler.Update()
		r.losses = append(r.losses, loss.Item())
		r.scales = append(r.scales, scaler.CurrentScale())
	}
	r.after = contents(params)
	return r
}

func contents(list []*tensor.Tensor) (all []float64) {
	for _, t := range list {
		all = append(all, t.Detach().Float64s()...)
	}
	return all
}

// TestTrajectories compares training on the GPU with training on the CPU from the same weights and
// data. Scales and skipped steps are equal. Losses agree within a relative tolerance, and parameters
// within a share of their total change: the orders of summation differ, and half precision sometimes
// rounds values that differ in the last float32 bit to different neighbours.
func TestTrajectories(t *testing.T) {
	overflow := []amp.ScalerOption{amp.InitScale(1 << 24), amp.BackoffFactor(0x1p-10), amp.GrowthInterval(2)}
	for _, c := range []struct {
		name          string
		loss, weights float64 // tolerances
		training
	}{
		{"float32, SGD", 1e-5, 1e-4, training{policy: amp.Off}},
		{"float32, AdamW", 1e-5, 1e-4, training{policy: amp.Off, adam: true}},
		{"float16, SGD", 1e-3, 1e-2, training{policy: amp.Float16, scaler: overflow}},
		{"float16, AdamW", 1e-3, 1e-2, training{policy: amp.Float16, scaler: overflow, adam: true}},
		{"float16, fused AdamW", 1e-3, 1e-2, training{policy: amp.Float16, scaler: overflow, adam: true, fused: true}},
		{"bfloat16, SGD", 4e-3, 4e-2, training{policy: amp.BFloat16}},
		{"bfloat16, AdamW", 4e-3, 4e-2, training{policy: amp.BFloat16, adam: true}},
	} {
		for _, name := range []string{"mlp", "cnn", "bert"} {
			t.Run(name+", "+c.name, func(t *testing.T) {
				const steps = 4
				want, got := c.run(newSubject(name, tensor.CPU), steps), c.run(newSubject(name, tensor.CUDA), steps)
				if !slices.Equal(got.scales, want.scales) || !slices.Equal(got.skipped, want.skipped) {
					t.Errorf("got scales %v and skips %v, want %v and %v", got.scales, got.skipped, want.scales, want.skipped)
				}
				if c.scaler != nil && !(want.skipped[0] && !want.skipped[steps-1]) {
					t.Errorf("got skips %v on the CPU, want the first step but not the last", want.skipped)
				}
				worst := 0.0
				for i := range steps {
					off := math.Abs(got.losses[i]-want.losses[i]) / math.Abs(want.losses[i])
					if worst = max(worst, off); !(off <= c.loss) {
						t.Errorf("step %d: got loss %v, want %v within %v", i, got.losses[i], want.losses[i], c.loss)
					}
				}
				apart := distance(got.after, want.after) / distance(want.after, want.before)
				if !(apart <= c.weights) {
					t.Errorf("parameters: got a difference of %.3g of their change, want at most %v", apart, c.weights)
				}
				if !(want.losses[steps-1] < want.losses[0]) {
					t.Errorf("got losses %v on the CPU, want a decrease", want.losses)
				}
				t.Logf("losses differ by %.3g, parameters by %.3g of their change", worst, apart)
			})
		}
	}
}

// distance returns the Euclidean distance of two vectors.
func distance(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += (a[i] - b[i]) * (a[i] - b[i])
	}
	return math.Sqrt(sum)
}
