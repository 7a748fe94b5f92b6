package tensor

import (
	"fmt"

	"halfnote/tensor/driver"
)

// CUDA graph capture: work is recorded once and replayed later with other values in the same
// memory, without the CPU. See driver.Capturer.

func init() { driver.SetClock(ids.Load) }

// Capturing is capturing.
func (graphCapture) Capturing() bool { return capturing() }

// capturing reports whether this goroutine is capturing a graph: its work on the device is recorded, not executed. It is
// torch.cuda.is_current_stream_capturing.
func capturing() bool {
	r, _ := driver.Recording()
	return r != nil
}

// OnReplay registers f to be called before each replay of the graph that this goroutine is capturing. f may panic if something
// that the step depends on has changed. Outside a capture OnReplay does nothing.
func (graphCapture) OnReplay(f func()) {
	if r, _ := driver.Recording(); r != nil {
		r.OnReplay(f)
	}
}

// NotInGraph is notInGraph.
func (graphCapture) NotInGraph(op, why string) { notInGraph(op, why) }

// notInGraph panics with an [Error] if this goroutine is capturing a graph, because op cannot be part of one. Capture returns
// the panic as an error. why names the problem and the expected usage.
func notInGraph(op, why string) {
	if r, _ := driver.Recording(); r != nil {
		e := named(&Error{Op: op, Why: "not allowed during graph capture: " + why})
		r.Refuse(e)
		panic(e)
	}
}

// replayed reports whether t's values may differ at replay: a graph is being captured, and t
// was made before the capture.
func (t *Tensor) replayed() bool {
	r, since := driver.Recording()
	return r != nil && t.mem.id <= since
}

// lasting is unsetTensor for memory that a graph changes from replay to replay. During capture,
// other new tensors reuse memory that the graph has already released.
func lasting(b driver.Backend, d DType, shape []int) *Tensor {
	r, _ := driver.Recording()
	if r == nil {
		return unsetTensor(b, d, shape)
	}
	buffer, err := r.Alloc(size(shape) * d.Size())
	if err != nil {
		panic(named(&Error{Op: "new", Shapes: [][]int{shape}, DTypes: []DType{d}, Why: err.Error()}))
	}
	return &Tensor{mem: &storage{backend: b, buffer: buffer, id: ids.Add(1)}, dtype: d, shape: shape, stride: rowMajor(shape), id: ids.Add(1)}
}

// Lasting returns a float32 vector on a device. During graph capture, the vector is set to data when the capture ends, and keeps
// its contents from replay to replay; an ordinary tensor would be reset to data by each replay.
func (fused) Lasting(device string, data ...float64) *Tensor {
	list := make([]float32, len(data))
	for i, x := range data {
		list[i] = float32(x)
	}
	return preset(lasting(Device(device).backend(), Float32, []int{len(list)}), list)
}

// preset sets the memory of a new tensor and returns it, as setContents does. During capture
// the memory is set when the capture ends, not by each replay.
func preset[E plain](t *Tensor, data []E) *Tensor {
	r, _ := driver.Recording()
	if r == nil {
		return setContents(t, data)
	}
	inPieces(data, func(at int, part []byte) { r.Preset(t.mem.buffer, at, part) })
	return t
}

// sameInReplays panics if t is on the CPU, because every replay would use its values at
// capture.
func (t *Tensor) sameInReplays(op string) {
	if t.replayed() {
		notInGraph(op, fmt.Sprintf("a tensor of shape %s is on the CPU, and each replay would use its current values; create it on the GPU before Capture and update it with Assign before each Replay", shapeString(t.shape)))
	}
}

// drawing panics if the random numbers of op are drawn on the CPU, because every replay would
// use the same ones.
func drawing(op string) {
	notInGraph(op, "its random numbers are drawn on the CPU, and each replay would use the same ones; draw them before each Replay and copy them to a GPU tensor with Assign, or use Dropout, which draws new ones in each replay")
}
