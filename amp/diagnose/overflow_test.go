package diagnose_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/amp/diagnose"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/nn/models"
	"halfnote/tensor/optim"
)

// ward is a model in which tests plant culprits: equal layers between which modules can be inserted, with
// access to the layers' parameters.
type ward struct {
	name    string
	net     nn.Module
	chain   *nn.Sequential // nil if no module can be inserted
	x, y    *tensor.Tensor
	layers  []string // names of layers with a weight that a product reads
	opt     *optim.Optimizer
	scaler  *amp.GradScaler
	policy  amp.Policy
	loss    func(out, y *tensor.Tensor) *tensor.Tensor
	plainly bool // train without a scaler
}

func mlpWard() *ward {
	net := models.NewMLP([]int{8, 8, 8, 8, 8, 8})
	return &ward{name: "mlp", net: net, chain: net, x: tensor.Randn(4, 8), y: tensor.Randn(4, 8), layers: []string{"0", "2", "4", "6", "8"}}
}

func cnnWard() *ward {
	net := nn.NewSequential(
		nn.NewConv2d(3, 8, 3), nn.NewBatchNorm2d(8), nn.NewReLU(),
		nn.NewConv2d(8, 8, 3), nn.NewBatchNorm2d(8), nn.NewReLU(),
		module(func(x *tensor.Tensor) *tensor.Tensor { return x.Reshape(x.Shape()[0], -1) }), nn.NewLinear(8*16, 8))
	return &ward{name: "cnn", net: net, x: tensor.Randn(4, 3, 8, 8), y: tensor.Randn(4, 8), layers: []string{"0", "3", "7"}}
}

func bertWard() *ward {
	c := models.BERTTiny()
	c.Vocabulary, c.Hidden, c.Intermediate, c.Positions, c.Dropout = 20, 16, 32, 8, 0
	net := models.NewBERTClassifier(c, 8)
	var layers []string
	for _, p := range nn.NamedParameters(net) {
		if name, ok := strings.CutSuffix(p.Name, ".weight"); ok && len(p.Tensor.Shape()) == 2 && !strings.Contains(name, "embeddings") {
			layers = append(layers, name)
		}
	}
	return &ward{name: "bert", net: net, x: tensor.FromInts([]int{3, 4, 5, 6, 7, 8}).Reshape(2, 3), y: tensor.Randn(2, 8), layers: layers}
}

// ready fills in the defaults of a case.
func (w *ward) ready() *ward {
	if w.opt == nil {
		w.opt = optim.NewSGD(nn.Parameters(w.net), 0.01)
	}
	if w.scaler == nil {
		w.scaler = amp.NewGradScaler(amp.InitScale(8), amp.ScalerEnabled(!w.plainly))
	}
	if !w.policy.IsEnabled() {
		w.policy = amp.Float16
	}
	if w.loss == nil {
		w.loss = func(out, y *tensor.Tensor) *tensor.Tensor { return nn.MSELoss(out, y) }
	}
	return w
}

func (w *ward) step() {
	var loss *tensor.Tensor
	amp.Autocast(w.policy, func() { loss = w.loss(w.net.Forward(w.x), w.y) })
	loss = w.scaler.Scale(loss)
	if loss.Dim() > 0 {
		loss = loss.Sum()
	}
	loss.Backward()
	w.scaler.Step(w.opt)
	w.scaler.Update()
	w.opt.ZeroGrad()
}

func (w *ward) param(name string) *tensor.Tensor {
	for _, p := range nn.NamedParameters(w.net) {
		if p.Name == name {
			return p.Tensor
		}
	}
	panic(name)
}

// put inserts a module before a layer, and returns its name.
func (w *ward) put(layer string, f func(x *tensor.Tensor) *tensor.Tensor) string {
	i := 0
	fmt.Sscan(layer, &i)
	w.chain.Modules[i] = nn.NewSequential(module(f), w.chain.Modules[i])
	return layer + ".0"
}

// large makes the outputs of a layer exceed float16's range, but not its weights.
func (w *ward) large(layer string) {
	tensor.NoGrad(func() {
		p := w.param(layer + ".weight")
		p.Assign(p.Sign().MulScalar(65000))
		w.param(layer + ".bias").Fill(65000)
	})
}

