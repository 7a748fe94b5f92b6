// Package export writes the cells of a notebook as a Go program. It takes them through the front end,
// which resolves every name in them, and writes their text with names that are unambiguous in one
// program. It needs neither a session nor an engine.
package export

import (
	"bytes"
	"cmp"
	"fmt"
	"go/version"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"

	"halfnote/interp/internal/exports"
)

// GoModHint returns the lines that the go.mod of an exported program needs to find this module's packages and those
// of other modules that cells import without a go.mod, or "".
func GoModHint(file string, src []byte, release string) string {
	mod := goModFor(file)
	head, lines := "add to its go.mod", ""
	if needsNewer(src) && version.Compare("go"+language(mod), newer) < 0 {
		lines = "\t" + strings.Replace(newer, "go", "go ", 1) + "\n"
	}
	if bytes.Contains(src, []byte("\"halfnote/")) && !bytes.Contains(mod, []byte("module halfnote\n")) && !bytes.Contains(mod, []byte("halfnote v")) {
		head += ", with the folder of halfnote's source for FOLDER"
		lines += fmt.Sprintf("\trequire halfnote v%s\n\treplace halfnote => FOLDER\n", release)
	}
	for _, path := range exports.Packages() {
		if strings.HasPrefix(path, "halfnote/") || !strings.Contains(path, ".") || !bytes.Contains(src, fmt.Appendf(nil, "%q\n", path)) {
			continue
		}
		if module, number := linked(path); !bytes.Contains(mod, []byte(module+" v")) {
			lines += fmt.Sprintf("\trequire %s %s\n", module, number)
		}
	}
	if lines == "" {
		return ""
	}
	return head + ":\n" + lines
}

// newer is the version of Go that needsNewer asks for.
const newer = "go1.27"

// directive matches the line of a go.mod with the version of the language.
var directive = regexp.MustCompile(`(?m)^go ([0-9.]+)`)

// language returns the version of the language in the text of a go.mod, or "".
func language(mod []byte) string {
	if m := directive.FindSubmatch(mod); m != nil {
		return string(m[1])
	}
	return ""
}

// goModFor returns the text of the go.mod that applies to a file, or nil.
func goModFor(file string) []byte {
	dir, err := filepath.Abs(filepath.Dir(file))
	for ; err == nil; dir = filepath.Dir(dir) {
		if data, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil {
			return data
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return nil
}

// linked returns the module that has provided a package of this program, and its version. Where the program does not record its
// modules, they are the package's path and "latest", which the go command replaces by a version.
func linked(path string) (module, number string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return path, "latest"
	}
	for _, m := range info.Deps {
		if len(m.Path) > len(module) && strings.HasPrefix(path+"/", m.Path+"/") {
			module, number = m.Path, m.Version
		}
	}
	return cmp.Or(module, path), cmp.Or(number, "latest")
}
