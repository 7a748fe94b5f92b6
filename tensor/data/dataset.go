package data

import (
	"fmt"
	"math"
	"sort"

	"halfnote/internal/text"
	"halfnote/tensor"
)

// Dataset provides samples by index. It is torch.utils.data.Dataset. A [Loader] with workers
// calls Get from several goroutines at once.
type Dataset interface {
	// Len returns the number of samples.
	Len() int
	// Get returns the fields of sample i, 0 <= i < Len, such as an image and a class. All
	// samples have the same number of fields, of equal shapes and dtypes unless the loader
	// has its own collate function.
	Get(i int) ([]*tensor.Tensor, error)
}

// BatchDataset is a Dataset that returns several samples faster than one by one.
type BatchDataset interface {
	Dataset
	// GetAll returns the fields of the samples, stacked along a new first
	// dimension. It is __getitems__ of torch's data sets.
	GetAll(indices []int) ([]*tensor.Tensor, error)
}

// TensorDataset is a data set of tensors with a row per sample. It is
// torch.utils.data.TensorDataset.
type TensorDataset struct{ Fields []*tensor.Tensor }

// NewTensorDataset returns the rows of fields as samples, commonly inputs (n, …) and targets
// (n, …). It panics if there are no fields, or if their numbers of rows differ. It is
// torch.utils.data.TensorDataset.
func NewTensorDataset(fields ...*tensor.Tensor) *TensorDataset {
	if len(fields) == 0 {
		panic(&tensor.Error{Op: "dataset", Why: "the list of tensors is empty; want at least one"})
	}
	var shapes [][]int
	ok := true
	for _, f := range fields {
		shapes = append(shapes, f.Shape())
		ok = ok && f.Dim() > 0 && fields[0].Dim() > 0 && f.Size(0) == fields[0].Size(0)
	}
	if !ok {
		panic(&tensor.Error{Op: "dataset", Shapes: shapes, Why: "want (n, …) and (n, …), a target for each input"})
	}
	return &TensorDataset{fields}
}

// Len returns the number of rows.
func (d *TensorDataset) Len() int { return d.Fields[0].Size(0) }

// Get returns row i of each tensor, as views.
func (d *TensorDataset) Get(i int) ([]*tensor.Tensor, error) {
	sample := make([]*tensor.Tensor, len(d.Fields))
	for j, f := range d.Fields {
		sample[j] = f.Select(0, i)
	}
	return sample, nil
}

// GetAll returns rows of each tensor: views if consecutive, otherwise copies.
func (d *TensorDataset) GetAll(indices []int) ([]*tensor.Tensor, error) {
	fields := make([]*tensor.Tensor, len(d.Fields))
	for j, f := range d.Fields {
		if consecutive(indices) {
			fields[j] = f.Slice(0, indices[0], indices[0]+len(indices))
			continue
		}
		tensor.NoGrad(func() { fields[j] = f.IndexSelect(0, tensor.FromInts(indices)) })
	}
	return fields, nil
}

func consecutive(indices []int) bool {
	for k, i := range indices {
		if i != indices[0]+k {
			return false
		}
	}
	return len(indices) > 0
}

// Subset is a selection of samples of a data set. It is torch.utils.data.Subset.
type Subset struct {
	Of      Dataset
	Indices []int
}

// NewSubset returns the samples of set with the given indices, in that order. It panics if an
// index is out of range. It is torch.utils.data.Subset.
func NewSubset(set Dataset, indices []int) *Subset {
	need("subset", "data set", set != nil, "a Dataset")
	for _, i := range indices {
		if i < 0 || i >= set.Len() {
			panic(&tensor.Error{Op: "subset", Why: fmt.Sprintf("index %d in a data set of %d samples; want 0 to %d", i, set.Len(), set.Len()-1)})
		}
	}
	return &Subset{set, indices}
}

// Len returns the number of samples.
func (d *Subset) Len() int { return len(d.Indices) }

