package nn

import "halfnote/tensor"

// need panics unless the argument called name of op is present; want describes it.
func need(op, name string, there bool, want string) {
	if !there {
		panic(&tensor.Error{Op: op, Why: name + " is nil; want " + want})
	}
}
