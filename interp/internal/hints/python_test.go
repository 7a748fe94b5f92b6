package hints

import (
	"testing"

	"halfnote/interp/internal/syntax"
)

// TestPython suggests what to write for lines of Python, of which each keeps its first error.
func TestPython(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{"x = 1", ""},
		{"import torch", preloadedHint},
		{"import numpy as np", "tensors take the place of NumPy's arrays: tensor.Arange(0, 10)"},
		{"from torch import nn", preloadedHint},
		{"import os", `Go quotes the path of a package: import "os"`},
		{"for i in range(10):", "for i := range 10 { … } counts from 0 to 9"},
		{"for x in xs:", "for i, v := range values { … } takes the elements of a slice, for i := range 10 { … } counts"},
		{"while x:", "Go's while is for: for x < 10 { … }"},
		{"def f(x):", "func square(x float64) float64 { return x * x } declares a function"},
		{"with torch.no_grad():", "tensor.NoGrad(func() { … }) runs a function without recording it for the derivative"},
		{"with open(name) as f:", "Go has no with: defer f.Close() closes f when the cell or function ends"},
		{"y = a if c else b", "if is a statement: y := a; if condition { y = b }"},
		{"optim.SGD(p, lr=0.1)", "the learning rate is an argument without a name: optim.NewSGD(nn.Parameters(net), 0.1)"},
		{"x.sum(dim=0)", "the dimension is an argument without a name: x.SumDim(0)"},
		{"x[0, 1]", "x.Index(i, j) is x[i, j], and x.Index(tensor.All, 0) is x[:, 0]"},
		{"y = [1, 2]", "a slice names its type: []float64{1, 2, 3}; tensor.New([]float64{1, 2, 3}) is a tensor"},
		{"s = 'text'", `strings have double quotes: "text"`},
		{"let y = 3", "x := 3 declares a variable"},
		{"# Install it, or not", "a comment begins with //"},
		{"x = 1 # note", "a comment begins with //"},
	} {
		got := Python("a := 1\n"+tt.line, []syntax.Problem{{Line: 2, Msg: "first"}, {Line: 2, Msg: "second"}})
		if want := map[bool]int{true: 2, false: 1}[tt.want == ""]; len(got) != want || got[0].Msg != "first" || got[0].Hint != tt.want {
			t.Errorf("%s: got %+v, want the hint %q", tt.line, got, tt.want)
		}
	}
}
