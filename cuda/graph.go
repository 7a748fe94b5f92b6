package cuda

import (
	"fmt"

	"halfnote/tensor/driver"
)

// Graph is a captured training step that is replayed by one call of the driver. It is safe for
// concurrent use. It is torch.cuda.CUDAGraph.
type Graph struct{ graph driver.Graph }

// Capture calls step and records its work on the first GPU as a graph. Nothing runs before the
// first Replay; a replay is one call of the driver, however many operations the step has. The
// work of step must be the same each time:
//
//	step() // warm up: allocate buffers and optimizer state, load kernels
//	g, err := cuda.Capture(step)
//	for … {
//		x.Assign(batch)
//		g.Replay()
//	}
//
// Tensors keep their addresses. A replay reads the tensors that step used in place, so new values
// are written into them with Assign. It writes the tensors that step created, such as the loss
// and the gradients; they are valid after the capture and can be read after each replay. They use
// memory owned by the graph, which keeps it until Free. The graph also keeps the tensors that
// step used.
//
// Scalars, tensors created on the CPU during capture, and the outcome of Go if statements are
// baked into the graph. If an optimizer's settings have changed, for example by a learning rate
// scheduler, Replay panics: capture again. Adam and AdamW count replays as steps. Dropout draws a
// new mask in each replay, from the generator's state at the capture and the number of replays.
// Indices and classes are not checked in replays; a target that is not a valid class is ignored.
//
// The error names the call that cannot be captured: step waited for the GPU (reading a value,
// printing and GradScaler.Step do; StepNonBlocking does not), copied a batch from the CPU, drew
// random numbers on the CPU, or ran out of memory. Other panics of step are passed on. The GPU
// and all tensors stay usable in every case. Other goroutines that use the GPU wait until the
// capture ends, so step must not wait for them. Without a GPU, Capture returns an error. It is
// torch.cuda.graph.
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

// Replay enqueues the graph after all earlier work and does not wait for it. It panics if the
// graph has been freed or an optimizer's settings have changed. It is
// torch.cuda.CUDAGraph.replay.
func (g *Graph) Replay() { g.graph.Replay() }

// Free releases the graph and its memory, except the memory of tensors that are still in use.
// Freeing it twice does nothing. It is torch.cuda.CUDAGraph.reset.
func (g *Graph) Free() { g.graph.Free() }
