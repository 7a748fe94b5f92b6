package tensor

import (
	"fmt"

	"halfnote/tensor/driver"
)

// What a graph of a GPU's work takes heed of: it is noted once and done again, when memory
// holds other values, and the CPU takes no part in it. See driver.Capturer.

func init() { driver.SetClock(ids.Load) }

// Capturing reports whether a graph of a GPU's work is being captured by this goroutine: what
// it computes there is noted, not done. It is torch.cuda.is_current_stream_capturing.
func Capturing() bool {
	r, _ := driver.Recording()
	return r != nil
}

// OnReplay has f called before each replay of the graph that this goroutine captures: it may
// panic if what the step depends on has changed. It does nothing if none is being captured.
func OnReplay(f func()) {
	if r, _ := driver.Recording(); r != nil {
		r.OnReplay(f)
	}
}

// NotInGraph panics if a graph is being captured by this goroutine, whose Capture returns it
// as an error: op cannot be part of it. why says what is wrong and
// what was expected.
func NotInGraph(op, why string) {
	if r, _ := driver.Recording(); r != nil {
		e := &Error{Op: op, Why: "a graph is being captured: " + why}
		r.Refuse(e)
		panic(e)
	}
}

// replayed reports whether t's values may be others when what this goroutine does now is
// done again: a graph is being captured, and t is older.
func (t *Tensor) replayed() bool {
	r, since := driver.Recording()
	return r != nil && t.mem.id <= since
}

// lasting is unsetTensor for what a graph changes from replay to replay, if one is being
// captured: other tensors that it makes share memory with those that it has let go of before.
func lasting(b driver.Backend, d DType, shape []int) *Tensor {
	r, _ := driver.Recording()
	if r == nil {
		return unsetTensor(b, d, shape)
	}
	buffer, err := r.Alloc(size(shape) * d.Size())
	if err != nil {
		panic(&Error{Op: "new", Shapes: [][]int{shape}, DTypes: []DType{d}, Why: err.Error()})
	}
	return &Tensor{mem: &storage{backend: b, buffer: buffer, id: ids.Add(1)}, dtype: d, shape: shape, stride: rowMajor(shape), id: ids.Add(1)}
}

// Lasting returns a float32 vector on d. If a graph is being captured the vector has data
// when that is over, and keeps from replay to replay what is put into it; one that New made
// would have data again in each.
func Lasting(d Device, data ...float64) *Tensor {
	list := make([]float32, len(data))
	for i, x := range data {
		list[i] = float32(x)
	}
	return preset(lasting(d.backend(), Float32, []int{len(list)}), list)
}

// preset sets the memory of a new tensor and returns it, as setContents does. If a graph is
// being captured it is set when that is over, not by each replay.
func preset[E plain](t *Tensor, data []E) *Tensor {
	r, _ := driver.Recording()
	if r == nil {
		return setContents(t, data)
	}
	inPieces(data, func(at int, part []byte) { r.Preset(t.mem.buffer, at, part) })
	return t
}

// sameInReplays panics if values of t, which is on the CPU, would be those of today at every
// replay.
func (t *Tensor) sameInReplays(op string) {
	if t.replayed() {
		NotInGraph(op, fmt.Sprintf("a tensor of shape %s is on the CPU, of which each replay would take the values of now; expected one on the GPU that is there before, into which Assign puts new values before a Replay", shapeString(t.shape)))
	}
}

// drawing panics if numbers that op draws on the CPU would be the same in every replay.
func drawing(op string) {
	NotInGraph(op, "its numbers are drawn on the CPU, and each replay would take the same; expected them to be drawn before a Replay and put into a tensor of the GPU with Assign, or Dropout, which draws anew in each")
}
