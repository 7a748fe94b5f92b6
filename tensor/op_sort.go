package tensor

import (
	"slices"
	"sort"

	"halfnote/tensor/driver"
)

type argsort struct {
	dim        int
	descending bool
}

func (argsort) Info() Info { return info("argsort", "torch.argsort", NoDerivative) }
func (a argsort) Forward(in []*Tensor) *Tensor {
	y := unsetTensor(in[0].mem.backend, Int64, in[0].shape)
	run(driver.Kernel{Code: driver.ArgSort, Axis: a.dim, Params: driver.SortParams{Descending: a.descending}}, y, in[0])
	return y
}
func (argsort) VJP(_, _ *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{nil} }

// Argsort returns the int64 indices that sort t along dim in ascending order. Equal elements
// keep their order, and NaN comes last. It is torch.argsort, stable.
func (t *Tensor) Argsort(dim int) *Tensor { return t.argsort("argsort", dim, false) }

// ArgsortDescending is Argsort in descending order: NaN comes first.
func (t *Tensor) ArgsortDescending(dim int) *Tensor { return t.argsort("argsort", dim, true) }

func (t *Tensor) argsort(op string, dim int, descending bool) *Tensor {
	t.given(op)
	if len(t.shape) == 0 {
		axis(op, t, dim, 1)
		return apply(argsort{0, descending}, t.Reshape(1)).Reshape()
	}
	return apply(argsort{axis(op, t, dim, len(t.shape)), descending}, t)
}

// Sort returns the elements of t along dim in ascending order, and their indices, as Argsort
// does. It is torch.sort, stable.
func (t *Tensor) Sort(dim int) (values, order *Tensor) {
	order = t.argsort("sort", dim, false)
	return t.picked(dim, order), order
}

// SortDescending is Sort in descending order: descending=True.
func (t *Tensor) SortDescending(dim int) (values, order *Tensor) {
	order = t.argsort("sort", dim, true)
	return t.picked(dim, order), order
}

// picked is Gather without a range check of the positions.
func (t *Tensor) picked(dim int, index *Tensor) *Tensor {
	if len(t.shape) == 0 {
		return apply(gather{0}, t.Reshape(1), index.Reshape(1)).Reshape()
	}
	return apply(gather{axis("gather", t, dim, len(t.shape))}, t, index)
}

// TopK returns the k largest elements along dim, in descending order, and their indices. NaN
// counts as largest. It is torch.topk.
func (t *Tensor) TopK(k, dim int) (values, indices *Tensor) {
	t.given("topk")
	return t.top(k, dim, true)
}

// TopKSmallest returns the k smallest elements, in ascending order: largest=False.
func (t *Tensor) TopKSmallest(k, dim int) (values, indices *Tensor) {
	t.given("topk")
	return t.top(k, dim, false)
}

func (t *Tensor) top(k, dim int, largest bool) (values, indices *Tensor) {
	x := raised(t)
	d := axis("topk", x, dim, len(x.shape))
	if k < 0 || k > x.shape[d] {
		fail("topk", []*Tensor{t}, "k is %d along dimension %d; want 0 to %d", k, d, x.shape[d])
	}
	indices = x.argsort("topk", d, largest).Narrow(d, 0, k)
	values = x.picked(d, indices)
	if len(t.shape) == 0 && k == 1 {
		return values.Reshape(), indices.Reshape()
	}
	return values, indices
}

// KthValue returns the k-th smallest element along dim, which is removed, and its index. k is
// counted from 1. It is torch.kthvalue.
func (t *Tensor) KthValue(k, dim int) (values, indices *Tensor) {
	t.given("kthvalue")
	return dropped(dim).both(t.KeepDim().KthValue(k, dim))
}

func (t *Tensor) kthValue(k, dim int) (values, indices *Tensor) {
	x := raised(t)
	d := axis("kthvalue", x, dim, len(x.shape))
	if k < 1 || k > x.shape[d] {
		fail("kthvalue", []*Tensor{t}, "k is %d along dimension %d; want 1 to %d", k, d, x.shape[d])
	}
	return x.ranked(d, x.argsort("kthvalue", d, false).Narrow(d, k-1, 1), t)
}

// ranked returns the elements at indices along d, which has size 1, and the indices: as
// scalars if as is a scalar.
func (t *Tensor) ranked(d int, indices, as *Tensor) (values, _ *Tensor) {
	values = t.picked(d, indices)
	if len(as.shape) == 0 {
		return values.Reshape(), indices.Reshape()
	}
	return values, indices
}

// dropped removes a dimension of size 1 from the results of a reduction, unless the operand
// is a scalar.
type dropped int

