package magic

import (
	"go/token"
	"reflect"
	"strings"

	"halfnote/kernel/eval"
)

func init() {
	add(Magic{
		Name: "%%capture", Args: "[NAME]", Takes: Go, Runs: true, Run: runCapture,
		Help: "runs the cell and keeps its output in a variable instead of showing it\n" +
			"The variable is a display.Captured. The options --no-stdout, --no-stderr and --no-display show that part of the output.",
	})
}

// runCapture runs the cell and keeps its output in a variable of type display.Captured.
// With an error, the variable holds the output until then.
func runCapture(c *Call) eval.Result {
	name, shown := "", map[string]bool{}
	for _, word := range strings.Fields(c.Args) {
		switch {
		case word == "--no-stdout", word == "--no-stderr", word == "--no-display":
			shown[word] = true
		case name == "" && token.IsIdentifier(word):
			name = word
		default:
			return c.wrong("%%%%capture %s: want at most the name of a variable and the options --no-stdout, --no-stderr and --no-display", c.Args)
		}
	}
	to := &captured{Output: c.Out, shown: shown}
	r := c.Eval(c.Ctx, c.Cell, to)
	if r.Value != nil {
		to.Display(*r.Value)
		r.Value = nil
	}
	got := to.end(c.Screen)
	if name == "" {
		return r
	}
	if failed := c.assign(name, ":=", "display.Captured{}", 0, reflect.ValueOf(got)); r.Err == nil {
		r.Err = failed
	}
	return r
}
