package tensor_test

import (
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/driver"
)

// TestDetectAnomaly finds the first NaN of a backward walk in kernel, composite, view and
// product operations, and checks the text of the panic.
func TestDetectAnomaly(t *testing.T) {
	driver.SetHost(driver.Host{Source: func() string { return "In[3], line 5" }})
	defer driver.SetHost(driver.Host{})
	cases := map[string]struct {
		f    func(x *tensor.Tensor) *tensor.Tensor
		want string // "" if no gradient is NaN
	}{
		"sqrt of 0 times 0":  {func(x *tensor.Tensor) *tensor.Tensor { return x.Sqrt().MulScalar(0).Sum() }, "the derivative of sqrt is NaN for operand 0 at element (0, 1)"},
		"norm is 0 at 0":     {func(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(0).Norm() }, ""},
		"where hides 0/0":    {func(x *tensor.Tensor) *tensor.Tensor { return x.GtScalar(1.5).Where(x.Div(x), x).Sum() }, "the derivative of div is NaN for operand 0 at element (0, 1), where the operand is 0"},
		"finite":             {func(x *tensor.Tensor) *tensor.Tensor { return x.Exp().Sum() }, ""},
		"infinite":           {func(x *tensor.Tensor) *tensor.Tensor { return x.Sqrt().Sum() }, ""},
		"composed operation": {func(x *tensor.Tensor) *tensor.Tensor { return x.Neg().Xlogy(x).MulScalar(0).Sum() }, "the derivative of xlogy is NaN"},
	}
	for name, c := range cases {
		for _, module := range []string{"", "encoder.0"} {
			x := tensor.New([]float64{1, 0, 2, 3}, 2, 2).RequireGrad()
			err := tensor.Try(func() {
				tensor.DetectAnomaly(func() {
					var y *tensor.Tensor
					if module == "" {
						y = c.f(x)
					} else {
						tensor.InModule(module, func() { y = c.f(x) })
					}
					y.Backward()
				})
			})
			switch {
			case c.want == "" && err != nil:
				t.Errorf("%s: %v", name, err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%s: got %v, want %q", name, err, c.want)
			case c.want != "" && !strings.Contains(err.Error(), "In[3], line 5"):
				t.Errorf("%s: %v does not contain the line", name, err)
			case c.want != "" && strings.Contains(err.Error(), `in module "encoder.0"`) != (module != ""):
				t.Errorf("%s: %v does not contain the module", name, err)
			}
		}
	}
}

// TestNaNsOutsideDetectAnomaly checks that NaNs are not errors outside DetectAnomaly, and that NaNs in second
// derivatives are found inside it.
func TestNaNsOutsideDetectAnomaly(t *testing.T) {
	x := tensor.New([]float64{0}).RequireGrad()
	x.Sqrt().MulScalar(0).Sum().Backward()
	if g := x.Grad().Item(); g == g {
		t.Errorf("the gradient of 0 sqrt(0) is %v, want NaN", g)
	}
	err := tensor.Try(func() {
		tensor.DetectAnomaly(func() {
			g := tensor.GradGraph(x.Pow(1.5).Sum(), x)[0]
			tensor.Grad(g.MulScalar(0).Sum(), x)
		})
	})
	if err == nil || !strings.HasPrefix(err.Error(), "tensor: grad: the derivative of pow is NaN for operand 0 at element (0,), where the operand is 0") {
		t.Errorf("a second derivative: got %v", err)
	}
}
