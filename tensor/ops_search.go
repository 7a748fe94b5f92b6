package tensor

import "sort"

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
	sameDType("searchsorted", []*Tensor{t, values})
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
