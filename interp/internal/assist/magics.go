package assist

import (
	"fmt"
	"slices"
	"strings"
)

// Magic describes a magic. The first line of its help stands in lists.
type Magic struct {
	Name, Args, Help   string
	TakesGo, TakesText bool // what it applies to; neither means words
}

// magicNamed returns the magic with a name, or nil.
func magicNamed(list []Magic, name string) *Magic {
	i := slices.IndexFunc(list, func(m Magic) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	return &list[i]
}

// ListMagics lists magics with their arguments and the first line of their help.
func ListMagics(list []Magic) string {
	var b strings.Builder
	for _, m := range list {
		usage := strings.TrimSpace(m.Name + " " + m.Args)
		if m.Name == "!" {
			usage = m.Name + m.Args
		}
		line, _, _ := strings.Cut(m.Help, "\n")
		b.WriteString(fold80(fmt.Sprintf("    %-33s %s", usage, line), 38) + "\n")
	}
	return b.String()
}
