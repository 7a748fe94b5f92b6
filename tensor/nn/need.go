package nn

import "halfnote/tensor"

// need panics unless an argument of op is there, which is called name and should be want.
func need(op, name string, there bool, want string) {
	if !there {
		panic(&tensor.Error{Op: op, Why: name + " is nil; expected " + want})
	}
}
