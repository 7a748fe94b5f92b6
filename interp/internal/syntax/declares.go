package syntax

import (
	"path"
	"regexp"
	"strings"
)

// declaration matches the first line of a declaration at the left margin: its names are in
// the group that matched.
var declaration = regexp.MustCompile(`(?m)^(?:(?:var|const|type|func)\s+(\w+(?:\s*,\s*\w+)*)|(\w+(?:\s*,\s*\w+)*)\s*:=)`)

// imported matches a line that imports a package: the name that it gives, if any, and the path.
var imported = regexp.MustCompile(`(?m)^(?:import\s+|\s+|import\s*\(\s*)(\w+\s+)?"([\w.~/-]+)"\)?\s*$`)

// major matches the last element of the path of a later major version, which is not the name of the package.
var major = regexp.MustCompile(`/v\d+$`)

// Declares reports whether a cell declares a name for later cells. The cell need not parse.
func Declares(code, name string) bool {
	for _, m := range declaration.FindAllStringSubmatch(code, -1) {
		for n := range strings.SplitSeq(m[1]+m[2], ",") {
			if strings.TrimSpace(n) == name {
				return true
			}
		}
	}
	for _, m := range imported.FindAllStringSubmatch(code, -1) {
		if n := strings.TrimSpace(m[1]); n == name || n == "" && path.Base(major.ReplaceAllString(m[2], "")) == name {
			return true
		}
	}
	return false
}
