package tensor

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// TestReshape checks that Reshape keeps the order of elements, for every factorisation of 24 and several
// layouts, and returns a view if torch does.
func TestReshape(t *testing.T) {
	base := Arange(0, 24).Reshape(2, 3, 4)
	sources := map[string]*Tensor{
		"contiguous": base,
		"permuted":   base.Permute(2, 0, 1),
		"exchanged":  base.Transpose(0, 1),
		"expanded":   Arange(0, 4).Reshape(1, 4, 1).Expand(2, 4, 3),
		"cut out":    Arange(0, 120).Reshape(5, 6, 4).Slice(0, 1, 3).Slice(1, 2, 5),
		"ones":       base.Reshape(1, 2, 1, 3, 4, 1).Transpose(0, 3),
	}
	shapes := [][]int{{24}, {1, 24}, {24, 1, 1}, {2, 12}, {12, 2}, {6, 4}, {4, 6}, {2, 3, 4}, {4, 3, 2}, {2, 1, 3, 2, 2}, {3, 1, 8}, {-1, 6}, {3, -1}}
	for name, x := range sources {
		want := x.Float64s()
		for _, shape := range shapes {
			if got := x.Reshape(shape...).Float64s(); !equalFloats(got, want) {
				t.Errorf("%s %v to %v: got %v, want %v", name, x.Shape(), shape, got, want)
			}
		}
	}
	for _, c := range []struct {
		name  string
		x     *Tensor
		shape []int
		view  bool
	}{
		{"contiguous", base, []int{4, 6}, true},
		{"permuted, with sizes of 1 inserted", sources["permuted"], []int{4, 1, 2, 3, 1}, true},
		{"permuted, the two inner dimensions merged", sources["permuted"], []int{4, 6}, true},
		{"permuted, the two outer dimensions merged", sources["permuted"], []int{8, 3}, false},
		{"transposed", sources["exchanged"], []int{6, 4}, false},
		{"transposed, the last dimension split", sources["exchanged"], []int{3, 2, 2, 2}, true},
		{"expanded, split", sources["expanded"], []int{2, 2, 2, 3}, true},
		{"cut out of a larger tensor", sources["cut out"], []int{2, 12}, true},
		{"cut out of a larger tensor, flattened", sources["cut out"], []int{24}, false},
	} {
		if got := c.x.Reshape(c.shape...).mem == c.x.mem; got != c.view {
			t.Errorf("%s: is it a view: got %v, want %v", c.name, got, c.view)
		}
	}
	if got := Zeros(0, 3).Reshape(3, 0).Shape(); !slices.Equal(got, []int{3, 0}) {
		t.Errorf("reshape of an empty tensor: %v", got)
	}
}

func TestViews(t *testing.T) {
	x := Arange(0, 24).Reshape(2, 3, 4)
	for _, c := range []struct {
		name  string
		got   *Tensor
		shape []int
		first []float64 // the first elements
	}{
		{"permute", x.Permute(2, 0, -2), []int{4, 2, 3}, []float64{0, 4, 8, 12}},
		{"transpose", x.Transpose(0, 2), []int{4, 3, 2}, []float64{0, 12, 4, 16}},
		{"t", x.Select(0, 0).T(), []int{4, 3}, []float64{0, 4, 8, 1}},
		{"slice", x.Slice(2, 1, -1), []int{2, 3, 2}, []float64{1, 2, 5, 6}},
		{"empty slice", x.Slice(0, 1, 1), []int{0, 3, 4}, nil},
		{"select", x.Select(-1, -1), []int{2, 3}, []float64{3, 7, 11, 15}},
		{"unsqueeze", x.Unsqueeze(-1), []int{2, 3, 4, 1}, []float64{0, 1}},
		{"squeeze", x.Unsqueeze(1).Squeeze(1), []int{2, 3, 4}, []float64{0, 1}},
		{"flatten", x.Flatten(1), []int{2, 12}, []float64{0, 1}},
		{"flatten a scalar", Full(2).Flatten(0), []int{1}, []float64{2}},
		{"expand", x.Slice(1, 0, 1).Expand(5, 2, 3, -1), []int{5, 2, 3, 4}, []float64{0, 1, 2, 3, 0}},
	} {
		if !slices.Equal(c.got.Shape(), c.shape) {
			t.Errorf("%s: shape %v, want %v", c.name, c.got.Shape(), c.shape)
		}
		if got := c.got.Float64s(); len(got) < len(c.first) || !equalFloats(got[:len(c.first)], c.first) {
			t.Errorf("%s: got %v, want %v…", c.name, got, c.first)
		}
	}
	if got := x.At(1, -1, 2); got != 22 {
		t.Errorf("at: got %v, want 22", got)
	}
	y := x.Contiguous()
	if y != x || x.Transpose(0, 2).Contiguous().mem == x.mem {
		t.Error("Contiguous copies a contiguous tensor, or does not copy one with gaps")
	}
	x.Select(0, 0).Fill(7)
	if x.At(0, 1, 1) != 7 || x.At(1, 0, 0) != 12 || x.Version() == 0 {
		t.Error("a change through a view does not change the tensor")
	}
}

