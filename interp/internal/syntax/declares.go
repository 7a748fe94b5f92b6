package syntax

import (
	"regexp"
	"strings"
)

// declaration matches the first line of a declaration at the left margin: its names are in
// the group that matched.
var declaration = regexp.MustCompile(`(?m)^(?:(?:var|const|type|func)\s+(\w+(?:\s*,\s*\w+)*)|(\w+(?:\s*,\s*\w+)*)\s*:=)`)

// Declares reports whether a cell declares a name for later cells. The cell need not parse.
func Declares(code, name string) bool {
	for _, m := range declaration.FindAllStringSubmatch(code, -1) {
		for n := range strings.SplitSeq(m[1]+m[2], ",") {
			if strings.TrimSpace(n) == name {
				return true
			}
		}
	}
	return false
}
