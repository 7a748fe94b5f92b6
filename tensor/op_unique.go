package tensor

import (
	"cmp"
	"slices"

	"halfnote/tensor/driver"
)

// Unique returns the distinct elements of t in ascending order, as a vector; for each element
// of t, in t's shape, its index among them; and the count of each. None has a gradient, and each
// NaN is distinct. It is torch.unique with return_inverse and
// return_counts.
func (t *Tensor) Unique() (values, inverse, counts *Tensor) {
	t.given("unique")
	x := t.Detach().Ravel()
	order := x.argsort("unique", 0, false)
	sorted := x.picked(0, order)
	at := order.Int64s()
	groups, firsts, sizes := hostSlice[int64]("unique", len(at)), []int64{}, []int64{}
	for i, same := range sameAsBefore(sorted) {
		pollAt(i)
		if !same {
			firsts, sizes = append(firsts, int64(i)), append(sizes, 0)
		}
		sizes[len(sizes)-1]++
		groups[at[i]] = int64(len(sizes) - 1)
	}
	device := t.Device()
	values = sorted.IndexSelect(0, FromInt64s(firsts).ToDevice(device))
	return values, FromInt64s(groups).ToDevice(device).Reshape(t.shape...), FromInt64s(sizes).ToDevice(device)
}

// sameAsBefore reports for each element of sorted rows whether it equals the previous element
// of its row.
func sameAsBefore(rows *Tensor) []bool {
	last := len(rows.shape) - 1
	n := rows.shape[last]
	same := newTensor(rows.mem.backend, Bool, rows.shape)
	if n > 1 {
		run(driver.Kernel{Code: driver.Equal}, sliced(same, slice{last, 1, n}), sliced(rows, slice{last, 1, n}), sliced(rows, slice{last, 0, n - 1}))
	}
	return same.Bools()
}

// UniqueDim returns the distinct slices of t along dim in lexicographic order, the position in
// values of each slice of t, and the number of times each occurs. The results have no gradient.
// A slice that contains NaN is not equal to any other. It is torch.unique with dim,
// return_inverse and return_counts.
func (t *Tensor) UniqueDim(dim int) (values, inverse, counts *Tensor) {
	x, d := t.sliced("unique_dim", dim)
	rows := rowsOf(x)
	order := ascending("unique_dim", x.shape[0])
	slices.SortStableFunc(order, rows.compare)
	return x.grouped(d, order, rows.equal)
}

// UniqueConsecutive is Unique without sorting: it merges only adjacent equal elements, in
// row-major order. It is torch.unique_consecutive with return_inverse and return_counts.
func (t *Tensor) UniqueConsecutive() (values, inverse, counts *Tensor) {
	t.given("unique_consecutive")
	values, inverse, counts = t.Ravel().UniqueConsecutiveDim(0)
	return values, inverse.Reshape(t.shape...), counts
}

// UniqueConsecutiveDim is UniqueDim without sorting: it merges only adjacent equal slices. It
// is torch.unique_consecutive with dim, return_inverse and return_counts.
func (t *Tensor) UniqueConsecutiveDim(dim int) (values, inverse, counts *Tensor) {
	x, d := t.sliced("unique_consecutive", dim)
	return x.grouped(d, ascending("unique_consecutive", x.shape[0]), rowsOf(x).equal)
}

// sliced returns t, detached, with dimension dim first, and the dimension counted from the
// front.
func (t *Tensor) sliced(op string, dim int) (*Tensor, int) {
	t.given(op)
	d := axis(op, t, dim, len(t.shape))
	if t.shape[d] > 0 && t.Numel() == 0 {
		fail(op, []*Tensor{t}, "the slices along dimension %d are empty; want at least one element", d)
	}
	return t.Detach().Movedim(d, 0), d
}

// ascending returns the numbers below n.
func ascending(op string, n int) []int {
	p := hostSlice[int](op, n)
	for i := range p {
		p[i] = i
	}
	return p
}

// grouped returns the first of each run of equal slices of t along its first dimension,
// taken in order, with that dimension at dim; which run each is in; and the runs' lengths.
func (t *Tensor) grouped(dim int, order []int, equal func(i, j int) bool) (values, inverse, counts *Tensor) {
	groups, firsts, sizes := hostSlice[int64]("unique", len(order)), []int64{}, []int64{}
	for i, at := range order {
		pollAt(i)
		if i == 0 || !equal(order[i-1], at) {
			firsts, sizes = append(firsts, int64(at)), append(sizes, 0)
		}
		sizes[len(sizes)-1]++
		groups[at] = int64(len(sizes) - 1)
	}
	device := t.Device()
	values = t.IndexSelect(0, FromInt64s(firsts).ToDevice(device)).Movedim(0, dim).Contiguous()
	return values, FromInt64s(groups).ToDevice(device), FromInt64s(sizes).ToDevice(device)
}

// rows compares slices along a tensor's first dimension.
type rows struct {
	compare func(i, j int) int  // NaN compares as largest
	equal   func(i, j int) bool // NaN is not equal to itself
}

func rowsOf(t *Tensor) rows {
	if t.dtype.IsFloat() {
		return rowsIn(t.Float64s(), t.shape[0])
	}
	return rowsIn(t.Int64s(), t.shape[0])
}

func rowsIn[E int64 | float64](list []E, n int) rows {
	width := len(list) / max(n, 1)
	work := 0
	row := func(i int) []E {
		if work += width; work > 1<<16 {
			work = 0
			driver.Poll()
		}
		return list[i*width : (i+1)*width]
	}
	order := func(x, y E) int {
		switch {
		case x == x && y == y:
			return cmp.Compare(x, y)
		case x == x:
			return -1
		case y == y:
			return 1
		}
		return 0
	}
	return rows{
		func(i, j int) int { return slices.CompareFunc(row(i), row(j), order) },
		func(i, j int) bool { return slices.Equal(row(i), row(j)) },
	}
}

// IsIn returns a bool tensor that is true where an element of t occurs in test. Both are
// promoted to one dtype; NaN is not equal to itself. It is torch.isin.
func (t *Tensor) IsIn(test *Tensor) *Tensor {
	given("isin", t, test)
	d := promoteAll([]*Tensor{t, test})
	if d == Bool {
		d = Uint8
	}
	x, sorted := t.Detach().To(d), test.Detach().To(d).Ravel()
	n := sorted.shape[0]
	if n == 0 {
		return newTensor(t.mem.backend, Bool, t.shape)
	}
	sorted, _ = sorted.Sort(0)
	at := sorted.Searchsorted(x, false).Clamp(0, float64(n-1))
	return sorted.IndexSelect(0, at.Ravel()).Reshape(t.shape...).Eq(x)
}
