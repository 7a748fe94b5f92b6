package tensor

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// summed evaluates an equation of letters by one loop over all of them, in float64.
func summed(equation string, in ...*Tensor) (shape []int, data []float64) {
	left, right, _ := strings.Cut(equation, "->")
	terms := strings.Split(left, ",")
	sizes := map[rune]int{}
	var labels []rune
	for i, term := range terms {
		for d, l := range term {
			if _, ok := sizes[l]; !ok {
				labels = append(labels, l)
			}
			sizes[l] = max(sizes[l], in[i].shape[d])
			if in[i].shape[d] == 0 {
				sizes[l] = 0
			}
		}
	}
	n := 1
	for _, l := range labels {
		n *= sizes[l]
	}
	for _, l := range right {
		shape = append(shape, sizes[l])
	}
	if shape == nil {
		shape = []int{}
	}
	data = make([]float64, size(shape))
	values := make([][]float64, len(in))
	for i, x := range in {
		values[i] = x.Float64s()
	}
	index := map[rune]int{}
	at := func(term string, size func(d int) int) int {
		offset := 0
		for d, l := range term {
			i := index[l]
			if size(d) == 1 {
				i = 0
			}
			offset = offset*size(d) + i
		}
		return offset
	}
	for i := range n {
		for _, l := range slices.Backward(labels) {
			index[l], i = i%sizes[l], i/sizes[l]
		}
		p := 1.0
		for j, term := range terms {
			p *= values[j][at(term, func(d int) int { return in[j].shape[d] })]
		}
		data[at(right, func(d int) int { return shape[d] })] += p
	}
	return shape, data
}

// made returns tensors of sample numbers. Every second tensor is not contiguous.
func made(d DType, shapes ...[]int) []*Tensor {
	var out []*Tensor
	for i, s := range shapes {
		x := NewAs(d, sample(size(s) + i)[i:], append(slices.Clone(s), 1)...)
		if n := len(s); i%2 == 1 && n > 1 {
			x = x.Reshape(s...).Transpose(0, n-1).Contiguous().Transpose(0, n-1)
		}
		out = append(out, x.Reshape(s...))
	}
	return out
}

