// Package export writes the cells of a notebook as a Go program. It takes them through the front end,
// which resolves every name in them, and writes their text with names that are unambiguous in one
// program. It needs neither a session nor an engine.
package export

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"halfnote/interp/internal/exports"
)

// GoModHint returns the lines that the go.mod of an exported program needs to find this module's packages and those
// of other modules that cells import without a go.mod, or "".
func GoModHint(file string, src []byte, release string) string {
	mod := goModFor(file)
	head, lines := "add to its go.mod", ""
	if bytes.Contains(src, []byte("\"halfnote/")) && !bytes.Contains(mod, []byte("module halfnote\n")) && !bytes.Contains(mod, []byte("halfnote v")) {
		head += ", with the folder of halfnote's source for FOLDER"
		lines = fmt.Sprintf("\trequire halfnote v%s\n\treplace halfnote => FOLDER\n", release)
	}
	for _, path := range exports.Packages() {
		if strings.HasPrefix(path, "halfnote/") || !strings.Contains(path, ".") || !bytes.Contains(src, fmt.Appendf(nil, "%q\n", path)) {
			continue
		}
		if module, version := linked(path); !bytes.Contains(mod, []byte(module+" v")) {
			lines += fmt.Sprintf("\trequire %s %s\n", module, version)
		}
	}
	if lines == "" {
		return ""
	}
	return head + ":\n" + lines
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
func linked(path string) (module, version string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return path, "latest"
	}
	for _, m := range info.Deps {
		if len(m.Path) > len(module) && strings.HasPrefix(path+"/", m.Path+"/") {
			module, version = m.Path, m.Version
		}
	}
	return cmp.Or(module, path), cmp.Or(version, "latest")
}
