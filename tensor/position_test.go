package tensor

import (
	"strings"
	"testing"
)

// TestPositionErrors checks that errors name the operation, the values given and the values expected.
func TestPositionErrors(t *testing.T) {
	x, i := Ones(2, 3), FromInts([]int{0, 1, 5})
	row := FromInts([]int{0, 1, 5}, 1, 3)
	for _, c := range []struct {
		f    func()
		want string
	}{
		{func() { x.Gather(1, row) }, "tensor: gather: shapes (2, 3) and (1, 3): index 5 at (0, 2) is out of range for dimension 1 of size 3; want 0 to 2"},
		{func() { x.Gather(0, FromInts([]int{-1}, 1, 1)) }, "tensor: gather: shapes (2, 3) and (1, 1): index -1 at (0, 0) is out of range for dimension 0 of size 2; want 0 to 1"},
		{func() { x.Gather(2, row) }, "tensor: gather: shape (2, 3): dimension 2 is out of range; want -2 to 1"},
		{func() { x.Gather(0, Ones(1, 3)) }, "tensor: gather: dtypes float32 and float32: index must be int64 or int32, for example from tensor.FromInts"},
		{func() { x.Gather(1, FromInts(make([]int, 9), 3, 3)) }, "tensor: gather: shapes (2, 3) and (3, 3): index does not match t; want as many dimensions, and sizes at most t's in all but dimension 1"},
		{func() { x.Gather(1, i) }, "tensor: gather: shapes (2, 3) and (3,): index does not match t; want as many dimensions, and sizes at most t's in all but dimension 1"},
		{func() { x.Take(FromInts([]int{-7})) }, "tensor: take: shapes (2, 3) and (1,): index -7 at (0,) is out of range for dimension 0 of size 6; want -6 to 5"},
		{func() { x.TakeAlongDim(i, 0) }, "tensor: take_along_dim: shapes (2, 3) and (3,): t is 2-D and index 1-D"},
		{func() { x.TakeAlongDim(FromInts([]int{0, 0}, 1, 2), 0) }, "tensor: take_along_dim: shapes (2, 3) and (1, 2): t and index do not broadcast in dimension 1; want equal sizes or size 1"},
		{func() { Zeros(0).IndexSelect(0, FromInts([]int{0})) }, "tensor: index_select: shapes (0,) and (1,): index 0 at (0,) is out of range for dimension 0 of size 0; want none, as the dimension is empty"},
		{func() { x.IndexSelect(0, row) }, "tensor: index_select: shapes (2, 3) and (1, 3): index must be a vector"},
		{func() { x.IndexAdd(1, i, x, 1) }, "tensor: index_add: shapes (2, 3) and (3,): index 5 at (2,) is out of range for dimension 1 of size 3; want 0 to 2"},
		{func() { x.IndexAdd(0, i, x, 1) }, "tensor: index_add: shapes (2, 3), (3,) and (2, 3): src does not match; want shape (3, 3), with a slice along dimension 0 for each index"},
		{func() { x.IndexAdd(0, FromInts([]int{0, 1}), x.Double(), 1) }, "tensor: index_add: dtypes float32 and float64: operands must have one dtype"},
		{func() { x.IndexCopy(0, i, x) }, "tensor: index_copy: shapes (2, 3), (3,) and (2, 3): src does not match"},
		{func() { x.IndexFill(0, FromInts([]int{-3}), 1) }, "tensor: index_fill: shapes (2, 3) and (1,): index -3 at (0,) is out of range for dimension 0 of size 2; want -2 to 1"},
		{func() { x.Half().IndexFill(0, i, 1e9) }, "tensor: index_fill: dtype float16: 1e+09 is beyond its range"},
		{func() { x.Scatter(1, FromInts([]int{0, 0, 0}, 1, 3), i) }, "tensor: scatter: shapes (1, 3) and (3,): index and src do not match; want as many dimensions in src as in index"},
		{func() { x.Scatter(1, FromInts([]int{0, 0, 0}, 1, 3), Ones(1, 2)) }, "tensor: scatter: shapes (1, 3) and (1, 2): src is smaller than index; want size 3 or more in dimension 1"},
		{func() { x.ScatterAdd(0, FromInts([]int{0}, 1, 1), x.Half()) }, "tensor: scatter_add: dtypes float32 and float16: operands must have one dtype"},
		{func() { x.ScatterReduce(0, row, x, "max", ScatterReduceOptions{}) }, `scatter_reduce: shapes (2, 3), (1, 3) and (2, 3): unknown reduction "max"; want sum, prod, mean, amax or amin`},
		{func() { x.Argmax(2) }, "tensor: argmax: shape (2, 3): dimension 2 is out of range; want -2 to 1"},
		{func() { Zeros(0, 3).Argmin(0) }, "tensor: argmin: shape (0, 3): the reduction is empty; want sizes of at least 1 along dimensions (0,)"},
		{func() { Cat(0) }, "tensor: cat: no tensors given; want at least 1"},
		{func() { Cat(0, Full(1)) }, "tensor: cat: shape (): cannot concatenate a scalar; want at least 1 dimension: use Stack"},
		{func() { Cat(0, x, Ones(2, 2)) }, "tensor: cat: shapes (2, 3) and (2, 2): tensor 1 does not match the others; want equal sizes in all dimensions but 0"},
		{func() { Stack(0, x, Ones(2)) }, "tensor: stack: shapes (2, 3) and (2,): tensor 1 does not have the shape of tensor 0; want equal shapes"},
		{func() { Stack(0) }, "tensor: stack: no tensors given; want at least 1"},
		{func() { x.SliceStep(0, 0, 2, 0) }, "tensor: slice: shape (2, 3): step is 0; want at least 1: use Flip to reverse"},
		{func() { x.Narrow(1, 2, 2) }, "tensor: narrow: shape (2, 3): start 2 and length 2 are out of range in dimension 1; want a range within its size 3"},
		{func() { x.T().View(6) }, "tensor: view: shapes (3, 2) and (6,): strides (1, 3) do not allow shape (6,) without a copy; want a contiguous tensor: use Reshape"},
		{func() { x.Flatten(1, 0) }, "tensor: flatten: shape (2, 3): start 1 is after end 0; want start before end"},
		{func() { x.Unflatten(1, 2, -1) }, "tensor: unflatten: shape (2, 3): dimension 1 of size 3 does not split into (2, -1); want sizes with that product, and at most one -1"},
		{func() { x.Repeat(2) }, "tensor: repeat: shape (2, 3): repeats has length 1; want at least 2, one for each dimension"},
		{func() { x.RepeatInterleave(-1, 0) }, "tensor: repeat_interleave: shape (2, 3): repeats is -1; want at least 0"},
		{func() { x.RepeatInterleaveEach(i, 0) }, "tensor: repeat_interleave: shapes (2, 3) and (3,): repeats has dtype int64; want 2 integers, one for each slice along dimension 0"},
		{func() { x.RepeatInterleaveEach(FromInts([]int{1, -2}), 0) }, "repeat_interleave: shapes (2, 3) and (2,): -2 repeats of slice 1; want at least 0, and a result that fits into memory"},
		{func() { Meshgrid(x) }, "tensor: meshgrid: shape (2, 3): operand 0 is 2-D; want vectors"},
		{func() { x.MaskedFill(x, 1) }, "tensor: masked_fill: dtypes float32 and float32: mask has dtype float32; want bool, such as a comparison returns"},
		{func() { x.Half().MaskedFill(FromBools([]bool{true}), -1e9) }, "tensor: masked_fill: dtype float16: -1e+09 is beyond its range; want a number from -65504 to 65504"},
		{func() { x.MaskedSelect(FromBools([]bool{true, false})) }, "tensor: masked_select: shapes (2, 3) and (2,): cannot broadcast"},
		{func() { x.MaskedScatter(FromBools([]bool{true}), Ones(5)) }, "tensor: masked_scatter: shapes (2, 3), (1,) and (5,): mask selects 6 elements; want at least that many in src, which has 5"},
		{func() { x.TopK(4, 1) }, "tensor: topk: shape (2, 3): k is 4 along dimension 1; want 0 to 3"},
		{func() { x.KthValue(0, 1) }, "tensor: kthvalue: shape (2, 3): k is 0 along dimension 1; want 1 to 3"},
		{func() { Zeros(2, 0).Median(1) }, "tensor: median: shape (2, 0): the reduction is empty; want sizes of at least 1 along dimensions (1,)"},
		{func() { Zeros(2, 0).Mode(1) }, "tensor: mode: shape (2, 0): the reduction is empty"},
		{func() { x.Sort(2) }, "tensor: sort: shape (2, 3): dimension 2 is out of range; want -2 to 1"},
		{func() { x.Searchsorted(Ones(3, 1), false) }, "tensor: searchsorted: shapes (2, 3) and (3, 1): the sorted tensor and values do not match; want a sorted vector, or equal sizes in all dimensions but the last"},
		{func() { Ones(3).Searchsorted(Ones(3).Half(), false) }, "tensor: searchsorted: dtypes float32 and float16: operands must have one dtype"},
		{func() { x.Bucketize(x, false) }, "tensor: bucketize: shapes (2, 3) and (2, 3): boundaries are 2-D; want a vector"},
		{func() { x.Roll(1, 2) }, "tensor: roll: shape (2, 3): dimension 2 is out of range; want -2 to 1"},
		{func() { x.Flip(0, 0) }, "tensor: flip: shape (2, 3): dimensions (0, 0) contain a duplicate"},
		{func() { x.Rot90(1, 0, -2) }, "tensor: rot90: shape (2, 3): dimensions 0 and -2 are the same; want two different dimensions"},
		{func() { Ones(3).Tril(0) }, "tensor: tril: shape (3,): t is 1-D; want at least 2-D, (…, m, n)"},
		{func() { Ones(1, 2, 3).Diag(0) }, "tensor: diag: shape (1, 2, 3): t is 3-D; want a vector or a matrix"},
		{func() { x.AsStrided([]int{2, 4}, []int{1, 2}, 0) }, "tensor: as_strided: shape (2, 3): shape (2, 4), strides (1, 2) and offset 0 reach element 7 of the memory; want up to its last, 5"},
		{func() { x.AsStrided([]int{2}, []int{-1}, 1) }, "tensor: as_strided: shape (2, 3): shape is (2,), strides are (-1,) and offset is 1; want as many strides as sizes, none negative"},
		{func() { Embedding(i, x, EmbeddingOptions{}) }, "tensor: embedding: shapes (2, 3) and (3,): index 5 at (2,) is out of range for dimension 0 of size 2; want 0 to 1"},
		{func() { Embedding(i, Ones(3), EmbeddingOptions{}) }, "tensor: embedding: shapes (3,) and (3,): weight is 1-D; want (n, d), one row for each index"},
		{func() { Embedding(i, x, EmbeddingOptions{Padded: true, PaddingIdx: 2}) }, "index 5 at (2,) is out of range"},
		{func() { Embedding(FromInts([]int{0}), x, EmbeddingOptions{Padded: true, PaddingIdx: 2}) }, "tensor: embedding: shape (2, 3): PaddingIdx 2 is out of range; want -2 to 1"},
		{func() { EmbeddingBag(i, x, EmbeddingBagOptions{Mode: "median"}) }, `tensor: embedding_bag: shapes (3,) and (2, 3): unknown mode "median"; want sum, mean or max`},
		{func() { EmbeddingBag(i, x, EmbeddingBagOptions{}) }, "tensor: embedding_bag: shapes (3,) and (2, 3): indices are 1-D without Offsets; want a row for each bag, or a vector and Offsets"},
		{func() { EmbeddingBag(row, x, EmbeddingBagOptions{Offsets: i}) }, "tensor: embedding_bag: shapes (1, 3), (2, 3) and (3,): indices and Offsets do not match; want two vectors"},
		{func() { EmbeddingBag(i, x, EmbeddingBagOptions{Offsets: i}) }, "tensor: embedding_bag: shapes (3,) and (3,): Offsets are (0, 1, 5); want 0, then ascending numbers up to 3"},
		{func() { EmbeddingBag(row, x, EmbeddingBagOptions{Weights: row.Float()}) }, "tensor: embedding_bag: shapes (1, 3), (2, 3) and (1, 3): Weights do not fit mode mean and the indices; want mode sum, and a weight for each index"},
		{func() { i.OneHot(4) }, "tensor: one_hot: shapes (3,) and (3,): index 5 at (2,) is out of range for dimension 0 of size 4; want 0 to 3"},
		{func() { i.OneHot(0) }, "tensor: one_hot: shape (3,): classes is 0; want at least 1, or -1 for the largest integer plus 1"},
		{func() { x.Split(0, 0) }, "tensor: split: shape (2, 3): size is 0; want at least 1"},
		{func() { x.SplitSizes([]int{1, 1}, 1) }, "tensor: split: shape (2, 3): sizes (1, 1) add up to 2; want 3, the size of dimension 1"},
		{func() { x.Chunk(0, 0) }, "tensor: chunk: shape (2, 3): chunks is 0; want at least 1"},
		{func() { x.TensorSplit(0, 0) }, "tensor: tensor_split: shape (2, 3): n is 0; want at least 1"},
	} {
		if err := Try(c.f); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

// TestPositionsAreViews checks that splitting and similar operations return views.
func TestPositionsAreViews(t *testing.T) {
	x := Arange(0, 24).Reshape(2, 3, 4)
	for name, y := range map[string]*Tensor{
		"split": x.Split(2, 1)[1], "chunk": x.Chunk(2, 2)[0], "unbind": x.Unbind(1)[2], "narrow": x.Narrow(2, 1, 2), "slice": x.SliceStep(2, 0, 4, 3),
		"movedim": x.Movedim(0, 2), "swapaxes": x.Swapaxes(0, 1), "flatten": x.Flatten(1), "unflatten": x.Unflatten(2, 2, 2), "view": x.View(6, 4),
		"broadcast_to": x.BroadcastTo(5, 2, 3, 4), "meshgrid": Meshgrid(x.Ravel(), x.Ravel())[1],
	} {
		if y.mem != x.mem {
			t.Errorf("%s: got a copy, want a view", name)
		}
	}
}

// TestIndexMemory checks that the derivative of a selection keeps only the positions, so that the operand
// may change before Backward.
func TestIndexMemory(t *testing.T) {
	w := Ones(3, 2).RequireGrad()
	y := w.MulScalar(2).IndexSelect(0, FromInts([]int{1, 1}))
	NoGrad(func() { w.Fill(7) })
	y.Sum().Backward()
	if got, want := w.Grad().Float64s(), []float64{0, 0, 4, 4, 0, 0}; !equalFloats(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	i := FromInts([]int{0})
	y = w.IndexSelect(0, i)
	i.Fill(1)
	if err := Try(func() { y.Sum().Backward() }); err == nil {
		t.Error("positions changed before Backward: got no error")
	}
}

// TestParts compares gradients of parts, which are added in place, with gradients of separate
// selections, also if a part is used twice or the whole tensor is used too.
func TestParts(t *testing.T) {
	for _, d := range []DType{Float32, Float16} {
		grad := func(f func(x *Tensor) *Tensor) []float64 {
			x := Arange(1, 13).Reshape(3, 4).To(d).RequireGrad()
			y := x.MulScalar(0.5)
			z := y.Pow(2).Sum().Add(f(y)).Add(y.Sum())
			z.Backward()
			return x.Grad().Float64s()
		}
		parts := grad(func(y *Tensor) *Tensor {
			u := y.Unbind(1)
			return u[0].Mul(u[2]).Sum().Add(u[0].Sum()).Add(y.SliceStep(1, 1, 4, 2).Pow(2).Sum()).Add(y.Slice(0, 1, 2).Sum())
		})
		picked := grad(func(y *Tensor) *Tensor {
			at := func(dim int, i ...int) *Tensor { return y.IndexSelect(dim, FromInts(i)) }
			return at(1, 0).Mul(at(1, 2)).Sum().Add(at(1, 0).Sum()).Add(at(1, 1, 3).Pow(2).Sum()).Add(at(0, 1).Sum())
		})
		if !equalFloats(parts, picked) {
			t.Errorf("%v: got %v, want %v", d, parts, picked)
		}
	}
}