func TestProducts(t *testing.T) {
	for _, c := range []struct {
		name, equation string
		f              func(in []*Tensor) *Tensor
		shapes         [][]int
	}{
		{"mm", "ij,jk->ik", func(in []*Tensor) *Tensor { return in[0].MM(in[1]) }, [][]int{{3, 5}, {5, 2}}},
		{"mm, empty", "ij,jk->ik", func(in []*Tensor) *Tensor { return in[0].MM(in[1]) }, [][]int{{0, 5}, {5, 2}}},
		{"mm, no sum", "ij,jk->ik", func(in []*Tensor) *Tensor { return in[0].MM(in[1]) }, [][]int{{2, 0}, {0, 3}}},
		{"mv", "ij,j->i", func(in []*Tensor) *Tensor { return in[0].MV(in[1]) }, [][]int{{3, 7}, {7}}},
		{"bmm", "bij,bjk->bik", func(in []*Tensor) *Tensor { return in[0].BMM(in[1]) }, [][]int{{2, 3, 4}, {2, 4, 1}}},
		{"bmm, none", "bij,bjk->bik", func(in []*Tensor) *Tensor { return in[0].BMM(in[1]) }, [][]int{{0, 3, 4}, {0, 4, 1}}},
		{"dot", "i,i->", func(in []*Tensor) *Tensor { return in[0].Dot(in[1]) }, [][]int{{9}, {9}}},
		{"dot, empty", "i,i->", func(in []*Tensor) *Tensor { return in[0].Dot(in[1]) }, [][]int{{0}, {0}}},
		{"vdot", "i,i->", func(in []*Tensor) *Tensor { return in[0].VDot(in[1]) }, [][]int{{3}, {3}}},
		{"vecdot", "abc,abc->ac", func(in []*Tensor) *Tensor { return in[0].VecDot(in[1], 1) }, [][]int{{2, 3, 4}, {2, 3, 4}}},
		{"vecdot, broadcast", "abc,abc->ab", func(in []*Tensor) *Tensor { return in[0].VecDot(in[1].Reshape(4), -1) }, [][]int{{2, 3, 4}, {1, 1, 4}}},
		{"outer", "i,j->ij", func(in []*Tensor) *Tensor { return in[0].Outer(in[1]) }, [][]int{{3}, {4}}},
		{"chain_matmul", "ij,jk,kl,lm->im", func(in []*Tensor) *Tensor { return ChainMatMul(in...) }, [][]int{{2, 3}, {3, 1}, {1, 4}, {4, 2}}},
		{"multi_dot", "j,jk,kl,l->", func(in []*Tensor) *Tensor { return MultiDot(in...) }, [][]int{{3}, {3, 5}, {5, 4}, {4}}},
		{"multi_dot, a row", "j,jk->k", func(in []*Tensor) *Tensor { return MultiDot(in...) }, [][]int{{3}, {3, 5}}},
		{"multi_dot, a column", "ij,jk,k->i", func(in []*Tensor) *Tensor { return MultiDot(in...) }, [][]int{{2, 3}, {3, 5}, {5}}},
		{"tensordot", "abc,bad->cd", func(in []*Tensor) *Tensor { return in[0].TensorDot(in[1], []int{0, 1}, []int{1, 0}) }, [][]int{{2, 3, 4}, {3, 2, 5}}},
		{"tensordot, outer", "ab,c->abc", func(in []*Tensor) *Tensor { return in[0].TensorDot(in[1], nil, nil) }, [][]int{{2, 3}, {4}}},
		{"trace", "ii->", func(in []*Tensor) *Tensor { return in[0].Trace() }, [][]int{{4, 4}}},
		{"diagonal", "iaib->abi", func(in []*Tensor) *Tensor { return in[0].Diagonal(0, 0, 2) }, [][]int{{3, 2, 3, 4}}},
	} {
		for _, d := range dtypes {
			in := made(d, c.shapes...)
			shape, want := summed(c.equation, in...)
			compare(t, c.name, c.f(in), shape, want)
		}
	}
}

