package tensor_test

import (
	"math"
	"strings"
	"testing"

	"halfnote/tensor"
)

// TestNilTensors checks that errors name the position or the name of a nil tensor.
func TestNilTensors(t *testing.T) {
	var none *tensor.Tensor
	x := tensor.Ones(2, 2)
	for want, call := range map[string]func(){
		"add: the second operand is nil; want a tensor":                  func() { tensor.Zeros(3).Add(nil) },
		"sum: the operand is nil; want a tensor":                         func() { none.Sum() },
		"shape: the operand is nil; want a tensor":                       func() { none.Shape() },
		"cat: the second operand is nil; want a tensor":                  func() { tensor.Cat(0, x, nil) },
		"linear: the second operand is nil; want a tensor":               func() { tensor.Linear(x, nil, nil) },
		"matmul: the second operand is nil; want a tensor":               func() { x.MatMul(nil) },
		"lstm_cell: wHH is nil; want a tensor":                           func() { tensor.LSTMCell(x, x, x, x, nil, nil, nil) },
		"add_: the second operand is nil; want a tensor":                 func() { x.Clone().AddAssign(nil) },
		"scope: the function is nil; want a function to run":             func() { tensor.NoGrad(nil) },
		"index: item 1 is nil; want a tensor":                            func() { x.Index(0, none) },
		"exp: operand 1 is a zero Tensor; create tensors with functions": func() { new(tensor.Tensor).Exp() },
		"broadcast_tensors: no operands; want at least one tensor":       func() { tensor.BroadcastTensors() },
	} {
		err := tensor.Try(call)
		if err == nil || !strings.HasPrefix(err.Error(), "tensor: "+want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestSizeErrors checks that a negative or much too large size is an error that names the size and, if memory
// is short, the limit.
func TestSizeErrors(t *testing.T) {
	const huge = 1 << 50
	x := tensor.Ones(3)
	for name, call := range map[string]func(n int){
		"linspace":    func(n int) { tensor.Linspace(0, 1, n) },
		"logspace":    func(n int) { tensor.Logspace(0, 1, n, 10) },
		"arange":      func(n int) { tensor.Arange(0, float64(n)) },
		"randint":     func(n int) { tensor.Randint(0, 9, n) },
		"randperm":    func(n int) { tensor.Randperm(n) },
		"randn":       func(n int) { tensor.Randn(n) },
		"perm":        func(n int) { tensor.DefaultGenerator().Perm(n) },
		"exponential": func(n int) { tensor.DefaultGenerator().Exponential(1, n) },
		"multinomial": func(n int) { x.Multinomial(n, true) },
		"histc":       func(n int) { x.Histc(n, 0, 1) },
		"bincount":    func(n int) { tensor.FromInts([]int{1}).Bincount(n) },
		"eye":         func(n int) { tensor.Eye(n) },
		"pad":         func(n int) { x.Unsqueeze(0).Pad([]int{n, n}, tensor.PadOptions{Mode: "replicate"}) },
	} {
		for _, n := range []int{huge, -3} {
			err := tensor.Try(func() { call(n) })
			if err == nil || name != "pad" && n > 0 && !strings.Contains(err.Error(), "limit") && !strings.Contains(err.Error(), "any machine") && !strings.Contains(err.Error(), "too large") {
				t.Errorf("%s of %d: %v", name, n, err)
			}
		}
	}
	for name, call := range map[string]func(){
		"Bincount of a large number": func() { tensor.FromInts([]int{1 << 45}).Bincount(0) },
		"Bincount of the largest":    func() { tensor.FromInts([]int{math.MaxInt}).Bincount(0) },
		"RepeatInterleaveEach":       func() { x.RepeatInterleaveEach(tensor.FromInts([]int{1 << 39, 1 << 39, 1 << 39}), 0) },
		"Ints":                       func() { x.Reshape(1, 3).Expand(1<<45, 3).Ints() },
		"Float64s":                   func() { x.Reshape(1, 3).Expand(1<<45, 3).Float64s() },
		"Rows":                       func() { x.Reshape(1, 3).Expand(1<<45, 3).Rows() },
	} {
		if err := tensor.Try(call); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}

// TestExpandedStats checks that displaying an expanded tensor does not read its elements once per repetition.
func TestExpandedStats(t *testing.T) {
	x := tensor.New([]float64{0, 1, math.NaN()}, 1, 3, 1).Expand(1<<30, 3, 2)
	s := x.Stats()
	if s.Count != 6<<30 || s.Zeros != 2<<30 || s.NaNs != 2<<30 || s.Max != 1 || s.Mean != 0.5 {
		t.Errorf("got %+v", s)
	}
	if c := x.Counts(); c.Count != 6<<30 || c.Zeros != 2<<30 || c.NaNs != 2<<30 {
		t.Errorf("got %+v", c)
	}
	if text := x.HTML(); !strings.Contains(text, "(1073741824, 3, 2)") {
		t.Errorf("got %s", text)
	}
}