func (d dropped) both(values, indices *Tensor) (_, _ *Tensor) {
	if len(values.shape) == 0 {
		return values, indices
	}
	return values.Squeeze(int(d)), indices.Squeeze(int(d))
}

// Median returns the lower median along dim, which is removed, and its index. A NaN gives NaN.
// The median of all elements is x.Ravel().Median(0). It is torch.median.
func (t *Tensor) Median(dim int) (values, indices *Tensor) {
	t.given("median")
	return dropped(dim).both(t.KeepDim().Median(dim))
}

func (t *Tensor) median(dim int) (values, indices *Tensor) {
	x := raised(t)
	d := axis("median", x, dim, len(x.shape))
	o := over{[]int{d}, true}.nonEmpty("median", x)
	middle := x.argsort("median", d, false).Narrow(d, (x.shape[d]-1)/2, 1)
	if t.dtype.IsFloat() {
		most := apply(argmax{o}, x.Detach()) // the first NaN, if any
		largest := apply(gather{d}, x.Detach(), most)
		middle = equalMask(largest, largest).Where(middle, most)
	}
	return x.ranked(d, middle, t)
}

// Mode returns the most frequent element along dim, which is removed, and the index of its
// last occurrence. Of equally frequent elements it is the smallest. It is torch.mode.
func (t *Tensor) Mode(dim int) (values, indices *Tensor) {
	t.given("mode")
	return dropped(dim).both(t.KeepDim().Mode(dim))
}

func (t *Tensor) mode(dim int) (values, indices *Tensor) {
	x := raised(t)
	d := axis("mode", x, dim, len(x.shape))
	over{dims: []int{d}}.nonEmpty("mode", x)
	n := x.shape[d]
	order := x.Detach().argsort("mode", d, false)
	rows := order.Movedim(d, -1)
	same := sameAsBefore(x.Detach().picked(d, order).Movedim(d, -1))
	at := rows.Int64s()
	best := hostSlice[int64]("mode", len(at)/n)
	for row := range best {
		pollAt(row * n)
		run, most := 0, 0
		for i := row * n; i < (row+1)*n; i++ {
			if run++; !same[i] {
				run = 1
			}
			if run > most {
				most, best[row] = run, at[i]
			}
		}
	}
	shape := append(slices.Delete(x.Shape(), d, d+1), 1)
	at1 := FromInt64s(best, shape...).ToDevice(t.Device()).Movedim(-1, d)
	return x.ranked(d, at1, t)
}

// Searchsorted returns the int64 position at which each of values would be inserted into the
// sorted elements of t along the last dimension: before equal elements, or after them if right
// is set. t is a vector, or has values' sizes in all other dimensions. It is torch.searchsorted.
func (t *Tensor) Searchsorted(values *Tensor, right bool) *Tensor {
	given("searchsorted", t, values)
	ok := len(t.shape) == 1 || len(t.shape) > 0 && len(t.shape) == len(values.shape)
	for d := 0; ok && len(t.shape) > 1 && d < len(t.shape)-1; d++ {
		ok = t.shape[d] == values.shape[d]
	}
	if !ok {
		fail("searchsorted", []*Tensor{t, values}, "the sorted tensor and values do not match; want a sorted vector, or equal sizes in all dimensions but the last")
	}
	oneDType("searchsorted", []*Tensor{t, values}, "")
	if t.dtype.IsFloat() {
		return searched(t, values, t.Detach().Float64s(), values.Detach().Float64s(), right)
	}
	return searched(t, values, t.Int64s(), values.Int64s(), right)
}

func searched[T int64 | float64](t, values *Tensor, sorted, wanted []T, right bool) *Tensor {
	n, each := t.shape[len(t.shape)-1], len(wanted)
	if len(t.shape) > 1 {
		each = values.shape[len(values.shape)-1]
	}
	out := hostSlice[int64]("searchsorted", len(wanted))
	for i, x := range wanted {
		pollAt(i)
		row := sorted[i/each*n:][:n]
		out[i] = int64(sort.Search(n, func(j int) bool {
			if right {
				return row[j] > x
			}
			return row[j] >= x
		}))
	}
	return FromInt64s(out).ToDevice(t.Device()).Reshape(values.shape...)
}

// Bucketize returns for each element of t the number of boundaries, a sorted vector, that are
// below it, or at most it if right is set. It is torch.bucketize.
func (t *Tensor) Bucketize(boundaries *Tensor, right bool) *Tensor {
	given("bucketize", t, boundaries)
	if len(boundaries.shape) != 1 {
		fail("bucketize", []*Tensor{t, boundaries}, "boundaries are %d-D; want a vector", len(boundaries.shape))
	}
	return boundaries.Searchsorted(t, right)
}