func TestEinsum(t *testing.T) {
	for _, c := range []struct {
		equation string
		letters  string // the equation without ellipsis and with a result; "" if equation has that form
		shapes   [][]int
	}{
		{"ij,jk->ik", "", [][]int{{3, 5}, {5, 2}}},
		{"ij,jk", "ij,jk->ik", [][]int{{3, 5}, {5, 2}}},
		{" i j , j k -> k i ", "ij,jk->ki", [][]int{{3, 5}, {5, 2}}},
		{"ba,ca", "ba,ca->bc", [][]int{{3, 5}, {2, 5}}},
		{"bA,Ac", "bA,Ac->bc", [][]int{{3, 5}, {5, 2}}},
		{"bX,cX->", "", [][]int{{3, 5}, {2, 5}}},
		{"i,i", "i,i->", [][]int{{4}, {4}}},
		{"i,j->ji", "", [][]int{{4}, {3}}},
		{"ii", "ii->", [][]int{{4, 4}}},
		{"ii->i", "", [][]int{{4, 4}}},
		{"iji->ji", "", [][]int{{2, 3, 2}}},
		{"iii->i", "", [][]int{{3, 3, 3}}},
		{"ij->j", "", [][]int{{2, 3}}},
		{"ij->ji", "", [][]int{{2, 3}}},
		{"ii,ij,j->i", "", [][]int{{3, 3}, {3, 2}, {2}}},
		{"bij,bjk->bik", "", [][]int{{2, 3, 4}, {2, 4, 5}}},
		{"bij,bjk->bik", "", [][]int{{1, 3, 4}, {2, 4, 1}}},
		{"ij,ij->ij", "", [][]int{{3, 1}, {3, 4}}},
		{"ij,jk->ik", "", [][]int{{3, 1}, {4, 2}}},
		{"...ij,...jk", "abij,abjk->abik", [][]int{{2, 1, 3, 4}, {2, 5, 4, 2}}},
		{"i...j,j...->...i", "iabj,jab->abi", [][]int{{3, 2, 5, 4}, {4, 2, 5}}},
		{"...,...->...", "ab,ab->ab", [][]int{{2, 3}, {1, 3}}},
		{"...i->i", "abi->i", [][]int{{2, 3, 4}}},
		{"a,b,c,d->abcd", "", [][]int{{2}, {3}, {2}, {3}}},
		{"ab,bc,cd,de->ae", "", [][]int{{2, 3}, {3, 4}, {4, 2}, {2, 3}}},
		{"bn,anm,bm->ba", "", [][]int{{2, 3}, {4, 3, 5}, {2, 5}}},
		{"ij,jk->ik", "", [][]int{{3, 0}, {0, 2}}},
		{"ij,jk->ik", "", [][]int{{0, 3}, {3, 2}}},
		{"bhld,bhsd->bhls", "", [][]int{{2, 2, 3, 4}, {2, 2, 5, 4}}},
		{",i->i", "", [][]int{{}, {3}}},
	} {
		letters := c.letters
		if letters == "" {
			letters = c.equation
		}
		for _, d := range dtypes {
			in := made(d, c.shapes...)
			shape, want := summed(letters, in...)
			compare(t, c.equation, Einsum(c.equation, in...), shape, want)
		}
	}
	// Dimensions of an ellipsis are aligned at the end. An ellipsis may be empty.
	x, y := Arange(0, 6).Reshape(2, 3), Arange(0, 3)
	compare(t, "...i,...i", Einsum("...i,...i->...i", x, y), []int{2, 3}, x.Mul(y).Float64s())
}

func TestAddMM(t *testing.T) {
	for _, c := range []struct {
		name, equation string
		f              func(in []*Tensor, o AddMMOptions) *Tensor
		shapes         [][]int
	}{
		{"addmm", "ij,jk->ik", func(in []*Tensor, o AddMMOptions) *Tensor { return in[0].AddMM(in[1], in[2], o) }, [][]int{{3, 2}, {3, 5}, {5, 2}}},
		{"addmm, a row", "ij,jk->ik", func(in []*Tensor, o AddMMOptions) *Tensor { return in[0].AddMM(in[1], in[2], o) }, [][]int{{2}, {3, 5}, {5, 2}}},
		{"addmm, a column", "ij,jk->ik", func(in []*Tensor, o AddMMOptions) *Tensor { return in[0].AddMM(in[1], in[2], o) }, [][]int{{3, 1}, {3, 0}, {0, 2}}},
		{"addmv", "ij,j->i", func(in []*Tensor, o AddMMOptions) *Tensor { return in[0].AddMV(in[1], in[2], o) }, [][]int{{3}, {3, 5}, {5}}},
		{"addmv, a number", "ij,j->i", func(in []*Tensor, o AddMMOptions) *Tensor { return in[0].AddMV(in[1], in[2], o) }, [][]int{{}, {3, 5}, {5}}},
		{"addr", "i,j->ij", func(in []*Tensor, o AddMMOptions) *Tensor { return in[0].AddR(in[1], in[2], o) }, [][]int{{3, 4}, {3}, {4}}},
		{"baddbmm", "bij,bjk->bik", func(in []*Tensor, o AddMMOptions) *Tensor { return in[0].BAddBMM(in[1], in[2], o) }, [][]int{{3, 1}, {2, 3, 4}, {2, 4, 5}}},
		{"addbmm", "bij,bjk->ik", func(in []*Tensor, o AddMMOptions) *Tensor { return in[0].AddBMM(in[1], in[2], o) }, [][]int{{3, 5}, {2, 3, 4}, {2, 4, 5}}},
	} {
		for _, d := range dtypes {
			for _, o := range []AddMMOptions{{}, {Alpha: 0.5}, {Beta: -2}, {Beta: 0.25, Alpha: 3}} {
				in := made(d, c.shapes...)
				shape, want := summed(c.equation, in[1:]...)
				add := in[0].Double()
				if c.name == "addmv" || c.name == "addmv, a number" {
					add = add.expandTo(shape)
				}
				beta, alpha := max(o.Beta, 0), max(o.Alpha, 0)
				if beta == 0 {
					beta = 1
				}
				if o.Beta != 0 {
					beta = o.Beta
				}
				if alpha == 0 {
					alpha = 1
				}
				for i, x := range add.Expand(shape...).Float64s() {
					want[i] = beta*x + alpha*want[i]
				}
				compare(t, fmt.Sprint(c.name, o), c.f(in, o), shape, want)
			}
		}
	}
	// The added tensor joins the float32 sum: 2049 and 1 round once, to 2050.
	x, y := New([]float64{2048, 1}, 1, 2).Half(), Ones(2, 1).Half()
	for name, got := range map[string]*Tensor{
		"addmm": Ones(1, 1).Half().AddMM(x, y, AddMMOptions{}), "addmm, factors": Ones(1, 1).Half().AddMM(x, y, AddMMOptions{Alpha: 1, Beta: 1}),
		"addmv": Ones(1).Half().AddMV(x, y.Reshape(2), AddMMOptions{}), "scaled": Ones(1, 1).Half().AddMM(x.MulScalar(2), y, AddMMOptions{Alpha: 0.5}),
	} {
		if got.Item() != 2050 {
			t.Errorf("%s: got %v, want 2050", name, got.Item())
		}
	}
}

