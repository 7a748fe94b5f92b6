package nn_test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// layoutStep is a step of a random walk over layouts.
type layoutStep struct {
	Permute, Slice, Expand, Select []int
	Op                             string
	Other, Order                   []int
}

var layoutOps = map[string]func(x *tensor.Tensor) *tensor.Tensor{
	"relu":        (*tensor.Tensor).ReLU,
	"neg":         (*tensor.Tensor).Neg,
	"sigmoid":     (*tensor.Tensor).Sigmoid,
	"softplus":    func(x *tensor.Tensor) *tensor.Tensor { return x.Softplus() },
	"half":        func(x *tensor.Tensor) *tensor.Tensor { return x.Half().Float() },
	"clone":       (*tensor.Tensor).Clone,
	"zeros":       func(x *tensor.Tensor) *tensor.Tensor { return tensor.ZerosLike(x).Add(x) },
	"clamp":       func(x *tensor.Tensor) *tensor.Tensor { return x.Clamp(-1, 1) },
	"where":       func(x *tensor.Tensor) *tensor.Tensor { return x.GtScalar(0).Where(x, x.Neg()) },
	"masked_fill": func(x *tensor.Tensor) *tensor.Tensor { return x.MaskedFill(x.LtScalar(0), 0.5) },
	"dropout":     func(x *tensor.Tensor) *tensor.Tensor { return tensor.Dropout(x, 0.3, true) },
	"contiguous":  (*tensor.Tensor).Contiguous,
}

var layoutPairs = map[string]func(x, y *tensor.Tensor) *tensor.Tensor{
	"add":     (*tensor.Tensor).Add,
	"radd":    func(x, y *tensor.Tensor) *tensor.Tensor { return y.Add(x) },
	"mul":     (*tensor.Tensor).Mul,
	"maximum": (*tensor.Tensor).Maximum,
	"lerp":    func(x, y *tensor.Tensor) *tensor.Tensor { return x.Lerp(y, 0.25) },
}

func (s layoutStep) apply(x *tensor.Tensor) *tensor.Tensor {
	switch {
	case s.Permute != nil:
		return x.Permute(s.Permute...)
	case s.Slice != nil:
		return x.SliceStep(s.Slice[0], s.Slice[1], s.Slice[2], s.Slice[3])
	case s.Expand != nil:
		return x.Unsqueeze(s.Expand[0]).Expand(s.Expand[1:]...)
	case s.Select != nil:
		return x.Select(s.Select[0], s.Select[1])
	case s.Other != nil:
		n := 1
		for _, size := range s.Other {
			n *= size
		}
		return layoutPairs[s.Op](x, tensor.Arange(-3, float64(n-3)).Reshape(s.Other...).Permute(s.Order...))
	}
	return layoutOps[s.Op](x)
}

func weightsOf(x *tensor.Tensor) *tensor.Tensor {
	if x = x.Abs().AddScalar(0.1); x.Dim() > 2 {
		return x.Reshape(-1)
	}
	return x
}

func filledBy(fill func(x *tensor.Tensor)) func(x *tensor.Tensor) *tensor.Tensor {
	return func(x *tensor.Tensor) *tensor.Tensor {
		for d, s := range x.Stride() {
			if s == 0 && x.Size(d) > 1 {
				x = x.Clone()
				break
			}
		}
		fill(x)
		return x
	}
}

var layoutDraws = map[string]func(x *tensor.Tensor) *tensor.Tensor{
	"dropout":       func(x *tensor.Tensor) *tensor.Tensor { return tensor.Dropout(x, 0.4, true) },
	"alpha_dropout": func(x *tensor.Tensor) *tensor.Tensor { return tensor.AlphaDropout(x, 0.4, true) },
	"feature_dropout": func(x *tensor.Tensor) *tensor.Tensor {
		if x.Dim() < 2 {
			return x
		}
		return tensor.FeatureDropout(x, 0.4, true)
	},
	"feature_alpha_dropout": func(x *tensor.Tensor) *tensor.Tensor {
		if x.Dim() < 2 {
			return x
		}
		return tensor.FeatureAlphaDropout(x, 0.4, true)
	},
	"rand_like":   tensor.RandLike,
	"randn_like":  tensor.RandnLike,
	"multinomial": func(x *tensor.Tensor) *tensor.Tensor { return weightsOf(x).Multinomial(1, false) },
	"multinomial several": func(x *tensor.Tensor) *tensor.Tensor {
		x = weightsOf(x)
		return x.Multinomial(min(2, x.Size(-1)), false)
	},
	"multinomial replaced": func(x *tensor.Tensor) *tensor.Tensor { return weightsOf(x).Multinomial(4, true) },
	"uniform":              filledBy(func(x *tensor.Tensor) { nn.InitUniform(x, -0.5, 2) }),
	"normal":               filledBy(func(x *tensor.Tensor) { nn.InitNormal(x, 1, 0.5) }),
	"trunc_normal":         filledBy(func(x *tensor.Tensor) { nn.InitTruncNormal(x, 0.5, 2, -1, 2) }),
	"trunc_normal far out": filledBy(func(x *tensor.Tensor) { nn.InitTruncNormal(x, 0.5, 2, 2, 3) }),
}

