package bench

import "fmt"

// task is the work of a row, or of several rows with different peers.
type task struct {
	name   string // name without the dtype
	spec   Spec
	unit   string
	amount float64  // work of a run: floating-point operations, bytes or operations, depending on the unit; 1 for a time
	peers  []string // peers that can do the work: "torch", "openblas"
	own    []rival
	batch  int     // batch size of training steps that also get a row of samples per second; else 0
	equal  float64 // largest relative difference of losses from a peer's; 0 for no losses
}

// rival is other work of halfnote to compare with, in the same unit.
type rival struct {
	name   string
	spec   Spec
	amount float64
}

// value turns the nanoseconds that a run took into the task's unit.
func (t task) value(ns, amount float64) float64 {
	switch t.unit {
	case "GFLOP/s", "GB/s":
		return amount / ns
	case "us/op":
		return ns / 1e3 / amount
	case "us":
		return ns / 1e3
	case "ms":
		return ns / 1e6
	}
	panic(fmt.Sprintf("bench: %s is in %q; want GFLOP/s, GB/s, us/op, us or ms", t.name, t.unit))
}
