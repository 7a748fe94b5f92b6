package magic

import (
	"strings"

	"halfnote/kernel/eval"
)

func init() {
	add(Magic{
		Name: "%%", Run: runStatements,
		Help: "has no effect: statements run where they stand\nIn GoNB the line comes before the statements of a cell.",
	})
}

func runStatements(c *Call) eval.Result {
	if c.Args != "" {
		return c.wrong("%%%% has no arguments here: os.Args = %#v sets them, and flag.Parse() reads them", append([]string{"main"}, strings.Fields(c.Args)...))
	}
	return eval.Result{}
}
