package fp8_test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/amp/fp8"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// runs lists the runs of testdata/fp8.py.
var runs = map[string]struct {
	recipe fp8.Recipe
	shrink float64 // factor of the loss
}{
	"delayed":                    {fp8.DelayedScaling{}, 1},
	"delayed, 4 steps, margin 1": {fp8.DelayedScaling{Margin: 1, HistoryLen: 4}, 1},
	"delayed, most recent":       {fp8.DelayedScaling{HistoryLen: 16, MostRecent: true}, 1},
	"current":                    {fp8.CurrentScaling{}, 1},
	"unit":                       {fp8.UnitScaling{}, 1},
	"unit, small gradients":      {fp8.UnitScaling{}, 0x1p-12},
	"delayed, small gradients":   {fp8.DelayedScaling{}, 0x1p-12},
}

type net3 struct{ FC1, FC2, FC3 *nn.Linear }

func drawnLinear(in, out int) *nn.Linear {
	w := tensor.Randn(out, in).MulScalar(1 / math.Sqrt(float64(in))).RequireGrad()
	return &nn.Linear{Weight: w, Bias: tensor.Zeros(out).RequireGrad()}
}

func newNet() *net3 {
	return &net3{drawnLinear(16, 32), drawnLinear(32, 32), drawnLinear(32, 4)}
}

func (m *net3) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.FC3.Forward(m.FC2.Forward(m.FC1.Forward(x).ReLU()).ReLU())
}

// trainSteps trains like testdata/fp8.py and calls each with the loss of every step, after Backward.
func trainSteps(region func(body func()), net *net3, shrink float64, steps int, each func(k int, loss float64)) {
	x, y := tensor.Randn(64, 16), tensor.Randn(64, 4)
	opt := optim.NewSGD(nn.Parameters(net), 0.1/shrink)
	for k := range steps {
		opt.ZeroGrad()
		var loss *tensor.Tensor
		region(func() { loss = nn.MSELoss(net.Forward(x), y) })
		loss.MulScalar(shrink).Backward()
		each(k, loss.Item())
		opt.Step()
	}
}

// TestTraining compares losses and scales with those of PyTorch under Transformer Engine's rules.
func TestTraining(t *testing.T) {
	text, err := os.ReadFile("testdata/fp8.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Runs map[string][][]float64 }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Runs) != len(runs) {
		t.Errorf("got %d runs in the file, want %d", len(file.Runs), len(runs))
	}
	for name, c := range runs {
		t.Run(name, func(t *testing.T) {
			tensor.ManualSeed(1)
			net := newNet()
			scaler := fp8.New(c.recipe, net)
			worst := 0.0
			trainSteps(scaler.Autocast, net, c.shrink, 30, func(k int, loss float64) {
				got := map[string]float64{}
				for _, s := range scaler.Scales() {
					got[s.Name] = s.Scale
				}
				row := []float64{loss, got["fc2.input"], got["fc2.weight"], got["fc2.grad"]}
				for i, want := range file.Runs[name][k] {
					off := math.Abs(row[i]-want) / want
					if worst = max(worst, off); !(off <= 1e-2) {
						t.Fatalf("step %d: got loss and scales %v, want %v", k, row, file.Runs[name][k])
					}
				}
			})
			t.Logf("largest difference: %.2g", worst)
		})
	}
}

// TestScalingSavesSmallGradients checks small gradients: with scaling the loss decreases as in bfloat16;
// without scaling the gradients are flushed to zero and the weights do not change.
func TestScalingSavesSmallGradients(t *testing.T) {
	train := func(region func(body func())) (net *net3, first, last float64) {
		tensor.ManualSeed(1)
		net = newNet()
		trainSteps(region, net, 0x1p-12, 40, func(k int, loss float64) {
			if k == 0 {
				first = loss
			}
			last = loss
		})
		return net, first, last
	}
	_, first, half := train(func(body func()) { amp.Autocast(amp.BFloat16, body) })
	tensor.ManualSeed(1)
	start := newNet().FC2.Weight.Detach()
	for name, c := range map[string]struct {
		recipe fp8.Recipe
		learns bool
	}{
		"delayed": {fp8.DelayedScaling{}, true}, "current": {fp8.CurrentScaling{}, true}, "delayed, E4M3 gradients": {fp8.DelayedScaling{E4M3: true}, true},
		"unit": {fp8.UnitScaling{}, false},
	} {
		scaler := fp8.New(c.recipe)
		net, _, last := train(scaler.Autocast)
		if learns := last < half+0.1*(first-half); learns != c.learns {
			t.Errorf("%s: got loss %v, and %v in bfloat16, from %v at the start", name, last, half, first)
		}
		flushed := 0.0
		for _, s := range scaler.Scales() {
			if s.Name == "linear.2.grad" {
				flushed = float64(s.Flushed) / float64(s.Count)
			}
		}
		if c.learns != (flushed < 0.05) {
			t.Errorf("%s: got %.0f %% of the gradients flushed", name, 100*flushed)
		}
		if moved := !tensor.Equal(net.FC2.Weight.Detach(), start); moved != c.learns {
			t.Errorf("%s: weight changed: got %v", name, moved)
		}
	}
}

