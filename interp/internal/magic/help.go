package magic

import (
	"strings"

	"halfnote/interp/internal/assist"
	"halfnote/kernel/eval"
)

func init() {
	add(Magic{
		Name: "%help", Args: "[NAME|WORDS]", Run: runHelp,
		Help: "lists packages, tasks and commands, as ? does, or those about some words; with a name, shows its documentation",
	})
	add(Magic{
		Name: "%lsmagic", Run: runList,
		Help: "lists the magics",
	})
}

// runHelp shows the index, the documentation of a name or magic, or what is found about words.
func runHelp(c *Call) eval.Result {
	words := strings.Fields(strings.ToLower(strings.TrimRight(c.Args, "?")))
	switch len(words) {
	case 0:
		return result(assist.Overview(Forms()))
	case 1:
		name := strings.TrimRight(c.Args, "?")
		for _, n := range []string{name, "%" + name, "%%" + name} {
			if n != name && (Find(n) == nil || assist.IsTask(words)) {
				continue
			}
			if b, known := c.inspect(n, 0); known {
				return paged(b)
			}
		}
	}
	b, found := assist.About(c.Seen(), words)
	if !found {
		return c.wrong("nothing is called or described as %q; %%help lists packages, tasks and commands", c.Args)
	}
	return paged(b)
}

func runList(c *Call) eval.Result { return result(assist.ListMagics(Forms())) }
