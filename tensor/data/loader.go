package data

import (
	"fmt"

	"halfnote/tensor"
	"halfnote/tensor/driver"
)

// Loader splits a data set into batches. It is torch.utils.data.DataLoader.
type Loader struct {
	set        Dataset
	sampler    Sampler
	batches    BatchSampler
	generator  *tensor.Generator // generator of the order; nil for the default one
	dropLast   bool
	workers    int
	ahead      int
	collate    func(samples [][]*tensor.Tensor) []*tensor.Tensor
	transforms []Transform
}

// LoaderOption configures a Loader.
type LoaderOption func(*Loader)

// Shuffle takes the samples in a random order, different for each epoch and determined by the
// seed: that of torch.utils.data.DataLoader with a generator of that seed. By default samples
// are in order.
func Shuffle(seed int64) LoaderOption { return WithGenerator(tensor.NewGenerator(seed)) }

// WithGenerator is Shuffle with a generator, whose State may be saved in a checkpoint; nil means
// the one that tensor.ManualSeed seeds.
func WithGenerator(g *tensor.Generator) LoaderOption {
	return func(l *Loader) { l.generator, l.sampler = g, NewRandomSampler(l.set.Len(), g) }
}

// WithSampler takes the samples that s selects; by default all in order.
func WithSampler(s Sampler) LoaderOption { return func(l *Loader) { l.sampler = s } }

// WithBatchSampler makes the batches that s selects, and ignores the batch size.
func WithBatchSampler(s BatchSampler) LoaderOption { return func(l *Loader) { l.batches = s } }

// DropLast omits an incomplete last batch; by default it is included.
func DropLast() LoaderOption { return func(l *Loader) { l.dropLast = true } }

// Workers makes batches on n goroutines while the loop computes; with 0, the default, the
// loop makes each batch on demand. The batches are the same.
func Workers(n int) LoaderOption { return func(l *Loader) { l.workers = n } }

// Prefetch sets the number of batches that workers may make ahead of the loop; twice the number
// of workers by default.
func Prefetch(n int) LoaderOption { return func(l *Loader) { l.ahead = n } }

// WithCollate makes a batch's fields from samples with f; by default each field is stacked,
// which requires equal shapes. Workers call f from several goroutines at once.
func WithCollate(f func(samples [][]*tensor.Tensor) []*tensor.Tensor) LoaderOption {
	return func(l *Loader) { l.collate = f }
}

// WithTransforms applies transforms in turn to the first field of every sample. Each batch
// has its own generator for them, seeded by the epoch and the batch's number.
func WithTransforms(transforms ...Transform) LoaderOption {
	return func(l *Loader) { l.transforms = transforms }
}

// NewLoader returns a loader of batches, each of batch samples. It panics if batch is below
// 1, or if a number in an option is negative.
func NewLoader(set Dataset, batch int, options ...LoaderOption) *Loader {
	need("loader", "data set", set != nil, "a Dataset")
	l := &Loader{set: set, sampler: NewSequentialSampler(set.Len())}
	for i, o := range options {
		need("loader", fmt.Sprintf("option %d", i+1), o != nil, "a LoaderOption")
		o(l)
	}
	if l.batches == nil {
		l.batches = NewBatchSampler(l.sampler, batch, l.dropLast)
	}
	if l.workers < 0 || l.ahead < 0 {
		panic(&tensor.Error{Op: "loader", Why: fmt.Sprintf("%d workers, %d batches ahead; want at least 0", l.workers, l.ahead)})
	}
	if l.ahead == 0 {
		l.ahead = 2 * l.workers
	}
	return l
}

// Len returns the number of batches.
func (l *Loader) Len() int { return l.batches.Len() }

// Batches returns all batches of one epoch at once; use [Loader.Epoch] if they do not fit in
// memory. Batches of a [TensorDataset] are views of its tensors if the samples are in order,
// otherwise copies. It panics with a *[SampleError] if the data set returns an error.
func (l *Loader) Batches() []Batch {
	batches := make([]Batch, 0, l.Len())
	for e := l.Epoch(); e.Next(); {
		batches = append(batches, e.Batch())
	}
	return batches
}

// load makes the batch of some samples; seed is for the transforms. *now is the index of the
// sample being processed, or -1.
func (l *Loader) load(indices []int, seed int64, now *int) (Batch, error) {
	if all, ok := l.set.(BatchDataset); ok && l.collate == nil && l.transforms == nil {
		fields, err := all.GetAll(indices)
		return newBatch(fields), err
	}
	var g *tensor.Generator
	if l.transforms != nil {
		g = tensor.NewGenerator(seed)
	}
	samples := make([][]*tensor.Tensor, len(indices))
	for k, i := range indices {
		driver.Poll()
		*now = i
		sample, err := l.set.Get(i)
		if err != nil {
			return Batch{}, err
		}
		for _, change := range l.transforms {
			sample = append([]*tensor.Tensor{change(sample[0], g)}, sample[1:]...)
		}
		samples[k] = sample
	}
	*now = -1
	if l.collate != nil {
		return newBatch(l.collate(samples)), nil
	}
	return newBatch(stackFields(samples)), nil
}

// RandomBatches returns n batches of normal inputs (rows, in) and targets (rows, out), all
// inputs drawn before all targets, from the generator that tensor.ManualSeed seeds: noise for
// measuring speed.
func RandomBatches(n, rows, in, out int) []Batch {
	const each = 512 // approximate bytes of a batch without its elements
	if err := driver.Room(n, each); err != nil {
		panic(&tensor.Error{Op: "random_batches", Why: err.Error()})
	}
	inputs := make([]*tensor.Tensor, n)
	for i := range inputs {
		driver.Poll()
		inputs[i] = tensor.Randn(rows, in)
	}
	batches := make([]Batch, n)
	for i := range batches {
		driver.Poll()
		batches[i] = newBatch([]*tensor.Tensor{inputs[i], tensor.Randn(rows, out)})
	}
	return batches
}
