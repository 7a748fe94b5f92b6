package tensor

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestIndexing compares index expressions with PyTorch's; testdata/indexing.py generated them
// at random.
func TestIndexing(t *testing.T) {
	text, err := os.ReadFile("testdata/indexing.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Shape             []int
			At                []map[string]json.RawMessage
			Out, Y, Set, Grad []int
			View, Error       bool
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	for _, c := range file.Cases {
		var at []any
		for _, item := range c.At {
			at = append(at, indexItem(t, item))
		}
		name := fmt.Sprint(c.Shape, at)
		x := Arange(0, float64(size(c.Shape))).Reshape(c.Shape...)
		var y *Tensor
		err := Try(func() { y = x.Index(at...) })
		if err != nil || c.Error {
			if (err != nil) != c.Error {
				t.Errorf("%s: got error %v; PyTorch gives an error: %v", name, err, c.Error)
			}
			continue
		}
		if !slices.Equal(y.Shape(), c.Out) || !slices.Equal(y.Ints(), c.Y) {
			t.Errorf("%s: got %v %v, want %v %v", name, y.Shape(), y.Ints(), c.Out, c.Y)
			continue
		}
		if view := y.mem == x.mem; view != c.View && y.Numel() > 0 {
			t.Errorf("%s: is it a view: got %v, want %v", name, view, c.View)
		}
		value := Full(-7)
		z := x.Clone().Set(-7, at...)
		if different := slices.Compact(slices.Sorted(slices.Values(c.Y))); len(different) == len(c.Y) {
			value = Arange(1, float64(len(c.Y)+1)).Neg().Reshape(c.Out...)
			z.Set(value, at...)
		}
		if got := z.Ints(); !slices.Equal(got, c.Set) {
			t.Errorf("%s: set: got %v, want %v", name, got, c.Set)
		}
		if got := x.IndexPut(value, at...).Ints(); !slices.Equal(got, c.Set) {
			t.Errorf("%s: index_put: got %v, want %v", name, got, c.Set)
		}
		// The same with reversed dimensions in memory, and with gradients.
		leaf := reversedInMemory(x).RequireGrad()
		w := Arange(1, float64(len(c.Y)+1)).Reshape(c.Out...)
		leaf.Index(at...).Mul(w).Sum().Backward()
		if got := leaf.Grad().Ints(); !slices.Equal(got, c.Grad) {
			t.Errorf("%s: gradient: got %v, want %v", name, got, c.Grad)
		}
		if got := ZerosLike(x).IndexPutAdd(w, at...).Ints(); !slices.Equal(got, c.Grad) {
			t.Errorf("%s: index_put adding: got %v, want %v", name, got, c.Grad)
		}
		if got := reversedInMemory(x).Set(-7, at...).Set(value, at...).Ints(); !slices.Equal(got, c.Set) {
			t.Errorf("%s: set of a transpose: got %v, want %v", name, got, c.Set)
		}
	}
}

func reversedInMemory(x *Tensor) *Tensor {
	order := seq(x.Dim())
	slices.Reverse(order)
	return x.Permute(order...).Clone().Permute(order...).Detach()
}

// indexItem converts an item of the file to an argument of Index.
func indexItem(t *testing.T, item map[string]json.RawMessage) any {
	read := func(name string, to any) {
		if err := json.Unmarshal(item[name], to); err != nil {
			t.Fatal(err)
		}
	}
	var shape, numbers []int
	var flags []bool
	for name := range item {
		switch name {
		case "all":
			return All
		case "dots":
			return Ellipsis
		case "new":
			return NewAxis
		case "int":
			var i int
			read(name, &i)
			return i
		case "range":
			var r [3]*int
			read(name, &r)
			if r[1] == nil {
				r[1] = new(End)
			}
			return R(*r[0], *r[1], *r[2])
		case "list":
			read(name, &numbers)
			return numbers
		case "flags":
			read(name, &flags)
			return flags
		case "tensor":
			read(name, &numbers)
			read("shape", &shape)
			return FromInts(numbers).Reshape(shape...)
		case "mask":
			read(name, &flags)
			read("shape", &shape)
			return FromBools(flags).Reshape(shape...)
		}
	}
	t.Fatalf("%v is not an index item", item)
	return nil
}

func TestIndexErrors(t *testing.T) {
	x := Ones(2, 3)
	mask := FromBools([]bool{true, false}, 2)
	for want, f := range map[string]func(){
		"tensor: index: shape (2, 3): the number of indexed dimensions is 3; want at most 2":                               func() { x.Index(0, All, 1) },
		"tensor: index: shapes (2, 3) and (1,): index 3 at (0,) is out of range for dimension 1 of size 3; want -3 to 2":   func() { x.Index(All, []int{3}) },
		"tensor: index: shape (2, 3): item 0 is 2, out of range for a dimension of size 2; want -2 to 1":                   func() { x.Index(2) },
		"tensor: index: shapes (2, 3) and (2,): item 1 is a mask for dimensions 1 and up; want shape (3,)":                 func() { x.Index(All, mask) },
		"tensor: index: shape (2, 3): item 1 is a second Ellipsis; want one":                                               func() { x.Index(Ellipsis, Ellipsis) },
		"tensor: index: shape (2, 3): item 0 is string; want int, R(…), All, Ellipsis, NewAxis, *Tensor, []int or []bool":  func() { x.Index("1:2") },
		"tensor: index: dtypes float32 and float32: item 0 is a float32 tensor of rank 1; want int64 or int32, or bool":    func() { x.Index(Ones(2)) },
		"tensor: index: shapes (2,) and (3,): cannot broadcast the index tensors together; want sizes that are equal or 1": func() { x.Index([]int{0, 1}, []int{0, 1, 2}) },
		"tensor: r: step is -1; want at least 1; use Flip to reverse":                                                      func() { R(0, 2, -1) },
		"tensor: r: got 0 numbers; want from, from and to, or from, to and step":                                           func() { R() },
		"tensor: set: shape (4,): cannot broadcast the value to the selected part of shape (3,)":                           func() { x.Set(Ones(4), 0) },
		"tensor: set: shape (2, 3): value is string; want int, float64, bool or *Tensor":                                   func() { x.Set("1", 0) },
		"tensor: set: dtype float16: 70000 is beyond its range":                                                            func() { x.Half().Set(70000, 0) },
		"tensor: set: shape (2, 3): the tensor requires a gradient, which a change in place would make wrong":              func() { Ones(2, 3).RequireGrad().Set(1, 0) },
		"tensor: set: shapes (2, 3) and (3,): an operand requires a gradient, but changes in place are not recorded":       func() { Ones(2, 3).Set(Ones(3).RequireGrad(), 0) },
		"tensor: set: shape (2, 3): the tensor is expanded, so several elements share memory":                              func() { Ones(3).Expand(2, 3).Set(1, 0) },
		"tensor: index_put: shape (2,): cannot broadcast the value to the selected part of shape (3,)":                     func() { x.IndexPut(Ones(2), 1) },
		"tensor: index_put: dtypes float32 and float16: operands must have one dtype":                                      func() { x.IndexPut(Ones(3).Half(), 1) },
	} {
		if err := Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// TestSet checks the side effects of a change in place.
func TestSet(t *testing.T) {
	x := Zeros(2, 3)
	w := Ones(2, 3).RequireGrad()
	y := w.Mul(x)
	version := x.Version()
	x.Set(true, 0, []int{1, 2}).Set(2.5, 1, R(1))
	if got, want := fmt.Sprint(x.Float64s()), "[0 1 1 0 2.5 2.5]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if x.Version() == version {
		t.Error("the version has not changed")
	}
	if err := Try(func() { y.Sum().Backward() }); err == nil {
		t.Error("derivative after its operand changed in place: got no error")
	}
	NoGrad(func() { w.Set(7, All, 0) })
	if got, want := w.At(1, 0), 7.0; got != want {
		t.Errorf("leaf changed in NoGrad: got %v, want %v", got, want)
	}
	ids := ZerosLike(x).To(Int64).Set(9, FromBools([]bool{true, false}))
	if got, want := ids.Ints(), []int{9, 9, 9, 0, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("integers: got %v, want %v", got, want)
	}
	line := Arange(0, 5)
	if got, want := line.Set(line.Index(R(0, -1)), R(1)).Ints(), []int{0, 0, 1, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("set to a part of itself: got %v, want %v", got, want)
	}
	if got, want := fmt.Sprint(R(1), R(0, End), R(-3, -1, 2)), "1: : -3:-1:2"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
