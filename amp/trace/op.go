package trace

import (
	"time"

	"halfnote/tensor"
)

// Op is one operation that ran.
type Op struct {
	Name     string // torch's, as "linear"
	Place           // of the module that called it, or whose derivative it is
	Source   string // line of the cell that called it, or whose derivative it is: "In[3], line 5"
	Step     int    // of training, from 0: number of the optimizer's step that it led to, or of backward passes where there is no optimizer
	Backward bool
	InPlace  bool   // it changed its first operand, as optimizers do
	Of       string // the operation whose derivative it is part of
	Category tensor.Category
	In       []tensor.DType // of the operands as they were given
	Computed tensor.DType   // of the operands as they were computed on
	Out      tensor.DType
	Shape    []int // of the result
	ID       int   // of the result
	Casts    int   // operands converted for it
	Cached   int   // operands whose conversion autocast had already
	Duration time.Duration
	Bytes    int     // read and written
	FLOPs    float64 // two for each product of a matrix product or convolution, else one for each element
}

func newOp(e tensor.Event, place Place) Op {
	op := Op{
		Name: e.Op.Name, Place: place, Source: e.Source, Backward: e.Backward, InPlace: e.InPlace, Of: e.Of, Category: e.Op.Category,
		Computed: e.Computed, Out: e.Out.DType, Shape: e.Out.Shape, ID: e.Out.ID, Duration: e.Duration, Bytes: e.Bytes, FLOPs: e.FLOPs,
	}
	for _, m := range e.In {
		op.In = append(op.In, m.DType)
	}
	for _, c := range e.Casts {
		if c.Cached {
			op.Cached++
		} else {
			op.Casts++
		}
	}
	return op
}

func (op Op) phase() string {
	switch {
	case op.Backward:
		return "backward"
	case op.InPlace:
		return "optimizer"
	}
	return "forward"
}

// ranIn is the dtype that a chart shows an operation in: a cast in the one that it
// leads to.
func (op Op) ranIn() tensor.DType {
	if op.Name == "cast" {
		return op.Out
	}
	return op.Computed
}

// why says what decided the dtype: the list that the operation is on, or in
// backward the operation it derives.
func (op Op) why() string {
	switch {
	case op.Backward:
		return "of " + op.Of
	case op.InPlace:
		return "in place"
	}
	if op.Category == tensor.Lower {
		return "lower" // torch's lower_precision_fp, in the room that a chart has
	}
	return op.Category.String()
}