func TestIntegerProducts(t *testing.T) {
	for _, d := range []DType{Int64, Int32, Uint8} {
		x, y := New([]float64{1, 2, 3, 4, 5, 6}, 2, 3).To(d), New([]float64{7, 8, 9, 1, 2, 3}, 3, 2).To(d)
		if got, want := x.MatMul(y), []int{31, 19, 85, 55}; got.DType() != d || !slices.Equal(got.Ints(), want) {
			t.Errorf("%v: got %v, want %v", d, got, want)
		}
		if got := Ones(2, 2).To(d).AddMM(x, y, AddMMOptions{Beta: 2, Alpha: 3}).Ints(); !slices.Equal(got, FromInts([]int{95, 59, 257, 167}).To(d).Ints()) {
			t.Errorf("addmm of %v: got %v", d, got)
		}
		if got := Einsum("ij,jk->ki", x, y).Ints(); !slices.Equal(got, []int{31, 85, 19, 55}) {
			t.Errorf("einsum of %v: got %v", d, got)
		}
	}
	big := FromInts([]int{math.MaxInt64}).Reshape(1, 1)
	if got := big.MM(FromInts([]int{2}).Reshape(1, 1)).Ints()[0]; got != -2 {
		t.Errorf("overflow of int64: got %v, want -2", got)
	}
}

