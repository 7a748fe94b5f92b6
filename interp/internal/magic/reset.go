package magic

import "halfnote/kernel"

func init() {
	add(Magic{
		Name: "%reset", Args: "[out]", Run: runReset,
		Help: "forgets all variables, functions, types and imports; with out, only the displayed values",
	})
}

func runReset(c *Call) kernel.Result {
	if c.Args == "out" {
		c.ForgetOutputs()
		return kernel.Result{}
	}
	if err := c.Reset(); err != nil {
		return kernel.Result{Err: &kernel.Error{Name: "InternalError", Value: err.Error()}}
	}
	return kernel.Result{}
}