// TestOverflowPlanted plants a culprit in a random layer and checks the reported module, operation and
// cause.
func TestOverflowPlanted(t *testing.T) {
	for _, tt := range []struct {
		name  string
		wards []func() *ward
		plant func(w *ward, layer string) (module, op string)
		cause string
	}{
		{"weights too large for a product", []func() *ward{mlpWard, cnnWard, bertWard}, func(w *ward, layer string) (string, string) {
			w.large(layer)
			op := "linear"
			if w.name == "cnn" && layer != "7" {
				op = "conv2d"
			}
			return layer, op
		}, "product"},
		{"a weight that float16 cannot hold", []func() *ward{mlpWard, cnnWard, bertWard}, func(w *ward, layer string) (string, string) {
			tensor.NoGrad(func() { w.param(layer + ".weight").Fill(70000) })
			return layer, "cast"
		}, "cast"},
		{"a weight that is NaN", []func() *ward{mlpWard, cnnWard, bertWard}, func(w *ward, layer string) (string, string) {
			tensor.NoGrad(func() { w.param(layer + ".bias").Fill(math.NaN()) })
			return layer, ""
		}, "parameter"},
		{"exp of large numbers", []func() *ward{mlpWard}, func(w *ward, layer string) (string, string) {
			return w.put(layer, func(x *tensor.Tensor) *tensor.Tensor { return x.Abs().AddScalar(100).Exp() }), "exp"
		}, "exp"},
		{"log of 0", []func() *ward{mlpWard}, func(w *ward, layer string) (string, string) {
			return w.put(layer, func(x *tensor.Tensor) *tensor.Tensor { return x.ReLU().Log() }), "log"
		}, "log"},
		{"division by 0", []func() *ward{mlpWard}, func(w *ward, layer string) (string, string) {
			return w.put(layer, func(x *tensor.Tensor) *tensor.Tensor { return x.Div(x.Sub(x)) }), "div"
		}, "division"},
		{"eps lost", []func() *ward{mlpWard}, func(w *ward, layer string) (string, string) {
			return w.put(layer, func(x *tensor.Tensor) *tensor.Tensor {
				x = x.To(tensor.Float16)
				return x.Div(x.Sub(x).AddScalar(1e-8))
			}), "div"
		}, "eps"},
		{"squares", []func() *ward{mlpWard}, func(w *ward, layer string) (string, string) {
			return w.put(layer, func(x *tensor.Tensor) *tensor.Tensor {
				x = x.To(tensor.Float16).MulScalar(0).AddScalar(300)
				return x.Mul(x)
			}), "mul"
		}, "square"},
		{"a constant factor", []func() *ward{mlpWard}, func(w *ward, layer string) (string, string) {
			return w.put(layer, func(x *tensor.Tensor) *tensor.Tensor {
				return x.To(tensor.Float16).MulScalar(0).AddScalar(700).MulScalar(100)
			}), "mul_scalar"
		}, "factor"},
		{"a constant divisor", []func() *ward{mlpWard}, func(w *ward, layer string) (string, string) {
			return w.put(layer, func(x *tensor.Tensor) *tensor.Tensor {
				return x.To(tensor.Float16).MulScalar(0).AddScalar(700).DivScalar(0.01)
			}), "div_scalar"
		}, "factor"},
		{"a learned scale of all elements", []func() *ward{mlpWard}, func(w *ward, layer string) (string, string) {
			return w.put(layer, func(x *tensor.Tensor) *tensor.Tensor {
				return x.To(tensor.Float16).MulScalar(0).AddScalar(700).Mul(tensor.Full(100, 1).To(tensor.Float16))
			}), "mul"
		}, "factor"},
		{"a sum in half", []func() *ward{mlpWard}, func(w *ward, layer string) (string, string) {
			return w.put(layer, func(x *tensor.Tensor) *tensor.Tensor {
				return x.Add(tensor.Full(60000, 2).To(tensor.Float16).SumAs(tensor.Float16))
			}), "sum"
		}, "reduction"},
		{"the root's derivative at 0", []func() *ward{mlpWard}, func(w *ward, layer string) (string, string) {
			return w.put(layer, func(x *tensor.Tensor) *tensor.Tensor { return x.Sub(x).Sqrt().Add(x) }), "derivative of sqrt"
		}, "derivative"},
		{"a mask", []func() *ward{mlpWard}, func(w *ward, layer string) (string, string) {
			mask := tensor.Full(-1e9, 4, 1)
			return w.put(layer, func(x *tensor.Tensor) *tensor.Tensor {
				return x.Add(mask.To(tensor.Float16)).Softmax(-1)
			}), "cast"
		}, "mask"},
	} {
		for _, fresh := range tt.wards {
			for seed := range uint64(4) {
				tensor.ManualSeed(int64(seed))
				w := fresh().ready()
				layer := w.layers[rand.New(rand.NewPCG(seed, 7)).IntN(len(w.layers))]
				module, op := tt.plant(w, layer)
				r := diagnose.Overflow(w.net, w.step)
				c := r.Culprit
				if c == nil {
					t.Errorf("%s, %s, %s: got no culprit", tt.name, w.name, layer)
					continue
				}
				got := c.Op
				if c.Backward {
					got = "derivative of " + c.Of
				}
				if c.Module != module || got != op || c.Cause != tt.cause {
					t.Errorf("%s, %s: got %s in %q because of %s, want %s in %q because of %s\n%s", tt.name, w.name, got, c.Module, c.Cause, op, module, tt.cause, r)
				}
				if !c.Backward && (!c.Loss || len(c.Params) == 0) || len(c.Params) == 0 {
					t.Errorf("%s, %s: got reached the loss %v, and gradients of %v", tt.name, w.name, c.Loss, c.Params)
				}
				if c.Harmless || !slices.ContainsFunc(r.Steps, func(s amp.StepResult) bool { return s.Skipped }) {
					t.Errorf("%s, %s: got harmless %v and steps %v", tt.name, w.name, c.Harmless, r.Steps)
				}
			}
		}
	}
}