func TestProductErrors(t *testing.T) {
	x, v, b := Zeros(2, 3), Zeros(3), Zeros(2, 3, 4)
	o := AddMMOptions{}
	for want, f := range map[string]func(){
		"tensor: mm: shapes (2, 3) and (2, 3): cannot multiply the matrices; want (m, k) times (k, n)":                               func() { x.MM(x) },
		"tensor: mv: shapes (2, 3) and (2, 3): cannot multiply the matrix and the vector":                                            func() { x.MV(x) },
		"tensor: bmm: shapes (2, 3, 4) and (2, 3, 4): cannot multiply the batches of matrices":                                       func() { b.BMM(b) },
		"tensor: dot: shapes (3,) and (2, 3): the operands are not vectors of equal length":                                          func() { v.Dot(x) },
		"tensor: vdot: shapes (3,) and (2,): the operands are not vectors of equal length":                                           func() { v.VDot(Zeros(2)) },
		"tensor: linalg_vecdot: shapes (3,) and (2,): cannot broadcast":                                                              func() { v.VecDot(Zeros(2), 0) },
		"tensor: linalg_vecdot: shape (3,): dimension 1 is out of range":                                                             func() { v.VecDot(v, 1) },
		"tensor: outer: shapes (3,) and (2, 3): the operands are not vectors":                                                        func() { v.Outer(x) },
		"tensor: addmm: shapes (4,), (2, 3) and (3, 2): cannot broadcast (4,) to the product's shape (2, 2)":                         func() { Zeros(4).AddMM(x, x.T(), o) },
		"tensor: addmm: shapes (2, 2), (2, 3) and (2, 3): cannot multiply the matrices":                                              func() { Zeros(2, 2).AddMM(x, x, o) },
		"tensor: addmm: dtypes int64, int64 and int64: factors are 0.5 and 1":                                                        func() { x.Long().AddMM(x.Long(), Zeros(3, 3).Long(), AddMMOptions{Beta: 0.5}) },
		"tensor: addmv: shapes (2,), (2, 3) and (2,): cannot multiply the matrix and the vector":                                     func() { Zeros(2).AddMV(x, Zeros(2), o) },
		"tensor: addr: shapes (2,), (2, 3) and (3,): the outer product needs two vectors":                                            func() { Zeros(2).AddR(x, v, o) },
		"tensor: addbmm: shapes (2,), (2, 3, 4) and (3,): cannot multiply the batches of matrices":                                   func() { Zeros(2).AddBMM(b, v, o) },
		"tensor: baddbmm: shapes (2,), (2, 3, 4) and (3,): cannot multiply the batches of matrices":                                  func() { Zeros(2).BAddBMM(b, v, o) },
		"tensor: mm: dtypes float16 and float32: operands must have one dtype":                                                       func() { x.Half().MM(x.T()) },
		"tensor: mm: dtypes bool and bool: not defined for bool":                                                                     func() { x.To(Bool).MM(x.T().To(Bool)) },
		"tensor: einsum: dtypes float16 and float32: operands must have one dtype":                                                   func() { Einsum("ij,jk", x.Half(), x.T()) },
		"tensor: einsum: no tensors given":                                                                                           func() { Einsum("i") },
		`tensor: einsum: shape (2, 3): equation "ij,jk": it has 2 operands`:                                                          func() { Einsum("ij,jk", x) },
		`tensor: einsum: shape (2, 3): equation "ijk": operand 0 is 2-dimensional`:                                                   func() { Einsum("ijk", x) },
		`tensor: einsum: shape (2, 3): equation "i": operand 0 is 2-dimensional`:                                                     func() { Einsum("i", x) },
		`tensor: einsum: shape (2, 3): equation "...ijk": operand 0 is 2-dimensional`:                                                func() { Einsum("...ijk", x) },
		`tensor: einsum: shape (2, 3): equation "i......": '.' is not a label`:                                                       func() { Einsum("i......", x) },
		`tensor: einsum: shape (2, 3): equation "i1": '1' is not a label`:                                                            func() { Einsum("i1", x) },
		`tensor: einsum: shape (2, 3): equation "ij->ik": label 'k' of the result does not occur in any operand`:                     func() { Einsum("ij->ik", x) },
		`tensor: einsum: shape (2, 3): equation "ij->ii": label 'i' occurs twice in the result`:                                      func() { Einsum("ij->ii", x) },
		`tensor: einsum: shape (2, 3): equation "ij->i.": '.' is not a label`:                                                        func() { Einsum("ij->i.", x) },
		`tensor: einsum: shape (2, 3): equation "ii": label 'i' occurs twice in operand 0, with sizes 2 and 3`:                       func() { Einsum("ii", x) },
		`tensor: einsum: shapes (2, 3) and (2, 3): equation "ij,jk": label 'j' has size 2 in operand 1 but size 3 in an earlier one`: func() { Einsum("ij,jk", x, x) },
		`tensor: einsum: shapes (2, 3) and (2, 4): equation "...,...": a dimension of the ellipsis has size 4`:                       func() { Einsum("...,...", x, Zeros(2, 4)) },
		"tensor: tensordot: shapes (2, 3) and (2, 3): dimensions are (0,) and ()":                                                    func() { x.TensorDot(x, []int{0}, nil) },
		"tensor: tensordot: shapes (2, 3) and (2, 3): dimension 0 of t and dimension 1 of o have sizes 2 and 3":                      func() { x.TensorDot(x, []int{0}, []int{1}) },
		"tensor: tensordot: shapes (2, 3) and (2, 3): dimension 0 of operand 0 is named twice":                                       func() { x.TensorDot(x, []int{0, -2}, []int{0, 1}) },
		"tensor: tensordot: shape (2, 3): dimension 2 is out of range":                                                               func() { x.TensorDot(x, []int{0}, []int{2}) },
		"tensor: chain_matmul: no tensors given":                                                                                     func() { ChainMatMul() },
		"tensor: chain_matmul: shapes (2, 3) and (2, 3): operand 1 does not match":                                                   func() { ChainMatMul(x, x) },
		"tensor: linalg_multi_dot: shape (2, 3): 1 given; want at least 2 tensors":                                                   func() { MultiDot(x) },
		"tensor: linalg_multi_dot: shapes (2, 3), (3,) and (3, 3): operand 1 does not match":                                         func() { MultiDot(x, v, Zeros(3, 3)) },
		"tensor: trace: shape (3,): t is 1-D; want a matrix":                                                                         func() { v.Trace() },
		"tensor: diagonal: shape (2, 3): dimensions 1 and -1 are the same; want two different dimensions":                            func() { x.Diagonal(0, 1, -1) },
	} {
		if err := Try(f); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func TestDiagonal(t *testing.T) {
	x := Arange(0, 12).Reshape(3, 4)
	for offset, want := range map[int][]float64{0: {0, 5, 10}, 1: {1, 6, 11}, 3: {3}, 4: {}, 9: {}, -1: {4, 9}, -2: {8}, -3: {}, -7: {}} {
		if got := x.Diagonal(offset, 0, 1); !slices.Equal(got.Float64s(), want) || got.Numel() > 0 && got.mem != x.mem {
			t.Errorf("offset %d: got %v, want %v, a view", offset, got.Float64s(), want)
		}
		if got := x.T().Diagonal(-offset, 0, 1).Float64s(); !slices.Equal(got, want) {
			t.Errorf("offset %d of the transpose: got %v, want %v", -offset, got, want)
		}
	}
}

func TestProductFLOPs(t *testing.T) {
	x, y := Zeros(2, 3), Zeros(3, 4)
	for name, c := range map[string]struct {
		f    func()
		want float64
	}{
		"matmul": {func() { x.MatMul(y) }, 48}, "mm": {func() { x.MM(y) }, 48}, "mv": {func() { x.MV(Zeros(3)) }, 12}, "addmm": {func() { Zeros(2, 4).AddMM(x, y, AddMMOptions{}) }, 48},
		"linear": {func() { Linear(x, y.T(), nil) }, 48}, "addbmm": {func() { Zeros(2, 4).AddBMM(Zeros(5, 2, 3), Zeros(5, 3, 4), AddMMOptions{}) }, 240},
		"dot": {func() { Zeros(3).Dot(Zeros(3)) }, 6}, "einsum": {func() { Einsum("ij,jk,il->kl", x, y, x) }, 2 * 2 * 3 * 4 * 3},
		"tensordot": {func() { x.TensorDot(y, []int{1}, []int{0}) }, 48}, "linalg_vecdot": {func() { x.VecDot(x, 1) }, 12}, "addr": {func() { x.AddR(Zeros(2), Zeros(3), AddMMOptions{}) }, 12},
	} {
		got := 0.0
		stop := Observe(func(e Event) {
			if e.Op.Name == name {
				got = e.FLOPs
			}
		})
		c.f()
		stop()
		if got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}
