package toolchain

import (
	"debug/elf"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
)

// program is a program whose cells are to be compiled, usually the running one.
type program struct {
	file   string // executable
	image  string // the same, or another name of it that stays when the file is replaced
	path   string // of its package main; that of a test ends with ".test"
	module string
	flags  []string // for the go command, with which it was built
	env    []string
	vcs    bool   // its description has the state of version control
	info   []byte // its description, as the linker gets it
	// id names the program in the cache, and mainID is the part of it for the content of package main. id
	// is the build ID, or the sum of the toolchain that the program carries, or the sum of its file.
	id, mainID string
	carried    bool // it carries its toolchain
}

// refused are settings of builds for which cells are not compiled: their code would have to be
// instrumented, or placed, differently.
var refused = []string{"-race=true", "-msan=true", "-asan=true", "-cover=true", "-buildmode=pie", "-buildmode=c-shared", "-buildmode=c-archive", "-buildmode=plugin"}

// running describes the running program.
func running() (*program, error) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil, errNoDescription
	}
	file, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &program{file: file, image: "/proc/self/exe", path: info.Path, module: info.Main.Path}
	for _, s := range info.Settings {
		switch name, isFlag := strings.CutPrefix(s.Key, "-"); {
		case slices.Contains(refused, s.Key+"="+s.Value):
			return nil, fmt.Errorf("compiled cells need a program that is built without %s=%s", s.Key, s.Value)
		case name == "compiler", name == "buildmode" && s.Value == "exe":
		case isFlag:
			p.flags = append(p.flags, s.Key+"="+s.Value)
		case s.Key == "vcs":
			p.vcs = true
		case strings.ToUpper(s.Key) == s.Key && s.Key != "DefaultGODEBUG":
			p.env = append(p.env, s.Key+"="+s.Value)
		}
	}
	if p.id = carriedSum(p.image); p.id != "" {
		p.carried = true
		return p, nil
	}
	if flag.Lookup("test.v") != nil && !strings.HasSuffix(p.path, ".test") {
		p.path += ".test" // the path of a test of a package main is that of the package
	}
	if p.path == "command-line-arguments" {
		return nil, errors.New("compiled cells need a program that is built from its package, not from a list of files: go run . instead of go run main.go")
	}
	return p, p.read()
}

var errNoDescription = errors.New("this program does not say how it was built: build it with the go command, in its module")

// read reads what names the program from its file.
func (p *program) read() error {
	f, err := elf.Open(p.image)
	if err != nil {
		return err
	}
	defer f.Close()
	if p.info, err = modinfo(f); err != nil {
		return err
	}
	var proper bool
	if p.id, proper = buildID(f); proper {
		p.mainID = strings.Split(p.id, "/")[2]
		return nil
	}
	if p.trimmed() { // the flag is not recorded, and the ID takes room
		p.flags = append(p.flags, "-ldflags=-buildid="+p.id)
	}
	p.id, err = sumOf(p.image, wholeFile)
	return err
}

// trimmed reports whether the program was built with -trimpath: the compiler has then recorded no folders, and the go
// command no flags of the linker.
func (p *program) trimmed() bool { return slices.Contains(p.flags, "-trimpath=true") }

// mainFlags returns the flags with which the compiler compiled package main. Those without a pattern are for it.
func (p *program) mainFlags() (flags []string) {
	for _, f := range p.flags {
		if f, ok := strings.CutPrefix(f, "-gcflags="); ok {
			pattern, rest, has := strings.Cut(f, "=")
			switch {
			case strings.HasPrefix(f, "-"):
				flags = []string{f}
			case has && (pattern == "all" || pattern == p.path):
				flags = []string{rest}
			}
		}
	}
	return flags
}
