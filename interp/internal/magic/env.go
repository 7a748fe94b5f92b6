package magic

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"halfnote/kernel/eval"
)

func init() {
	add(Magic{
		Name: "%env", Args: "[NAME[=VALUE]]", Run: runEnv,
		Help: "lists the environment variables, or shows or sets one",
	})
}

// runEnv shows and sets environment variables of the process.
func runEnv(c *Call) eval.Result {
	if c.Args == "" {
		list := os.Environ()
		slices.Sort(list)
		return shown(strings.Join(list, "\n"))
	}
	i := strings.IndexByte(c.Args, '=')
	if j := strings.IndexAny(c.Args, " \t"); i < 0 || 0 <= j && j < i && strings.TrimSpace(c.Args[j:i]) != "" {
		i = j // NAME VALUE form
	}
	if i < 0 {
		value, ok := os.LookupEnv(c.Args)
		if !ok {
			return c.wrong("%%env: environment variable %s is not set", c.Args)
		}
		return shown(value)
	}
	name, value := strings.TrimSpace(c.Args[:i]), strings.TrimSpace(c.Args[i+1:])
	if err := os.Setenv(name, value); err != nil {
		return c.wrong("%%env %s: %v", c.Args, err)
	}
	fmt.Fprintf(c.Out.Stdout(), "env: %s=%s\n", name, value)
	return eval.Result{}
}
