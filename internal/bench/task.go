package bench

import "fmt"

// task is a row's work, or several rows' with several peers.
type task struct {
	name   string // without its dtype
	spec   Spec
	unit   string
	amount float64  // of a run: floating-point operations, bytes or operations, by the unit; 1 for a time
	peers  []string // that can do it: "torch", "openblas"
	own    []rival
	batch  int     // of training steps whose samples a second are told too, else 0
	equal  float64 // how far losses may differ from a peer's, of their size; 0 for no losses
}

// rival is other work of our own, of the same unit.
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
	panic(fmt.Sprintf("bench: %s is in %q; expected GFLOP/s, GB/s, us/op, us or ms", t.name, t.unit))
}
