package tensor

import (
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// integerRow is a result in testdata/integers.json, written by testdata/integers.py.
type integerRow struct {
	Group, Op string
	Operands  []string
	Number    float64
	Want      *struct { // nil if PyTorch gives an error
		DType  string
		Values []any
	}
}

// TestIntegerOperations compares operations on integers of every dtype with PyTorch's, at the
// ends of their ranges, where results wrap around.
func TestIntegerOperations(t *testing.T) {
	text, err := os.ReadFile("testdata/integers.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Rows []integerRow }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	for _, row := range file.Rows {
		f := integerOperations[row.Group][row.Op]
		if f == nil {
			t.Fatalf("%s: %s is in the table, but not in integerOperations", row.Group, row.Op)
		}
		var y *Tensor
		err := Try(func() { y = f(row.operands()) })
		if row.Want == nil {
			if err == nil || !strings.Contains(err.Error(), "beyond its range") {
				t.Errorf("%s %s of %v and %v: got %v and the error %v", row.Group, row.Op, row.Operands, row.Number, y, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s %s of %v and %v: %v", row.Group, row.Op, row.Operands, row.Number, err)
			continue
		}
		if got := elementTexts(y); y.dtype.String() != row.Want.DType || !slices.Equal(got, row.texts(y.dtype)) {
			t.Errorf("%s %s of %v and %v: got %v %v, want %v %v", row.Group, row.Op, row.Operands, row.Number, y.dtype, got, row.Want.DType, row.texts(y.dtype))
		}
	}
	t.Logf("%d results compared", len(file.Rows))
}

// elementTexts returns the elements of x in row-major order as texts.
func elementTexts(x *Tensor) []string {
	list := []string{}
	if !x.dtype.IsFloat() && x.dtype != Bool {
		for _, v := range x.Int64s() {
			list = append(list, strconv.FormatInt(v, 10))
		}
		return list
	}
	for _, v := range x.Float64s() {
		list = append(list, strconv.FormatFloat(v, 'g', -1, 64))
	}
	return list
}

// texts returns the expected elements of a row.
func (row integerRow) texts(d DType) []string {
	list := []string{}
	for _, v := range row.Want.Values {
		switch v := v.(type) {
		case string:
			list = append(list, v)
		case bool:
			list = append(list, map[bool]string{false: "0", true: "1"}[v])
		case float64:
			list = append(list, strconv.FormatFloat(v, 'g', -1, 64))
		}
	}
	return list
}

// operands makes the tensors of a row by the rules of testdata/integers.py.
func (row integerRow) operands() (x, y *Tensor, c float64) {
	x = integerEdges(dtypeNamed(row.Operands[0]))
	if len(row.Operands) == 1 {
		return x, nil, row.Number
	}
	d := dtypeNamed(row.Operands[1])
	switch y = integerEdges(d).Roll(5, 0); row.Group {
	case "quotients":
		y = y.EqScalar(0).Or(y.EqScalar(-1)).Where(FullAs(d, 3), y)
	case "shifts":
		y = NewAs(d, []float64{0, 1, 2, 3, 7, 8, 9, 15, 16, 31, 33, 64})
	}
	return x, y, 0
}

func integerEdges(d DType) *Tensor {
	info := IInfo(d)
	list := []int64{info.Min, info.Max, info.Min + 1, info.Max - 1, 0, 1, 2, 3, 5, 7, 100, 127}
	if d != Uint8 {
		for i := 7; i < 10; i++ {
			list[i] *= -1
		}
	}
	return FromInt64s(list).To(d)
}

type integerOperation = func(x, y *Tensor, c float64) *Tensor

// integerOperations are the operations of the table, by group.
var integerOperations = map[string]map[string]integerOperation{
	"singles": integerSingles, "same": integerSame, "pairs": integerPairs, "numbers": integerNumbers, "limits": integerFills,
	"shifts": {"left": binaryOf((*Tensor).LeftShift), "right": binaryOf((*Tensor).RightShift)},
	"quotients": {
		"div": binaryOf((*Tensor).Div), "floor_divide": binaryOf((*Tensor).FloorDivide), "trunc_divide": binaryOf((*Tensor).DivTrunc),
		"fmod": binaryOf((*Tensor).Fmod), "remainder": binaryOf((*Tensor).Remainder),
	},
}

func unaryOf(f func(x *Tensor) *Tensor) integerOperation {
	return func(x, _ *Tensor, _ float64) *Tensor { return f(x) }
}
func binaryOf(f func(x, y *Tensor) *Tensor) integerOperation {
	return func(x, y *Tensor, _ float64) *Tensor { return f(x, y) }
}
func numberOf(f func(x *Tensor, c float64) *Tensor) integerOperation {
	return func(x, _ *Tensor, c float64) *Tensor { return f(x, c) }
}
func firstOf(f func(x *Tensor) (a, b *Tensor)) integerOperation {
	return func(x, _ *Tensor, _ float64) *Tensor { a, _ := f(x); return a }
}
func secondOf(f func(x *Tensor) (a, b *Tensor)) integerOperation {
	return func(x, _ *Tensor, _ float64) *Tensor { _, b := f(x); return b }
}
func castTo(d DType) integerOperation { return unaryOf(func(x *Tensor) *Tensor { return x.To(d) }) }

var integerPairs = map[string]integerOperation{
	"add": binaryOf((*Tensor).Add), "sub": binaryOf((*Tensor).Sub), "mul": binaryOf((*Tensor).Mul), "maximum": binaryOf((*Tensor).Maximum), "minimum": binaryOf((*Tensor).Minimum),
	"and": binaryOf((*Tensor).BitwiseAnd), "or": binaryOf((*Tensor).BitwiseOr), "xor": binaryOf((*Tensor).BitwiseXor), "logical_xor": binaryOf((*Tensor).Xor),
	"eq": binaryOf((*Tensor).Eq), "ne": binaryOf((*Tensor).Ne), "lt": binaryOf((*Tensor).Lt), "le": binaryOf((*Tensor).Le), "gt": binaryOf((*Tensor).Gt), "ge": binaryOf((*Tensor).Ge),
	"where": binaryOf(func(x, y *Tensor) *Tensor { return x.Gt(y).Where(x, y) }),
	"cat":   binaryOf(func(x, y *Tensor) *Tensor { return Cat(0, x, y) }),
	"stack": binaryOf(func(x, y *Tensor) *Tensor { return Stack(1, x, y) }),
	"add_":  binaryOf(func(x, y *Tensor) *Tensor { return x.Clone().AddAssign(y) }),
	"sub_":  binaryOf(func(x, y *Tensor) *Tensor { return x.Clone().SubAssign(y) }),
	"mul_":  binaryOf(func(x, y *Tensor) *Tensor { return x.Clone().MulAssign(y) }),
	"copy_": binaryOf(func(x, y *Tensor) *Tensor { return x.Clone().Assign(y) }),
}

var integerPlaces = FromInts([]int{4, 0, 2, 1, 1, 5}, 2, 3)

// byRows calls f with two rows of x and y.
func byRows(f func(x, y *Tensor) *Tensor) integerOperation {
	return binaryOf(func(x, y *Tensor) *Tensor { return f(x.Reshape(2, 6), y.Reshape(2, 6)) })
}

var integerSame = map[string]integerOperation{
	"mm":            binaryOf(func(x, y *Tensor) *Tensor { return x.Reshape(3, 4).MatMul(y.Reshape(4, 3)) }),
	"dot":           binaryOf((*Tensor).Dot),
	"outer":         binaryOf((*Tensor).Outer),
	"pow":           unaryOf(func(x *Tensor) *Tensor { return x.PowTensor(ArangeAs(x.dtype, 0, 12, 1)) }),
	"masked_fill":   binaryOf(func(x, y *Tensor) *Tensor { return x.MaskedFill(y.GtScalar(3), 9) }),
	"masked_select": binaryOf(func(x, y *Tensor) *Tensor { return x.MaskedSelect(y.GtScalar(3)) }),
	"addcmul":       binaryOf(func(x, y *Tensor) *Tensor { return x.Addcmul(y, y, 1) }),
	"clamp":         binaryOf(func(x, y *Tensor) *Tensor { return x.ClampTensor(x.Minimum(y), y) }),
	"scatter":       byRows(func(x, y *Tensor) *Tensor { return x.Scatter(1, integerPlaces, y) }),
	"scatter_add":   byRows(func(x, y *Tensor) *Tensor { return x.ScatterAdd(1, integerPlaces, y) }),
	"amax_reduce": byRows(func(x, y *Tensor) *Tensor {
		return x.ScatterReduce(1, integerPlaces, y, "amax", ScatterReduceOptions{})
	}),
	"prod_reduce": byRows(func(x, y *Tensor) *Tensor {
		return x.ScatterReduce(1, integerPlaces, y, "prod", ScatterReduceOptions{})
	}),
	"index_add":  binaryOf(func(x, y *Tensor) *Tensor { return x.IndexAdd(0, FromInts([]int{3, 3, 0}), y.Slice(0, 0, 3), 1) }),
	"index_copy": binaryOf(func(x, y *Tensor) *Tensor { return x.IndexCopy(0, FromInts([]int{3, 5, 0}), y.Slice(0, 0, 3)) }),
}

// gridOf calls f with x as 3 rows of 4.
func gridOf(f func(x *Tensor) *Tensor) integerOperation {
	return unaryOf(func(x *Tensor) *Tensor { return f(x.Reshape(3, 4)) })
}

var integerSingles = map[string]integerOperation{
	"neg": unaryOf((*Tensor).Neg), "abs": unaryOf((*Tensor).Abs), "sign": unaryOf((*Tensor).Sign), "square": unaryOf((*Tensor).Square),
	"bitwise_not": unaryOf((*Tensor).BitwiseNot), "relu": unaryOf((*Tensor).ReLU), "logical_not": unaryOf((*Tensor).Not), "floor": unaryOf((*Tensor).Floor),
	"exp":             unaryOf(func(x *Tensor) *Tensor { return x.Clamp(-2, 2).Exp() }),
	"sqrt":            unaryOf(func(x *Tensor) *Tensor { return x.Clamp(0, 16).Sqrt() }),
	"sum":             unaryOf(func(x *Tensor) *Tensor { return x.Sum() }),
	"prod":            unaryOf(func(x *Tensor) *Tensor { return x.Prod() }),
	"sum of rows":     gridOf(func(x *Tensor) *Tensor { return x.Sum(1) }),
	"prod of columns": gridOf(func(x *Tensor) *Tensor { return x.Prod(0) }),
	"amax":            unaryOf(func(x *Tensor) *Tensor { return x.Amax() }),
	"amin":            unaryOf(func(x *Tensor) *Tensor { return x.Amin() }),
	"amax of rows":    gridOf(func(x *Tensor) *Tensor { return x.Amax(1) }),
	"amin of columns": gridOf(func(x *Tensor) *Tensor { return x.Amin(0) }),
	"argmax":          unaryOf(func(x *Tensor) *Tensor { return x.Argmax() }),
	"argmin":          unaryOf(func(x *Tensor) *Tensor { return x.Argmin() }),
	"argmax of rows":  gridOf(func(x *Tensor) *Tensor { return x.Argmax(1) }),
	"any":             unaryOf(func(x *Tensor) *Tensor { return x.NeScalar(0).Any() }),
	"all":             unaryOf(func(x *Tensor) *Tensor { return x.NeScalar(0).All() }),
	"count_nonzero":   unaryOf(func(x *Tensor) *Tensor { return x.CountNonzero() }),
	"nonzero":         unaryOf(func(x *Tensor) *Tensor { return x.Nonzero()[0] }),
	"cumsum":          unaryOf(func(x *Tensor) *Tensor { return x.Cumsum(0) }),
	"cumprod":         unaryOf(func(x *Tensor) *Tensor { return x.Cumprod(0) }),
	"cummax":          firstOf(func(x *Tensor) (a, b *Tensor) { return x.Cummax(0) }),
	"cummin places":   secondOf(func(x *Tensor) (a, b *Tensor) { return x.Cummin(0) }),
	"sort":            firstOf(func(x *Tensor) (a, b *Tensor) { return x.Sort(0) }),
	"sort places":     secondOf(func(x *Tensor) (a, b *Tensor) { return x.Sort(0) }),
	"sort down":       firstOf(func(x *Tensor) (a, b *Tensor) { return x.SortDescending(0) }),
	"topk":            firstOf(func(x *Tensor) (a, b *Tensor) { return x.TopK(4, 0) }),
	"unique":          unaryOf(func(x *Tensor) *Tensor { y, _, _ := x.Unique(); return y }),
	"unique counts":   unaryOf(func(x *Tensor) *Tensor { _, _, n := Cat(0, x, x.Slice(0, 3, 6)).Unique(); return n }),
	"bincount":        unaryOf(func(x *Tensor) *Tensor { return x.MaskedSelect(x.GeScalar(0).And(x.LtScalar(6))).Bincount(0) }),
	"median":          firstOf(func(x *Tensor) (a, b *Tensor) { return x.Median(0) }),
	"gather":          unaryOf(func(x *Tensor) *Tensor { return x.Reshape(2, 6).Gather(1, integerPlaces) }),
	"index_select":    unaryOf(func(x *Tensor) *Tensor { return x.IndexSelect(0, FromInts([]int{11, 0, 5})) }),
	"take":            unaryOf(func(x *Tensor) *Tensor { return x.Index(FromInts([]int{3, -1})) }),
	"mask":            unaryOf(func(x *Tensor) *Tensor { return x.Index(x.GtScalar(1)) }),
	"flip":            unaryOf(func(x *Tensor) *Tensor { return x.Flip(0) }),
	"roll":            unaryOf(func(x *Tensor) *Tensor { return x.Roll(3, 0) }),
	"tril":            gridOf(func(x *Tensor) *Tensor { return x.Tril(0) }),
	"transposed":      gridOf(func(x *Tensor) *Tensor { return x.T().Contiguous() }),
	"diag":            unaryOf(func(x *Tensor) *Tensor { return x.Slice(0, 0, 3).Diag(0) }),
	"repeat":          unaryOf(func(x *Tensor) *Tensor { return x.Repeat(2) }),
	"diff":            unaryOf(func(x *Tensor) *Tensor { return x.Diff(1, 0) }),
	"pad":             gridOf(func(x *Tensor) *Tensor { return x.Pad([]int{1, 2}, PadOptions{Value: 7}) }),
	"one_hot":         unaryOf(func(x *Tensor) *Tensor { return x.Slice(0, 4, 7).Long().OneHot(4).To(x.dtype) }),
	"ones_like":       unaryOf(OnesLike),
	"zeros_like":      unaryOf(ZerosLike),
	"to int8":         castTo(Int8), "to int16": castTo(Int16), "to uint8": castTo(Uint8), "to int32": castTo(Int32), "to int64": castTo(Int64),
	"to bool": castTo(Bool), "to float32": castTo(Float32), "to float64": castTo(Float64),
}

var integerNumbers = map[string]integerOperation{
	"add": numberOf((*Tensor).AddScalar), "rsub": numberOf((*Tensor).RSubScalar), "mul": numberOf((*Tensor).MulScalar), "div": numberOf((*Tensor).DivScalar),
	"eq": numberOf((*Tensor).EqScalar), "lt": numberOf((*Tensor).LtScalar), "ge": numberOf((*Tensor).GeScalar),
	"clamp": numberOf(func(x *Tensor, c float64) *Tensor { return x.Clamp(c, c+2) }),
	"add_":  numberOf(func(x *Tensor, c float64) *Tensor { return x.Clone().AddScalarAssign(c) }),
	"mul_":  numberOf(func(x *Tensor, c float64) *Tensor { return x.Clone().MulScalarAssign(c) }),
	"fill_": numberOf(func(x *Tensor, c float64) *Tensor { return x.Clone().Fill(c) }),
}

var integerFills = map[string]integerOperation{
	"full":        numberOf(func(x *Tensor, c float64) *Tensor { return FullAs(x.dtype, c, 1) }),
	"fill_":       numberOf(func(x *Tensor, c float64) *Tensor { return x.Slice(0, 0, 1).Clone().Fill(c) }),
	"masked_fill": numberOf(func(x *Tensor, c float64) *Tensor { x = x.Slice(0, 0, 2); return x.MaskedFill(x.Gt(x.Select(0, 0)), c) }),
	"scatter":     numberOf(func(x *Tensor, c float64) *Tensor { return x.Slice(0, 0, 2).ScatterValue(0, FromInts([]int{0}), c) }),
	"index_fill":  numberOf(func(x *Tensor, c float64) *Tensor { return x.Slice(0, 0, 2).IndexFill(0, FromInts([]int{0}), c) }),
}
