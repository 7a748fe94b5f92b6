package interp

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// failedHint names the latest cell that declares name but did not run, or returns "".
func (c *cell) failedHint(name string) string {
	for _, e := range slices.Backward(c.ran) {
		switch e.Failed {
		case "CompileError", "Unsupported", "UnknownMagic":
			if declares(e.Code, name) {
				return fmt.Sprintf("In[%d], which declares it, did not run: fix it and run it again", e.Count)
			}
		}
	}
	return ""
}

// declaration matches the first line of a declaration at the left margin: its names are in
// the group that matched.
var declaration = regexp.MustCompile(`(?m)^(?:(?:var|const|type|func)\s+(\w+(?:\s*,\s*\w+)*)|(\w+(?:\s*,\s*\w+)*)\s*:=)`)

// declares reports whether a cell declares a name for later cells. The cell need not parse.
func declares(code, name string) bool {
	for _, m := range declaration.FindAllStringSubmatch(code, -1) {
		for n := range strings.SplitSeq(m[1]+m[2], ",") {
			if strings.TrimSpace(n) == name {
				return true
			}
		}
	}
	return false
}
