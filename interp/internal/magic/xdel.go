package magic

import (
	"strings"

	"halfnote/kernel/eval"
)

func init() {
	add(Magic{
		Name: "%xdel", Args: "NAME…", Takes: Go, Run: runXdel,
		Help: "forgets variables, functions, types, constants and imports by name\n" +
			"A package or built-in function that such a name hid, such as data or len, has its meaning again. What another declaration uses stays.",
	})
}

func runXdel(c *Call) eval.Result {
	names := strings.Fields(c.Args)
	if len(names) == 0 {
		return c.wrong("%%xdel needs names of cells, such as %%xdel x f")
	}
	if err := c.Forget(names); err != nil {
		return c.wrong("%%xdel: %v", err)
	}
	return eval.Result{}
}
