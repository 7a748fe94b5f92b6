package data

import (
	"fmt"
	"slices"

	"halfnote/tensor"
)

// Batch is a batch of samples.
type Batch struct {
	Input  *tensor.Tensor // first field
	Target *tensor.Tensor // last field, if there are at least two
	Fields []*tensor.Tensor
}

func newBatch(fields []*tensor.Tensor) Batch {
	b := Batch{Fields: fields}
	if n := len(fields); n > 0 {
		b.Input = fields[0]
		if n > 1 {
			b.Target = fields[n-1]
		}
	}
	return b
}

// stackFields stacks each field of samples: torch's default_collate.
func stackFields(samples [][]*tensor.Tensor) []*tensor.Tensor {
	if len(samples) == 0 {
		panic(&tensor.Error{Op: "collate", Why: "the batch is empty; want at least one sample"})
	}
	fields := make([]*tensor.Tensor, len(samples[0]))
	for j := range fields {
		column := make([]*tensor.Tensor, len(samples))
		for i, s := range samples {
			if len(s) != len(fields) {
				panic(&tensor.Error{Op: "collate", Why: fmt.Sprintf("sample %d of the batch has %d fields, the first has %d; want equal numbers", i, len(s), len(fields))})
			}
			column[i] = s[j]
		}
		fields[j] = stack(column)
	}
	return fields
}

// stack stacks tensors of equal shapes, along a new first dimension.
func stack(ts []*tensor.Tensor) *tensor.Tensor {
	shape := ts[0].Shape()
	for i, t := range ts {
		if t.DType() != ts[0].DType() || !slices.Equal(t.Shape(), shape) {
			panic(&tensor.Error{Op: "collate", Shapes: [][]int{shape, t.Shape()}, DTypes: []tensor.DType{ts[0].DType(), t.DType()},
				Why: fmt.Sprintf("samples 0 and %d of the batch differ; want equal shapes and dtypes, or a loader with WithCollate", i)})
		}
	}
	var out *tensor.Tensor
	tensor.NoGrad(func() { out = tensor.Stack(0, ts...) })
	return out
}