func TestShapeErrors(t *testing.T) {
	x := Zeros(2, 3)
	for _, c := range []struct {
		f    func()
		want string
	}{
		{func() { Ones(32, 784).MatMul(Ones(512, 10)) }, "tensor: matmul: shapes (32, 784) and (512, 10): the inner sizes 784 and 512 differ; want (…, m, k) times (…, k, n)"},
		{func() { Full(1).MatMul(x) }, "tensor: matmul: shapes () and (2, 3): an operand is a scalar; want (…, m, k) times (…, k, n): use Mul for numbers"},
		{func() { Zeros(4, 2, 3).MatMul(Zeros(5, 3, 2)) }, "tensor: matmul: shapes (4, 2, 3) and (5, 3, 2): the leading dimensions do not broadcast; want (…, m, k) times (…, k, n)"},
		{func() { x.MatMul(Zeros(3, 2).To(Uint8)) }, "tensor: matmul: dtypes float32 and uint8: operands must have one dtype: convert uint8 with Float()"},
		{func() { x.MatMul(Zeros(3, 2).Half()) }, "tensor: matmul: dtypes float32 and float16: operands must have one dtype: convert with To, or run under amp.Autocast"},
		{func() { Linear(x, Zeros(4, 2), nil) }, "tensor: linear: shapes (2, 3) and (4, 2): input and weight do not match; want (…, in) and (out, in)"},
		{func() { Linear(x, Zeros(4, 3), Zeros(3)) }, "tensor: linear: shapes (2, 3), (4, 3) and (3,): weight and bias do not match; want (out, in) and (out,)"},
		{func() { x.Add(Zeros(2, 2)) }, "tensor: add: shapes (2, 3) and (2, 2): cannot broadcast; want sizes that are equal or 1, aligned at the end"},
		{func() { functional{}.MSELoss(x, Zeros(2, 1), lossOptions{}) }, "tensor: mse_loss: shapes (2, 3) and (2, 1): input and target do not match; want equal shapes"},
		{func() { x.Sum(2) }, "tensor: sum: shape (2, 3): dimension 2 is out of range; want -2 to 1"},
		{func() { x.Sum(1, -1) }, "tensor: sum: shape (2, 3): dimensions (1, -1) contain a duplicate"},
		{func() { x.Reshape(4, -1) }, "tensor: reshape: shape (2, 3): cannot reshape it to (4, -1); want the same number of elements, and at most one -1"},
		{func() { x.Reshape(-1, -1) }, "tensor: reshape: shape (2, 3): cannot reshape it to (-1, -1); want the same number of elements, and at most one -1"},
		{func() { x.Expand(4, 3) }, "tensor: expand: shapes (2, 3) and (4, 3): cannot broadcast (2, 3) to (4, 3)"},
		{func() { x.Permute(0, 0) }, "tensor: permute: shape (2, 3): dimensions (0, 0) contain a duplicate"},
		{func() { x.Permute(0) }, "tensor: permute: shape (2, 3): order (0,) has length 1; want 2"},
		{func() { x.Select(0, 2) }, "tensor: select: shape (2, 3): index 2 is out of range in dimension 0; want -2 to 1"},
		{func() { x.Squeeze(0) }, "tensor: squeeze: shape (2, 3): dimension 0 has size 2; want 1"},
		{func() { Zeros(2).T() }, "tensor: t: shape (2,): t is 1-D; want 2-D: use Transpose or Permute"},
		{func() { x.Item() }, "tensor: item: shape (2, 3): the tensor has 6 elements; want 1"},
		{func() { x.At(0) }, "tensor: at: shape (2, 3): the number of indices is 1; want 2"},
		{func() { x.At(0, 3) }, "tensor: at: shape (2, 3): index 3 is out of range for dimension 1; want -3 to 2"},
		{func() { New([]float64{1, 2}, 3) }, "tensor: new: shape (3,): the shape holds 3 elements; want 2, the length of the data"},
		{func() { Zeros(2, -1) }, "tensor: zeros: shape (2, -1): a size is negative; want sizes of at least 0"},
		{func() { x.To(77) }, "tensor: to: dtype invalid: unknown dtype; want one of tensor.DTypes()"},
		{func() { Full(1e39) }, "tensor: full: dtype float32: 1e+39 is beyond its range; want a number from -3.4028234663852886e+38 to 3.4028234663852886e+38"},
		{func() { x.ToDevice("tpu") }, `tensor: to: device "tpu" does not exist; want one of: cpu, other, reads`},
		{func() { x.ToDevice(CUDA) }, `tensor: to: device "cuda" is not available: no backend registered; use tensor.CPU`},
		{func() { x.Expand(2, 2, 3).AddAssign(x) }, "tensor: add_: shape (2, 2, 3): the tensor is expanded, so several elements share memory; change a Clone of it"},
		{func() { x.AddAssign(Zeros(2, 2, 3)) }, "tensor: add_: shapes (2, 3) and (2, 2, 3): cannot broadcast the operand to the shape of the tensor changed in place"},
	} {
		err := Try(c.f)
		if err == nil || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
	if CUDA.Available() || !CPU.Available() {
		t.Error("a build without CUDA reports a wrong availability of devices")
	}
	defer func() {
		if p := recover(); p != "other" {
			t.Errorf("Try recovered a panic that is not an Error: got %v", p)
		}
	}()
	Try(func() { panic("other") })
}

func ExampleError() {
	fmt.Println(Try(func() { Ones(2, 3).MatMul(Ones(2, 3)) }))
	// Output: tensor: matmul: shapes (2, 3) and (2, 3): the inner sizes 3 and 2 differ; want (…, m, k) times (…, k, n)
}

// TestSliceBounds checks, for all bounds within and beyond a small tensor, that Slice, SliceStep, Index with
// R and Set select the elements of t[from:to:step] in PyTorch, which clips bounds.
func TestSliceBounds(t *testing.T) {
	const n = 4
	bounds := []int{math.MinInt, -9, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 9, math.MaxInt}
	x := Arange(0, n)
	for _, from := range bounds {
		for _, to := range bounds {
			for step := 1; step <= 3; step++ {
				want := []float64{}
				for i := pythonBound(from, n); i < pythonBound(to, n); i += step {
					want = append(want, float64(i))
				}
				for name, y := range map[string]*Tensor{"SliceStep": x.SliceStep(0, from, to, step), "R": x.Index(R(from, to, step))} {
					if !slices.Equal(y.Float64s(), want) {
						t.Errorf("%s %d:%d:%d: got %v, want %v", name, from, to, step, y.Float64s(), want)
					}
				}
				if y := Zeros(n).Set(1, R(from, to, step)); y.Sum().Item() != float64(len(want)) {
					t.Errorf("Set of %d:%d:%d: got %v, want %d ones", from, to, step, y, len(want))
				}
				if y := x.Slice(-1, from, to); step == 1 && !slices.Equal(y.Float64s(), want) {
					t.Errorf("Slice %d:%d: got %v, want %v", from, to, y.Float64s(), want)
				}
			}
		}
	}
}

// pythonBound is the bound of a slice as defined in Python's reference, section 3.3.8.
func pythonBound(i, n int) int {
	if i < 0 {
		i += n
	}
	return min(max(i, 0), n)
}

// TestSliceLikeTorch compares with PyTorch 2.15's output for torch.arange(4).
func TestSliceLikeTorch(t *testing.T) {
	x := Arange(0, 4)
	for text, c := range map[string]struct {
		from, to int
		want     []float64
	}{
		"1:9": {1, 9, []float64{1, 2, 3}}, "-9:9": {-9, 9, []float64{0, 1, 2, 3}}, "-9:-8": {-9, -8, nil}, "9:12": {9, 12, nil}, "3:1": {3, 1, nil},
		"1:-1": {1, -1, []float64{1, 2}}, "-1:1": {-1, 1, nil}, "2:-9": {2, -9, nil},
	} {
		if got := x.Slice(0, c.from, c.to); !slices.Equal(got.Float64s(), c.want) {
			t.Errorf("[%s]: got %v, want %v", text, got.Float64s(), c.want)
		}
	}
	y := Ones(4).RequireGrad()
	y.Slice(0, 2, 9).Sum().Backward()
	if got := y.Grad().Float64s(); !slices.Equal(got, []float64{0, 0, 1, 1}) {
		t.Errorf("gradient of [2:9]: got %v", got)
	}
}

// TestNarrowBounds checks that Narrow rejects the starts and lengths that torch.narrow rejects.
func TestNarrowBounds(t *testing.T) {
	x := Arange(0, 4)
	for _, c := range []struct {
		start, length int
		ok            bool
	}{{1, 3, true}, {-2, 2, true}, {4, 0, true}, {1, 9, false}, {-9, 1, false}, {5, 0, false}, {1, -1, false}, {1, math.MaxInt, false}, {math.MinInt, 1, false}} {
		if err := Try(func() { x.Narrow(0, c.start, c.length) }); (err == nil) != c.ok {
			t.Errorf("%s: %v", fmt.Sprint(c), err)
		}
	}
}