// TestOverflowFactor checks the sentences about a constant factor, and that every row of the report has the counts
// of its operation.
func TestOverflowFactor(t *testing.T) {
	x := tensor.New([]float64{1, 650, 660, 0, 700, 2}, 6).To(tensor.Float16)
	x = tensor.Cat(0, x, tensor.Zeros(1994).To(tensor.Float16))
	r := diagnose.Overflow(nil, func() { x.MulScalar(100).ReLU() })
	for _, want := range []string{
		"2 of 2,000 results are inf. The operand reaches 2⁹; the largest result would be 70,000, and float16 ends at 65,504",
		"multiplied by the constant 100, and only those up to 655 stay", "smaller factor",
	} {
		if !strings.Contains(r.String(), want) {
			t.Errorf("got %s\nwant %q", r, want)
		}
	}
	if strings.Contains(r.String(), "square") || strings.Contains(r.HTML(), "nothing finite") || !strings.Contains(r.HTML(), ">2 of 2,000<") || !strings.Contains(r.HTML(), ">2⁶ to 2¹⁵<") {
		t.Errorf("got %s\n%s", r, r.HTML())
	}
	r = diagnose.Overflow(nil, func() { x.DivScalar(0.01) })
	if want := "divided by the constant 0.01, and only those up to 655 stay"; !strings.Contains(r.String(), want) {
		t.Errorf("got %s\nwant %q", r, want)
	}
}

func TestOverflowClean(t *testing.T) {
	for _, fresh := range []func() *ward{mlpWard, cnnWard, bertWard} {
		w := fresh().ready()
		r := diagnose.Overflow(w.net, func() { w.step(); w.step() })
		if r.Culprit != nil || len(r.Origins) > 0 || r.Looked < 10 || len(r.Steps) != 2 {
			t.Errorf("%s: %s", w.name, r)
		}
	}
}

// TestOverflowScale checks that an overflow caused only by the loss scale is harmless, and ranks below an
// overflow that occurs at every scale.
func TestOverflowScale(t *testing.T) {
	w := mlpWard()
	w.scaler = amp.NewGradScaler(amp.InitScale(0x1p30))
	w.ready()
	r := diagnose.Overflow(w.net, w.step)
	c := r.Culprit
	if c == nil || c.Cause != "loss-scale" || !c.Harmless || !c.Backward || c.Loss || len(c.Params) == 0 || c.Scale != 0x1p30 {
		t.Fatalf("got %s", r)
	}
	for _, want := range []string{"harmless", "2³⁰", "amp.InitScale(", "leaves a factor of 8 before overflow"} {
		if !strings.Contains(r.String(), want) {
			t.Errorf("got %s, want a text that contains %q", r, want)
		}
	}
	w = mlpWard()
	w.scaler = amp.NewGradScaler(amp.InitScale(0x1p30))
	w.ready()
	w.large("4")
	r = diagnose.Overflow(w.net, w.step)
	if c := r.Culprit; c == nil || c.Cause != "product" || c.Module != "4" {
		t.Errorf("got %s", r)
	}
}