// TestNumbers compares a product and its gradients with a computation by hand: saturation and rounding.
func TestNumbers(t *testing.T) {
	x := tensor.New([]float64{500, 0.3, 1, 1e-4}, 1, 4).RequireGrad()
	l := &nn.Linear{Weight: tensor.New([]float64{1, 1, 0, 0, 0, 0, 17, 1000}, 2, 4).RequireGrad(), Bias: tensor.New([]float64{0.5, 1000}, 2).RequireGrad()}
	scaler := fp8.New(fp8.UnitScaling{}, l)
	var y *tensor.Tensor
	scaler.Autocast(func() { y = l.Forward(x) })
	// E4M3: 500 saturates at 448, 0.3 is 0.3125, 1e-4 is 0, 17 is 16 (to even), 1000 is
	// 448. bfloat16 rounds 448.8125 to 448 and 1016 to itself.
	if got, want := y.Float64s(), []float64{448, 1016}; y.DType() != tensor.BFloat16 || !slices.Equal(got, want) {
		t.Errorf("got %v in %v, want %v in bfloat16", got, y.DType(), want)
	}
	// E5M2: 1.1 is rounded to 1, except for the bias.
	y.BackwardWith(tensor.BackwardOptions{Gradient: tensor.New([]float64{1.1, 0}, 1, 2).BFloat16()})
	if got, want := x.Grad().Float64s(), []float64{1, 1, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("gradient of the input: got %v, want %v", got, want)
	}
	if got, want := l.Weight.Grad().Float64s()[:4], []float64{448, 0.3125, 1, 0}; !slices.Equal(got, want) {
		t.Errorf("gradient of the weight: got %v, want %v", got, want)
	}
	if got := l.Bias.Grad().Float64s()[0]; got != 1.1015625 {
		t.Errorf("gradient of the bias: got %v, want 1.1015625, which is 1.1 in bfloat16", got)
	}
	want := []fp8.Scale{
		{Name: "input", Format: tensor.Float8E4M3, Scale: 1, AMax: 500, Count: 4, Saturated: 1, Flushed: 1},
		{Name: "weight", Format: tensor.Float8E4M3, Scale: 1, AMax: 1000, Count: 8, Saturated: 1},
		{Name: "grad", Format: tensor.Float8E5M2, Scale: 1, AMax: 1.1015625, Count: 2},
	}
	if got := scaler.Scales(); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if text, page := scaler.String(), scaler.HTML(); !strings.Contains(text, "float8_e4m3") || !strings.Contains(text, "1 (25 %)") || !strings.Contains(page, ">1 (12.5 %)</td>") {
		t.Errorf("got text %s and HTML %s", text, page)
	}
}

