package nn_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// tower is a user's model with a list, a map and a module by value.
type tower struct {
	In     *nn.Linear
	layers []*nn.Sequential
	Heads  map[string]*nn.Linear
	act    nn.Module
	mean   *tensor.Tensor
}

func newTower() *tower {
	return &tower{
		In: nn.NewLinear(2, 3), layers: []*nn.Sequential{nn.NewSequential(nn.NewLinear(3, 3, nn.Bias(false))), nn.NewSequential(nn.NewReLU())},
		Heads: map[string]*nn.Linear{"a": nn.NewLinear(3, 1), "b": nn.NewLinear(3, 1, nn.Bias(false))}, act: nn.NewTanh(), mean: tensor.Zeros(2),
	}
}

func (t *tower) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = t.act.Forward(t.In.Forward(x.Sub(t.mean)))
	for _, l := range t.layers {
		x = l.Forward(x)
	}
	return t.Heads["a"].Forward(x)
}

func TestNamedModules(t *testing.T) {
	m := newTower()
	var names []string
	for _, n := range nn.NamedModules(m) {
		names = append(names, fmt.Sprintf("%s:%s", n.Name, reflect.TypeOf(n.Module).Elem().Name()))
	}
	want := ":tower in:Linear layers.0:Sequential layers.0.0:Linear layers.1:Sequential layers.1.0:Func heads.a:Linear heads.b:Linear act:Func"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if nn.NamedModules(m)[0].Module != m || nn.NamedModules(m)[1].Module != m.In {
		t.Error("NamedModules returned a copy of a module, want the model's own")
	}
	names = nil
	nn.Apply(m, func(x any) {
		names = append(names, reflect.TypeOf(x).Elem().Name())
		if l, ok := x.(*nn.Linear); ok {
			nn.InitConstant(l.Weight, 0.5)
		}
	})
	if got, want := strings.Join(names, " "), "Linear Linear Sequential Func Sequential Linear Linear Func tower"; got != want {
		t.Errorf("Apply visited %s, want %s", got, want)
	}
	if m.In.Weight.At(1, 1) != 0.5 || m.Heads["b"].Weight.At(0, 0) != 0.5 {
		t.Error("Apply did not change the weights")
	}
	if b := nn.NamedBuffers(m); len(b) != 1 || b[0].Name != "mean" || b[0].Tensor != m.mean {
		t.Errorf("got buffers %v, want only mean", b)
	}
}