// layouts is the content of testdata/layout.json.
type layouts struct {
	Cases []struct {
		Seed   int64
		Shape  []int
		Steps  []layoutStep
		Draw   string
		Stride []int
		Values []float64
		Next   float64
	}
	Trainings []struct {
		Kind       string
		BatchFirst bool `json:"batch_first"`
		NormFirst  bool `json:"norm_first"`
		First      []float64
		Losses     []float64
	}
}

func readLayouts(t *testing.T) (l layouts) {
	text, err := os.ReadFile("testdata/layout.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &l); err != nil {
		t.Fatal(err)
	}
	return l
}

// TestRandomFillsFollowMemory compares with testdata/layout.json, made by testdata/layout.py:
// random walks over views and elementwise operations, each followed by a draw.
func TestRandomFillsFollowMemory(t *testing.T) {
	golden := readLayouts(t)
	scattered := 0
	for _, c := range golden.Cases {
		tensor.ManualSeed(c.Seed)
		x := tensor.Randn(c.Shape...)
		for _, s := range c.Steps {
			x = s.apply(x)
		}
		if !x.IsContiguous() {
			scattered++
		}
		y := layoutDraws[c.Draw](x)
		stride := []int{}
		for d, s := range y.Stride() {
			if y.Size(d) > 1 {
				stride = append(stride, s)
			}
		}
		if !slices.Equal(stride, c.Stride) {
			t.Errorf("%s, seed %d, %+v: strides %v, want %v", c.Draw, c.Seed, c.Steps, stride, c.Stride)
		}
		if i := firstDifference(y.Float64s(), c.Values); i >= 0 {
			t.Errorf("%s, seed %d, %+v: element %d: got %v, want %v", c.Draw, c.Seed, c.Steps, i, y.Float64s(), c.Values)
		}
		if got := tensor.Rand(1).Item(); got != c.Next {
			t.Errorf("%s, seed %d, %+v: next random number: got %v, want %v", c.Draw, c.Seed, c.Steps, got, c.Next)
		}
	}
	if len(golden.Cases) == 0 || scattered < len(golden.Cases)/3 {
		t.Errorf("got %d non-contiguous operands of %d, want at least a third", scattered, len(golden.Cases))
	}
}

// firstDifference returns the index of the first element that differs by more than rounding,
// or -1.
func firstDifference(got, want []float64) int {
	if len(got) != len(want) {
		return 0
	}
	for i, g := range got {
		if !(math.Abs(g-want[i]) <= 2e-6*max(1, math.Abs(want[i]))) {
			return i
		}
	}
	return -1
}

// TestTransformerDropout trains layers of a Transformer with dropout and compares the losses
// with those in testdata/layout.json.
func TestTransformerDropout(t *testing.T) {
	golden := readLayouts(t)
	if len(golden.Trainings) == 0 {
		t.Fatal("testdata/layout.json contains no training runs")
	}
	for _, c := range golden.Trainings {
		o := []nn.Option{nn.DimFeedforward(6), nn.DropoutP(0.5)}
		if c.BatchFirst {
			o = append(o, nn.BatchFirst())
		}
		if c.NormFirst {
			o = append(o, nn.NormFirst())
		}
		tensor.ManualSeed(5)
		var layer any
		var forward func(x *tensor.Tensor) *tensor.Tensor
		if c.Kind == "encoder" {
			e := nn.NewTransformerEncoderLayer(4, 2, o...)
			layer, forward = e, e.Forward
		} else {
			d := nn.NewTransformerDecoderLayer(4, 2, o...)
			var memory *tensor.Tensor
			layer, forward = d, func(x *tensor.Tensor) *tensor.Tensor {
				if memory == nil {
					memory = tensor.Randn(2, 3, 4)
				}
				return d.Forward(x, memory)
			}
		}
		x, target := tensor.Randn(2, 3, 4), tensor.Randn(2, 3, 4)
		if i := firstDifference(forward(x).Float64s(), c.First); i >= 0 {
			t.Errorf("%s, batch first %v, norm first %v: first output differs at element %d", c.Kind, c.BatchFirst, c.NormFirst, i)
		}
		sgd := optim.NewSGD(nn.Parameters(layer), 0.05)
		for step, want := range c.Losses {
			sgd.ZeroGrad()
			loss := nn.MSELoss(forward(x), target)
			loss.Backward()
			sgd.Step()
			if got := loss.Item(); math.Abs(got-want) > 1e-5*want {
				t.Errorf("%s, batch first %v, norm first %v: loss of step %d: got %v, want %v", c.Kind, c.BatchFirst, c.NormFirst, step, got, want)
				break
			}
		}
	}
}
