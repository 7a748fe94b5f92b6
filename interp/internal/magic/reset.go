package magic

import "halfnote/kernel/eval"

func init() {
	add(Magic{
		Name: "%reset", Args: "[out]", Run: runReset,
		Help: "forgets all variables, functions, types and imports; with out, only the displayed values",
	})
}

func runReset(c *Call) eval.Result {
	if c.Args == "out" {
		c.ForgetOutputs()
		return eval.Result{}
	}
	if err := c.Reset(); err != nil {
		return eval.Result{Err: &eval.Error{Name: "InternalError", Value: err.Error()}}
	}
	return eval.Result{}
}
