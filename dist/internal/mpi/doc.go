// Package mpi calls an MPI library that is found at run time, without cgo. It knows the three binary interfaces
// in use: the standard one of MPI 5.0, MPICH's and Open MPI's. It moves bytes; what they mean is up to package dist.
package mpi

// Comm moves bytes between ranks: an MPI communicator. All calls come from the goroutine that made it. Every rank
// makes the same calls in the same order. Memory belongs to the library until the request is done.
type Comm interface {
	// Rank returns the number of this process, from 0 to Size()-1.
	Rank() int
	// Size returns the number of processes.
	Size() int
	Mover
	// Barrier is done when all ranks have called it. It is MPI_Ibarrier.
	Barrier() (Request, error)
	// Abandon makes later calls use a separate channel, so that they cannot meet those that some ranks have not
	// finished. All ranks call it the same number of times. It returns an error if no channel is left.
	Abandon() error
	// Close ends the use of the library. It is MPI_Finalize.
	Close() error
}

// Mover moves bytes between ranks: by MPI, or by another library for the memory of a device.
type Mover interface {
	// Alltoall sends part send[r] of from to each rank r, and receives part recv[r] of into from each. It is
	// MPI_Ialltoallv.
	Alltoall(from []byte, send []Part, into []byte, recv []Part) (Request, error)
	// Allgather sends part parts[Rank()] of p to all ranks, and receives the other parts. It is MPI_Iallgatherv.
	Allgather(p []byte, parts []Part) (Request, error)
	// Broadcast sends p from rank root to all others. It is MPI_Ibcast.
	Broadcast(p []byte, root int) (Request, error)
}

// Part is a range of a buffer, in bytes.
type Part struct{ At, Len int }

// Request is an operation that has been started.
type Request interface {
	// Done reports whether the operation has finished. It makes progress, so it must be called again until it
	// returns true or an error.
	Done() (bool, error)
}
