package assist

import (
	"fmt"
	"slices"
	"strings"

	"halfnote/display"
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
func ListMagics(list []Magic) display.Bundle {
	var text strings.Builder
	rows := usages(list)
	for _, r := range rows {
		text.WriteString(fold80(fmt.Sprintf("    %-33s %s", r[0], r[1]), 38) + "\n")
	}
	return display.Bundle{Data: map[string]any{"text/plain": text.String(), "text/markdown": table(rows, 0)}}
}

// usages returns the magics with their arguments, and the first line of their help.
func usages(list []Magic) (rows [][2]string) {
	for _, m := range list {
		usage := strings.TrimSpace(m.Name + " " + m.Args)
		if m.Name == "!" {
			usage = m.Name + m.Args
		}
		line, _, _ := strings.Cut(m.Help, "\n")
		rows = append(rows, [2]string{usage, line})
	}
	return rows
}
