package exercise

import (
	"slices"
	"strings"
)

// code accepts one of several lines of a program as a text. Spaces and the kind of quotes do not matter.
func code(accepted ...string) answer {
	plain := strings.NewReplacer(" ", "", "\t", "", "'", `"`, ";", "")
	return satisfies("a line of a program as a text", func(given any) error {
		text, ok := given.(string)
		if !ok {
			return errWrong
		}
		if slices.ContainsFunc(accepted, func(line string) bool { return plain.Replace(text) == plain.Replace(line) }) {
			return nil
		}
		return errWrong
	})
}
