package tensor

import "halfnote/internal/plumbing"

// Internal returns methods for the other packages of this module. Cells and other modules cannot make a Token.
func Internal(plumbing.Token) internals { return internals{} }

// internals are groups of methods, which stand next to what they are about.
type internals struct {
	Functional functional
	Fused      fused
	Capture    graphCapture
	Modules    modulePath
	Gradients  gradients
	Memory     memory
	Calls      calling
	Casting    casting
	Lifetimes  lifetimes
}

type (
	// functional has the functions of torch.nn.functional whose settings package nn takes as options: losses, pooling, local response
	// normalisation and attention.
	functional struct{}

	// fused has the computations that optimizers and loss scalers run in one pass over many tensors.
	fused struct{}

	// graphCapture has the functions that concern CUDA graph capture: work is recorded once and replayed later with other values in the
	// same memory.
	graphCapture struct{}

	// modulePath names modules.
	modulePath struct{}

	// gradients follows a Backward.
	gradients struct{}

	// memory gives the memory of tensors to other libraries.
	memory struct{}

	// calling reports calls other than operations.
	calling struct{}

	// casting puts casters on goroutines.
	casting struct{}

	// lifetimes serves programs that know where they use results for the last time, such as the front end of cells. A slot is a variable of
	// the program that no other code uses. It refers to a result whose memory nothing else refers to, or to none. Memory that is
	// not released here is left to the garbage collector.
	lifetimes struct{}
)
