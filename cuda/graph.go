package cuda

import (
	"fmt"

	"halfnote/tensor/driver"
)

// Graph is a step that was captured: all that it asks of a GPU, to be asked by one call. It is
// safe for use by several goroutines at once. It is torch.cuda.CUDAGraph.
type Graph struct{ graph driver.Graph }

// Capture calls step and returns what it asks of the first GPU as a graph. Nothing of it is
// done before the first Replay; a replay is one call of the driver, however many operations
// the step has. What step asks must be the same each time:
//
//	step() // once or more, so that all is there: kernels, what optimizers remember
//	g, err := cuda.Capture(step)
//	for … {
//		x.Assign(batch)
//		g.Replay()
//	}
//
// Tensors keep their places: a replay reads those that step has used where they are, so that
// new values are put into them with Assign, and writes those that step has made, as the loss
// and the gradients, which are valid after the capture and may be read after each replay.
// Those have memory of the graph's own, which it has until Free. Tensors that step uses stay
// in memory as long, also where nobody else holds them.
//
// Numbers that are no tensors on the GPU, and those that step itself makes on the CPU and
// brings, are those of the capture in all replays, and so are the ways that Go's ifs went. If
// an optimizer's settings have changed, as a learning rate by a scheduler, Replay panics:
// capture again. Adam and AdamW count replays as steps. Dropout draws anew in each replay: of
// what the generator gave at the capture, and how often the graph has run. Positions and
// classes are not checked in replays; a target that is no class does not count.
//
// The error says what step did that cannot be part of a graph: it waited for the GPU, as
// reading a value, printing and GradScaler.Step do (StepNonBlocking does not), it brought
// values of a batch from the CPU or drew random numbers there, or there was no memory. If
// step panics otherwise, the panic goes on. In all these cases everything stays usable. Other
// goroutines that use the GPU wait until the capture is over, so that step must not wait for
// them. There is an error without a GPU. It is torch.cuda.graph.
func Capture(step func()) (*Graph, error) { return CaptureOn(0, step) }

// CaptureOn is Capture for GPU i.
func CaptureOn(i int, step func()) (*Graph, error) {
	b, err := driver.Open(name(i))
	if err != nil {
		return nil, fmt.Errorf("cuda: capture on GPU %d: %w", i, err)
	}
	g, err := b.(driver.Capturer).Capture(step)
	if err != nil {
		return nil, err
	}
	return &Graph{g}, nil
}

// Replay has the GPU do the step, after what it has been given before, and does not wait for
// it. It panics if the graph has been freed or settings of an optimizer have changed. It is torch.cuda.CUDAGraph.replay.
func (g *Graph) Replay() { g.graph.Replay() }

// Free gives up the graph and its memory, but for that of tensors that somebody holds. Freeing
// twice does nothing. It is torch.cuda.CUDAGraph.reset.
func (g *Graph) Free() { g.graph.Free() }