func TestPrint(t *testing.T) {
	want := `tower(
  (in): Linear(in_features=2, out_features=3, bias=True)
  (layers): ModuleList(
    (0): Sequential(
      (0): Linear(in_features=3, out_features=3, bias=False)
    )
    (1): Sequential(
      (0): ReLU()
    )
  )
  (heads): ModuleDict(
    (a): Linear(in_features=3, out_features=1, bias=True)
    (b): Linear(in_features=3, out_features=1, bias=False)
  )
  (act): Tanh()
)`
	m := newTower()
	if got := nn.Print(m); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	inner := "Sequential(\n  (0): " + strings.ReplaceAll(want, "\n", "\n  ") + "\n)"
	for _, model := range []any{nn.NewSequential(m), nn.NewSequential(nn.NewHooked(m)), nn.NewSequential(wrapper{IValue: m})} {
		if got := nn.Print(model); got != inner {
			t.Errorf("got\n%s\nwant\n%s", got, inner)
		}
	}
	if got, want := nn.Print([]nn.Module{nn.NewReLU()}), "ModuleList(\n  (0): ReLU()\n)"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// A type declared in a cell has no name.
	cell := reflect.New(reflect.StructOf([]reflect.StructField{{Name: "Xfc", Type: reflect.TypeFor[*nn.Linear]()}}))
	cell.Elem().Field(0).Set(reflect.ValueOf(nn.NewLinear(1, 1)))
	if got, want := nn.Print(cell.Interface()), "Module(\n  (fc): Linear(in_features=1, out_features=1, bias=True)\n)"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for m, want := range map[fmt.Stringer]string{
		nn.NewLeakyReLU(0.01):                 "LeakyReLU(negative_slope=0.01)",
		nn.NewELU(1):                          "ELU(alpha=1.0)",
		nn.NewCELU(0.5):                       "CELU(alpha=0.5)",
		nn.NewSELU():                          "SELU()",
		nn.NewSoftplus(1, 20):                 "Softplus(beta=1.0, threshold=20.0)",
		nn.NewHardtanh(-1, 1):                 "Hardtanh(min_val=-1.0, max_val=1.0)",
		nn.NewReLU6():                         "ReLU6()",
		nn.NewHardshrink(0.5):                 "Hardshrink(0.5)",
		nn.NewGLU(-1):                         "GLU(dim=-1)",
		nn.NewLogSoftmax(1):                   "LogSoftmax(dim=1)",
		nn.NewPReLU(3, .25):                   "PReLU(num_parameters=3)",
		nn.NewThreshold(0.5, 2):               "Threshold(threshold=0.5, value=2.0)",
		nn.NewGELUTanh():                      "GELU(approximate='tanh')",
		nn.NewRReLU(.1, 1.0/3):                "RReLU(lower=0.1, upper=0.3333333333333333)",
		nn.NewSoftmax2d():                     "Softmax2d()",
		nn.NewUnflatten(-1, 2, -1):            "Unflatten(dim=-1, unflattened_size=(2, -1))",
		nn.NewFlatten(0, 2):                   "Flatten(start_dim=0, end_dim=2)",
		nn.NewCosineSimilarity():              "CosineSimilarity()",
		nn.NewPairwiseDistance(nn.P(3)):       "PairwiseDistance()",
		nn.NewTripletMarginWithDistanceLoss(): "TripletMarginWithDistanceLoss(\n  (distance_function): PairwiseDistance()\n)",
		nn.NewTripletMarginWithDistanceLoss(nn.DistanceFunction(nn.NewPairwiseDistance().Forward)): "TripletMarginWithDistanceLoss()",
	} {
		if got := m.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestActivations compares modules with the tensor operations of the same names.
func TestActivations(t *testing.T) {
	x := tensor.New([]float64{-30, -4, -1, -.4, 0, .3, 2, 25}, 2, 4)
	for m, want := range map[nn.Module]*tensor.Tensor{
		nn.NewReLU(): x.ReLU(), nn.NewReLU6(): x.ReLU6(), nn.NewTanh(): x.Tanh(), nn.NewSigmoid(): x.Sigmoid(), nn.NewLogSigmoid(): x.LogSigmoid(),
		nn.NewSiLU(): x.SiLU(), nn.NewMish(): x.Mish(), nn.NewHardswish(): x.Hardswish(), nn.NewHardsigmoid(): x.Hardsigmoid(), nn.NewSELU(): x.SELU(),
		nn.NewSoftsign(): x.Softsign(), nn.NewTanhshrink(): x.Tanhshrink(), nn.NewGELU(): x.GELU(), nn.NewGELUTanh(): x.GELUTanh(),
		nn.NewLeakyReLU(.2): x.LeakyReLU(.2), nn.NewELU(.5): x.ELU(.5), nn.NewCELU(.5): x.CELU(.5), nn.NewSoftplus(2, 3): x.SoftplusWith(2, 3),
		nn.NewHardtanh(-2, 1): x.Hardtanh(-2, 1), nn.NewThreshold(.3, 7): x.Threshold(.3, 7), nn.NewHardshrink(1): x.Hardshrink(1),
		nn.NewSoftshrink(1): x.Softshrink(1), nn.NewGLU(1): x.GLU(1), nn.NewSoftmax(0): x.Softmax(0), nn.NewLogSoftmax(0): x.LogSoftmax(0),
		nn.NewSoftmin(1): x.Softmin(1), nn.NewIdentity(): x, nn.NewFlatten(): x, nn.NewPReLU(4, .1): x.LeakyReLU(.1),
	} {
		if got := m.Forward(x); !tensor.Equal(got, want) {
			t.Errorf("%v: got %v, want %v", m, got, want)
		}
	}
	if err := tensor.Try(func() { nn.NewPReLU(0, 1) }); err == nil {
		t.Error("NewPReLU with 0 channels: got no error")
	}
}

func TestSummarize(t *testing.T) {
	s := nn.Summarize(newTower())
	want := `module      type    parameters  buffers  shapes
(model)     tower   0           2        mean (2,)
in          Linear  9           0        weight (3, 2), bias (3,)
layers.0.0  Linear  9           0        weight (3, 3)
heads.a     Linear  4           0        weight (1, 3), bias (1,)
heads.b     Linear  3           0        weight (1, 3)
25 parameters, 2 numbers in buffers, 108 bytes`
	if got := s.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if h := s.HTML(); strings.Count(h, "<tr>") != 6 || !strings.Contains(h, "<td>layers.0.0</td><td>Linear</td><td>9</td>") {
		t.Errorf("got HTML %s", h)
	}
	if got := nn.Summarize(nn.NewSequential(nn.NewLinear(1000, 1234, nn.Bias(false)))).String(); !strings.Contains(got, "1,234,000 parameters") {
		t.Errorf("got %s", got)
	}
}

func TestModuleHooks(t *testing.T) {
	l := nn.NewLinear(2, 1, nn.Bias(false))
	nn.InitConstant(l.Weight, 3)
	h := nn.NewHooked(l)
	net := nn.NewSequential(h)
	if got := names(nn.NamedParameters(net)); got != "0.weight" {
		t.Errorf("parameters of a hooked module: got %s, want 0.weight", got)
	}
	var log []string
	removePre := h.OnForwardPre(func(m nn.Module, x *tensor.Tensor) *tensor.Tensor {
		log = append(log, fmt.Sprint("pre ", m == nn.Module(l)))
		return x.MulScalar(2)
	})
	h.OnForward(func(m nn.Module, x, y *tensor.Tensor) *tensor.Tensor {
		log = append(log, fmt.Sprint("forward ", x.Float64s(), y.Float64s()))
		return y.AddScalar(1)
	})
	removeBackward := h.OnBackward(func(m nn.Module, dx, dy *tensor.Tensor) *tensor.Tensor {
		if dx == nil {
			log = append(log, fmt.Sprint("backward without dx ", dy.Float64s()))
			return nil
		}
		log = append(log, fmt.Sprint("backward ", dx.Float64s(), dy.Float64s()))
		return dx.MulScalar(10)
	})
	x := tensor.Ones(1, 2).RequireGrad()
	y := net.Forward(x)
	y.MulScalar(5).Sum().Backward()
	if y.Item() != 13 || x.Grad().At(0, 0) != 300 || l.Weight.Grad().At(0, 0) != 10 {
		t.Errorf("got y %v, dx %v, dw %v; want 13, 300 and 10", y.Item(), x.Grad(), l.Weight.Grad())
	}
	removePre()
	net.Forward(tensor.Ones(1, 2)).Sum().Backward()
	removeBackward()
	net.Forward(x).Sum().Backward()
	want := "pre true; forward [2 2] [12]; backward [15 15] [5]; forward [1 1] [6]; backward without dx [1]; forward [1 1] [6]"
	if got := strings.Join(log, "; "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if err := tensor.Try(func() { nn.NewHooked(nil) }); err == nil {
		t.Error("a hook on nil: got no error")
	}
}