// Get returns sample i of the subset.
func (d *Subset) Get(i int) ([]*tensor.Tensor, error) { return d.Of.Get(d.Indices[i]) }

// GetAll returns samples of the subset, stacked.
func (d *Subset) GetAll(indices []int) ([]*tensor.Tensor, error) {
	inner := make([]int, len(indices))
	for k, i := range indices {
		inner[k] = d.Indices[i]
	}
	return getAll(d.Of, inner)
}

// getAll returns samples of any data set, stacked.
func getAll(set Dataset, indices []int) ([]*tensor.Tensor, error) {
	if all, ok := set.(BatchDataset); ok {
		return all.GetAll(indices)
	}
	samples := make([][]*tensor.Tensor, len(indices))
	for k, i := range indices {
		var err error
		if samples[k], err = set.Get(i); err != nil {
			return nil, fmt.Errorf("sample %d: %w", i, err)
		}
	}
	return stackFields(samples), nil
}

// RandomSplit splits set into parts of random samples. lengths are numbers of samples or, if
// they add up to 1, fractions; samples left by rounding go to the first parts, one each. A
// nil g means the generator that tensor.ManualSeed seeds. It panics if the lengths do not add
// up to the data set's. The parts are those of torch.utils.data.random_split with the same
// generator.
func RandomSplit(set Dataset, lengths []float64, g *tensor.Generator) []*Subset {
	need("random_split", "data set", set != nil, "a Dataset")
	n, sum := set.Len(), 0.0
	for _, l := range lengths {
		sum += l
		if !(l >= 0) {
			panic(&tensor.Error{Op: "random_split", Why: fmt.Sprintf("length %v; want at least 0", l)})
		}
	}
	shares := math.Abs(sum-1) < 1e-9
	sizes, total := make([]int, len(lengths)), 0
	for i, l := range lengths {
		if shares {
			l = math.Floor(float64(n) * l)
		}
		sizes[i] = int(l)
		total += sizes[i]
	}
	for i := 0; shares && total < n; i++ {
		sizes[i%len(sizes)]++
		total++
	}
	if total != n || !shares && float64(n) != sum {
		panic(&tensor.Error{Op: "random_split", Why: text.Sprintf("lengths %v for a data set of %d samples; want whole numbers that add up to it, or fractions that add up to 1", lengths, n)})
	}
	if g == nil {
		g = tensor.DefaultGenerator()
	}
	order := g.Perm(n)
	parts := make([]*Subset, len(sizes))
	for i, s := range sizes {
		parts[i] = NewSubset(set, order[:s:s])
		order = order[s:]
	}
	return parts
}

// ConcatDataset is a concatenation of data sets. It is torch.utils.data.ConcatDataset.
type ConcatDataset struct {
	sets []Dataset
	ends []int
}

// NewConcatDataset returns the concatenation of sets. It is
// torch.utils.data.ConcatDataset.
func NewConcatDataset(sets ...Dataset) *ConcatDataset {
	c := &ConcatDataset{sets: sets}
	end := 0
	for i, s := range sets {
		need("concat_dataset", fmt.Sprintf("data set %d", i+1), s != nil, "a Dataset")
		end += s.Len()
		c.ends = append(c.ends, end)
	}
	return c
}

// Len returns the total number of samples.
func (c *ConcatDataset) Len() int {
	if len(c.ends) == 0 {
		return 0
	}
	return c.ends[len(c.ends)-1]
}

// Get returns sample i.
func (c *ConcatDataset) Get(i int) ([]*tensor.Tensor, error) {
	k := sort.SearchInts(c.ends, i+1)
	if i < 0 || k == len(c.sets) {
		return nil, fmt.Errorf("index %d; want 0 to %d", i, c.Len()-1)
	}
	if k > 0 {
		i -= c.ends[k-1]
	}
	return c.sets[k].Get(i)
}
