package plumbing

// Lifetimes is the group of functions for programs that know where they use results for the last time, such as the front end of
// cells. T is *tensor.Tensor. A slot is a variable of the program that no other code uses. It refers to a result whose memory nothing
// else refers to, or to none. Memory that is not released here is left to the garbage collector.
type Lifetimes[T any] struct {
	// Begin releases the tensor in slot, which must not be used any more. It returns the number of the latest tensor.
	Begin func(slot *T) (since uint64)

	// Hold releases the tensor in slot, puts t there if it is newer than since and nothing else refers to its memory, and returns t.
	Hold func(slot *T, since uint64, t T) T

	// Free releases t, which must not be used any more, on the same condition. It returns nil.
	Free func(since uint64, t T) T

	// Share returns t, to which other code may refer. Its memory will not be released, even if t is in a slot.
	Share func(t T) T
}
