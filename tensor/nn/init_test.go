package nn_test

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// initializers are the cases of testdata/init.py.
var initializers = map[string]func(t *tensor.Tensor){
	"uniform":              func(t *tensor.Tensor) { nn.InitUniform(t, -0.5, 2) },
	"normal":               func(t *tensor.Tensor) { nn.InitNormal(t, 1, 0.5) },
	"trunc_normal":         func(t *tensor.Tensor) { nn.InitTruncNormal(t, 0.5, 2, -1, 2) },
	"trunc_normal far out": func(t *tensor.Tensor) { nn.InitTruncNormal(t, 0.5, 2, 2, 3) },
	"constant":             func(t *tensor.Tensor) { nn.InitConstant(t, 0.3) },
	"xavier_uniform":       func(t *tensor.Tensor) { nn.InitXavierUniform(t, 1.5) },
	"xavier_normal":        func(t *tensor.Tensor) { nn.InitXavierNormal(t, 1) },
	"kaiming_uniform":      func(t *tensor.Tensor) { nn.InitKaimingUniform(t) },
	"kaiming_uniform of layers": func(t *tensor.Tensor) {
		nn.InitKaimingUniform(t, nn.NegativeSlope(math.Sqrt(5)))
	},
	"kaiming_normal": func(t *tensor.Tensor) {
		nn.InitKaimingNormal(t, nn.Mode("fan_out"), nn.Nonlinearity("relu"))
	},
	"orthogonal":      func(t *tensor.Tensor) { nn.InitOrthogonal(t, 2) },
	"eye":             nn.InitEye,
	"sparse":          func(t *tensor.Tensor) { nn.InitSparse(t, 0.3, 2) },
	"dirac":           func(t *tensor.Tensor) { nn.InitDirac(t, 1) },
	"dirac in groups": func(t *tensor.Tensor) { nn.InitDirac(t, 2) },
}

// TestInit compares the functions with testdata/init.json, made by testdata/init.py. The last
// bits may differ, since torch's logarithm, cosine and QR decomposition differ from Go's.
func TestInit(t *testing.T) {
	text, err := os.ReadFile("testdata/init.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Cases []struct {
			Name  string
			Shape []int
			Data  []float64
			Next  float64
		}
	}
	if err := json.Unmarshal(text, &golden); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, c := range golden.Cases {
		seen[c.Name] = true
		x := tensor.Full(math.NaN(), c.Shape...).RequireGrad()
		tensor.ManualSeed(3)
		initializers[c.Name](x)
		for i, got := range x.Detach().Float64s() {
			if want := c.Data[i]; !(math.Abs(got-want) <= 2e-6*math.Max(1, math.Abs(want))) {
				t.Errorf("%s of %v, element %d: got %v, want %v", c.Name, c.Shape, i, got, want)
			}
		}
		if got := tensor.Rand(1).Item(); got != c.Next {
			t.Errorf("%s of %v: next random number after it: got %v, want %v", c.Name, c.Shape, got, c.Next)
		}
	}
	if len(seen) != len(initializers) {
		t.Errorf("functions in testdata/init.json: got %d, want %d", len(seen), len(initializers))
	}
	for nonlinearity, want := range map[string]float64{"linear": 1, "conv2d": 1, "tanh": 5.0 / 3, "relu": math.Sqrt2, "leaky_relu": math.Sqrt(2 / 1.0001), "selu": 0.75} {
		if got := nn.CalculateGain(nonlinearity, 0.01); got != want {
			t.Errorf("gain of %s: got %v, want %v", nonlinearity, got, want)
		}
	}
}

func TestInitErrors(t *testing.T) {
	v := tensor.Zeros(3)
	for want, f := range map[string]func(){
		"init_eye: shape (3,): tensor is 1-D; want 2-D":                                func() { nn.InitEye(v) },
		"init_dirac: shape (3,): tensor is 1-D; want 3-D to 5-D":                       func() { nn.InitDirac(v, 1) },
		"init_dirac: shape (3, 1, 1): groups 2, output channels 3":                     func() { nn.InitDirac(tensor.Zeros(3, 1, 1), 2) },
		"init_xavier_normal: shape (3,): tensor is 1-D; want at least 2-D":             func() { nn.InitXavierNormal(v, 1) },
		"init_trunc_normal: low 2, high 1, std 1; want low below high and std above 0": func() { nn.InitTruncNormal(v, 0, 1, 2, 1) },
		`calculate_gain: nonlinearity "gelu" is unknown; want linear, sigmoid`:         func() { nn.CalculateGain("gelu", 0) },
		"init_sparse: sparsity is 2; want a fraction from 0 to 1":                      func() { nn.InitSparse(tensor.Zeros(2, 2), 2, 1) },
	} {
		if err := tensor.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that contains %q", err, want)
		}
	}
}
