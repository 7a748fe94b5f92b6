package dist

import "fmt"

// Error reports a call that the ranks cannot serve: the panic value of this package's functions. Code is short and stable:
//
//   - "not_initialized": there is no process group
//   - "argument": an argument does not fit
//   - "mismatch": ranks called different functions, or with other sizes or dtypes
//   - "timeout": another rank did not join the call in time
//   - "interrupted": the call was interrupted
//   - "mpi": the MPI library failed
//   - "nccl": NCCL could not start
type Error struct {
	Code string
	Call string // function or method, for example "AllReduce"
	Rank int    // rank of this process
	Why  string // reason: the values found
	Cure string // advice
	Err  error  // cause, may be nil
}

func (e *Error) Error() string {
	return fmt.Sprintf("dist: %s on rank %d: %s; %s", e.Call, e.Rank, e.Why, e.Cure)
}

func (e *Error) Unwrap() error { return e.Err }

// refuse panics with an error about an argument.
func (g *group) refuse(call, cure, why string, args ...any) {
	panic(&Error{Code: "argument", Call: call, Rank: g.rank, Why: fmt.Sprintf(why, args...), Cure: cure})
}
