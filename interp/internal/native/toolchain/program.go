package toolchain

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
)

// program is the running program.
type program struct {
	file    string // executable
	path    string // of its package main; that of a test ends with ".test"
	module  string
	flags   []string // for the go command, with which it was built
	env     []string
	buildID string
	carried bool // it carries its toolchain, whose sum is the build ID
}

// refused are settings of builds for which cells are not compiled: their code would have to be
// instrumented, or placed, differently.
var refused = []string{"-race=true", "-msan=true", "-asan=true", "-cover=true", "-buildmode=pie", "-buildmode=c-shared", "-buildmode=c-archive", "-buildmode=plugin"}

// running describes the running program.
func running() (*program, error) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil, errors.New("the program does not say how it was built")
	}
	file, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &program{file: file, path: info.Path, module: info.Main.Path}
	vcs := "false"
	for _, s := range info.Settings {
		switch name, isFlag := strings.CutPrefix(s.Key, "-"); {
		case slices.Contains(refused, s.Key+"="+s.Value):
			return nil, fmt.Errorf("compiled cells need a program that is built without %s=%s", s.Key, s.Value)
		case name == "compiler", name == "buildmode" && s.Value == "exe":
		case isFlag:
			p.flags = append(p.flags, s.Key+"="+s.Value)
		case s.Key == "vcs":
			vcs = "true"
		case strings.ToUpper(s.Key) == s.Key && s.Key != "DefaultGODEBUG":
			p.env = append(p.env, s.Key+"="+s.Value)
		}
	}
	p.flags = append(p.flags, "-buildvcs="+vcs)
	if p.buildID = carriedSum(file); p.buildID != "" {
		p.carried = true
		return p, nil
	}
	if p.buildID, err = buildID(file); err != nil {
		return nil, err
	}
	return p, nil
}

// buildID returns the build ID that the linker has written into an ELF file.
func buildID(file string) (string, error) {
	f, err := elf.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if s := f.Section(".note.go.buildid"); s != nil {
		note, err := s.Data()
		const header, name = 12, "Go\x00\x00"
		if err == nil && len(note) > header+len(name) && bytes.Equal(note[header:header+len(name)], []byte(name)) {
			id := note[header+len(name):]
			return string(id[:min(len(id), int(binary.LittleEndian.Uint32(note[4:])))]), nil
		}
	}
	return "", errors.New("this program neither carries a compiler nor has a build ID: start halfnote with go run in its checkout")
}

// mainID returns the build ID of the program's package main, which is part of the program's.
func (p *program) mainID() string {
	parts := strings.Split(p.buildID, "/")
	if len(parts) != 4 {
		return ""
	}
	return parts[1] + "/" + parts[2]
}
