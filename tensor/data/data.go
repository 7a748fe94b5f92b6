// Package data feeds batches to a training loop: torch.utils.data.
//
//	loader := data.NewLoader(data.NewDataset(x, y), 64, data.Shuffle(1))
//	for _, b := range loader.Batches() {
//		loss := nn.MSELoss(net.Forward(b.Input), b.Target)
//		…
//	}
package data

import (
	"fmt"

	"halfnote/tensor"
)

// Batch is a piece of a data set.
type Batch struct {
	Input, Target *tensor.Tensor
}

// Dataset is inputs and targets, row i of one belonging to row i of the other. It is
// torch.utils.data.TensorDataset.
type Dataset struct {
	Input, Target *tensor.Tensor
}

// NewDataset returns inputs (n, …) with their targets (n, …). It panics if they
// have not got as many rows.
func NewDataset(input, target *tensor.Tensor) *Dataset {
	if input.Dim() == 0 || target.Dim() == 0 || input.Size(0) != target.Size(0) {
		panic(&tensor.Error{Op: "dataset", Shapes: [][]int{input.Shape(), target.Shape()}, Why: "expected (n, …) and (n, …), a target for each input"})
	}
	return &Dataset{input, target}
}

// Len returns the number of rows.
func (d *Dataset) Len() int { return d.Input.Size(0) }

// Loader cuts a data set into batches. It is torch.utils.data.DataLoader.
type Loader struct {
	set       *Dataset
	batch     int
	generator *tensor.Generator // nil: in order
	dropLast  bool
}

// LoaderOption configures a Loader.
type LoaderOption func(*Loader)

// Shuffle takes the rows in random order, another one for each call of Batches, the
// same orders for the same seed; by default they come in order.
func Shuffle(seed int64) LoaderOption {
	return func(l *Loader) { l.generator = tensor.NewGenerator(seed) }
}

// DropLast leaves out a last batch that is not full; by default it comes too.
func DropLast() LoaderOption { return func(l *Loader) { l.dropLast = true } }

// NewLoader returns a loader of batches of batch rows. It panics if batch is below
// 1.
func NewLoader(set *Dataset, batch int, options ...LoaderOption) *Loader {
	if batch < 1 {
		panic(&tensor.Error{Op: "loader", Why: fmt.Sprintf("the batch size is %d; expected 1 or more", batch)})
	}
	l := &Loader{set: set, batch: batch}
	for _, o := range options {
		o(l)
	}
	return l
}

// Len returns the number of batches.
func (l *Loader) Len() int {
	n := l.set.Len()
	if l.dropLast {
		return n / l.batch
	}
	return (n + l.batch - 1) / l.batch
}

// Batches returns the batches of one epoch. They are views of the data set when
// the rows come in order, copies when they are shuffled.
func (l *Loader) Batches() []Batch {
	set := l.set
	if l.generator != nil {
		order := l.generator.Perm(set.Len())
		set = &Dataset{rows(set.Input, order), rows(set.Target, order)}
	}
	batches := make([]Batch, l.Len())
	for i := range batches {
		from := i * l.batch
		to := min(from+l.batch, set.Len())
		batches[i] = Batch{set.Input.Slice(0, from, to), set.Target.Slice(0, from, to)}
	}
	return batches
}

// rows returns t's rows in another order.
func rows(t *tensor.Tensor, order []int) *tensor.Tensor {
	out := tensor.ZerosLike(t)
	tensor.NoGrad(func() {
		for i, j := range order {
			out.Select(0, i).Assign(t.Select(0, j))
		}
	})
	return out
}

// RandomBatches returns n batches of normal inputs (rows, in) and targets (rows,
// out), first all inputs and then all targets, from the generator that
// tensor.ManualSeed seeds: noise that takes as long to learn as anything else.
func RandomBatches(n, rows, in, out int) []Batch {
	batches := make([]Batch, n)
	for i := range batches {
		batches[i].Input = tensor.Randn(rows, in)
	}
	for i := range batches {
		batches[i].Target = tensor.Randn(rows, out)
	}
	return batches
}
