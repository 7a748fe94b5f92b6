// Package export writes the cells of a notebook as a Go program. It takes them through the front end,
// which resolves every name in them, and writes their text with names that are unambiguous in one
// program. It needs neither a session nor an engine.
package export

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// GoModHint returns the lines that the go.mod of an exported program needs to find
// this module's packages, or "".
func GoModHint(file string, src []byte, release string) string {
	if !bytes.Contains(src, []byte("\"halfnote/")) {
		return ""
	}
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return ""
	}
	for ; ; dir = filepath.Dir(dir) {
		if data, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil {
			if bytes.Contains(data, []byte("module halfnote\n")) || bytes.Contains(data, []byte("halfnote v")) {
				return ""
			}
			break
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	language := ""
	if needsNewer(src) {
		language = "\tgo 1.27\n"
	}
	return fmt.Sprintf("add to its go.mod, with the folder of halfnote's source for FOLDER:\n%s\trequire halfnote v%s\n\treplace halfnote => FOLDER\n", language, release)
}