// TestProducts checks which operations run in FP8 and that the others follow the policy.
func TestProducts(t *testing.T) {
	scaler := fp8.New(fp8.CurrentScaling{})
	x := tensor.Randn(2, 3, 8, 8)
	conv := nn.NewConv2d(3, 4, 3)
	var product, soft, wide *tensor.Tensor
	scaler.Autocast(func() {
		y := conv.Forward(x).ReLU()
		product = y.MatMul(tensor.Randn(6, 6))
		soft = product.Softmax(1)
		wide = tensor.Randn(3, 3).Double().MatMul(tensor.Randn(3, 3).Double())
		amp.Autocast(amp.Off, func() { y.Float().MatMul(tensor.Randn(6, 6)) })
	})
	if product.DType() != tensor.BFloat16 || soft.DType() != tensor.Float32 || wide.DType() != tensor.Float64 {
		t.Errorf("got %v for the product, %v for softmax and %v for a product of float64", product.DType(), soft.DType(), wide.DType())
	}
	var names []string
	for _, s := range scaler.Scales() {
		names = append(names, s.Name)
	}
	if want := []string{"conv2d.0.input", "conv2d.0.weight", "conv2d.0.grad", "matmul.0.input", "matmul.0.weight", "matmul.0.grad"}; !slices.Equal(names, want) {
		t.Errorf("got scales of %v, want %v", names, want)
	}
	half := fp8.New(fp8.CurrentScaling{})
	half.Policy = amp.Float16
	half.Autocast(func() {
		if d := conv.Forward(x).DType(); d != tensor.Float16 {
			t.Errorf("a product with the policy amp.Float16: got %v", d)
		}
	})
	product.Float().Sum().Backward()
	if g := conv.Weight.Grad(); g == nil || g.DType() != tensor.Float32 || g.Counts().Zeros == g.Numel() {
		t.Errorf("gradient of the convolution: got %v", g)
	}
	// The convolution of rounded operands, with its bias per channel.
	plain := tensor.Conv2d(x, conv.Weight, conv.Bias, tensor.ConvOptions{}).Detach()
	var got *tensor.Tensor
	scaler.Autocast(func() { got = conv.Forward(x).Detach().Float() })
	if off := got.Sub(plain).Abs().Mean().Item() / plain.Abs().Mean().Item(); !(off > 1e-4 && off < 0.1) {
		t.Errorf("convolution: got a relative error of %v", off)
	}
}

// TestHistory checks that a scale follows the largest magnitude of the last steps, and that evaluation
// without gradients does not change it.
func TestHistory(t *testing.T) {
	l := &nn.Linear{Weight: tensor.Ones(1, 1).RequireGrad()}
	scaler := fp8.New(fp8.DelayedScaling{HistoryLen: 2}, l)
	var got []float64
	for _, x := range []float64{1, 4, 2, 2, 2, 0, math.Inf(1)} {
		scaler.Autocast(func() { l.Forward(tensor.Full(x, 1, 1)) })
		got = append(got, scaler.Scales()[0].Scale)
		tensor.NoGrad(func() { scaler.Autocast(func() { l.Forward(tensor.Full(100, 1, 1)) }) })
	}
	scaler.Autocast(func() { l.Forward(tensor.Full(1, 1, 1)) })
	got = append(got, scaler.Scales()[0].Scale)
	// The scale of a step is 448 divided by the largest magnitude of the two steps before it.
	if want := []float64{1, 448, 112, 112, 224, 224, 224, 224}; !slices.Equal(got, want) {
		t.Errorf("got scales %v, want %v", got, want)
	}
}

// TestState checks that a run continues from its state dict with the same bits.
func TestState(t *testing.T) {
	run := func(save bool) (losses []float64) {
		tensor.ManualSeed(1)
		net := newNet()
		scaler := fp8.New(fp8.DelayedScaling{HistoryLen: 3}, net)
		region := func(body func()) { scaler.Autocast(body) }
		trainSteps(region, net, 1, 8, func(k int, loss float64) {
			losses = append(losses, loss)
			if save && k == 4 {
				state := scaler.StateDict()
				scaler = fp8.New(fp8.DelayedScaling{HistoryLen: 3}, net)
				if err := scaler.LoadStateDict(state); err != nil {
					t.Fatal(err)
				}
			}
		})
		return losses
	}
	if a, b := run(false), run(true); !slices.Equal(a, b) {
		t.Errorf("got losses %v, and %v from the state", a, b)
	}
	scaler := fp8.New(fp8.DelayedScaling{HistoryLen: 3})
	for want, state := range map[string]map[string]*tensor.Tensor{
		"a.scale must be of size 1":        {"a.scale": tensor.Ones(2), "a.amax_history": tensor.Ones(3)},
		"a lacks a scale":                  {"a.scale": tensor.Ones(1)},
		"a.b is neither":                   {"a.b": tensor.Ones(1)},
		"a.amax_history must be of size 3": {"a.scale": tensor.Ones(1), "a.amax_history": tensor.Ones(4)},
	} {
		if err := scaler.LoadStateDict(state); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
