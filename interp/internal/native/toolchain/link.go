package toolchain

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// addresses returns the addresses of the program's variables, after proof that the sources and flags
// are those of the program. If a build would leave the program as it is, they are those of the symbols in its file. Otherwise
// the program is linked again with symbols, and has to be the same.
func (g *goCommand) addresses(ways []way) (map[string]uintptr, error) {
	var differs string
	list, err := symbols(g.program.image)
	if _, isTest := g.target(); err == nil && !isTest && g.upToDate() {
		return list, nil
	}
	if err != nil && !errors.Is(err, errNoSymbols) {
		return nil, err
	}
	for _, w := range ways {
		var section string
		if list, section, err = g.link(w); err != nil || section == "" {
			return list, err
		}
		differs = section
	}
	if g.program.trimmed() {
		return nil, fmt.Errorf("a build of the sources in %s is not this program, whose section %s differs: they have changed since, or it has -trimpath and flags of the linker, such as -X, which it does not record then: build it again, without one of the two", g.dir, differs)
	}
	return nil, g.changed("section " + differs)
}

// way is how the go command builds a program.
type way struct {
	subcommand string
	args       []string // that only this subcommand has
	flags      []string
}

// built is how go build and go install build a program. A test is built in one of the ways tests: without -c, package main
// has no debug information, and no flags of another subcommand make the same.
var (
	built = way{subcommand: "build", args: []string{"-o", os.DevNull}}
	tests = []way{
		{subcommand: "test", args: []string{"-vet=off", "-exec=true"}},
		{subcommand: "test", args: []string{"-vet=off", "-c", "-o", os.DevNull}},
	}
)

//go:embed link.sh
var linkScript []byte

// link builds the program again in a way, but with symbols. It returns their addresses, or the name of a section that
// differs from the program's.
func (g *goCommand) link(w way) (list map[string]uintptr, section string, err error) {
	dir, err := os.MkdirTemp("", "halfnote-link")
	if err != nil {
		return nil, "", err
	}
	defer os.RemoveAll(dir)
	script, file := filepath.Join(dir, "link.sh"), filepath.Join(dir, "program")
	err = errors.Join(
		os.WriteFile(script, linkScript, 0o666),
		os.WriteFile(filepath.Join(dir, "modinfo"), fmt.Appendf(nil, "modinfo %q\n", g.program.info), 0o666),
	)
	if err != nil {
		return nil, "", err
	}
	pkg, _ := g.target()
	args := slices.Concat(w.args, w.flags, []string{"-buildvcs=false", "-toolexec=sh " + strconv.Quote(script), pkg})
	if _, _, err = g.build(w.subcommand, args...); err != nil {
		return nil, "", err
	}
	if section, err = difference(g.program.image, file); err != nil || section != "" {
		return nil, section, err
	}
	list, err = symbols(file)
	return list, "", err
}
