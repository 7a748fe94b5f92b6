package magic

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"halfnote/kernel/eval"
)

func init() {
	add(Magic{
		Name: "%env", Args: "[NAME[=VALUE]]", Run: runEnv,
		Help: "lists the environment variables, or shows or sets one\n" +
			"The list hides values that look like secrets, since it is saved with the notebook. %env NAME shows one.",
	})
}

// secretNames are parts of the names of variables whose values are secrets, in lower case. IPython hides those of the first three.
var secretNames = []string{"key", "token", "secret", "passw", "credential"}

// withPassword matches a password in an address.
var withPassword = regexp.MustCompile(`(://[^/@\s:]*):[^/@\s]+@`)

const hidden = "<hidden>"

// showable returns the value of a variable as a notebook may keep it.
func showable(name, value string) string {
	if name = strings.ToLower(name); value != "" && slices.ContainsFunc(secretNames, func(part string) bool { return strings.Contains(name, part) }) {
		return hidden
	}
	return withPassword.ReplaceAllString(value, "$1:"+hidden+"@")
}

// runEnv shows and sets environment variables of the process.
func runEnv(c *Call) eval.Result {
	if c.Args == "" {
		list := os.Environ()
		for i, v := range list {
			name, value, _ := strings.Cut(v, "=")
			list[i] = name + "=" + showable(name, value)
		}
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
	fmt.Fprintf(c.Out.Stdout(), "env: %s=%s\n", name, showable(name, value))
	return eval.Result{}
}
