// Command wheel builds the wheels of a release, for pip and uv:
//
//	go run ./internal/wheel                   all platforms, into the folder wheels
//	go run ./internal/wheel linux-arm64       one platform
//	go run ./internal/wheel -cpu linux-amd64  without the GPU backend, which needs a C compiler
//
// Builds from equal sources with equal versions of Go and of the C compiler have equal bytes.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"halfnote/install"
)

// platform is a platform of a wheel.
type platform struct {
	name, goos, goarch string
	tags               []string
	// target is the target of the C compiler for the build with the GPU backend, with the oldest version
	// of glibc that the tags name, or "".
	target string
	// mpi includes loading an MPI library, which makes a program for Linux need glibc.
	mpi bool
}

// platforms lists the platforms of a release. Without mpi, a program runs with every C library of Linux; Go 1.26 wants macOS 12.
var platforms = []platform{
	{"linux-amd64", "linux", "amd64", []string{"py3-none-manylinux_2_17_x86_64"}, "x86_64-linux-gnu.2.17", true},
	{"musllinux-amd64", "linux", "amd64", []string{"py3-none-musllinux_1_1_x86_64"}, "", false},
	{"linux-arm64", "linux", "arm64", []string{"py3-none-manylinux_2_17_aarch64", "py3-none-musllinux_1_1_aarch64"}, "", false},
	{"macos-amd64", "darwin", "amd64", []string{"py3-none-macosx_12_0_x86_64"}, "", true},
	{"macos-arm64", "darwin", "arm64", []string{"py3-none-macosx_12_0_arm64"}, "", true},
	{"windows-amd64", "windows", "amd64", []string{"py3-none-win_amd64"}, "", false},
}

func main() {
	out := flag.String("o", "wheels", "folder of the wheels")
	cpu := flag.Bool("cpu", false, "leave out the GPU backend of linux-amd64")
	zig := flag.String("zig", "python3 -m ziglang", "command of the C compiler zig, which PyPI's package ziglang has")
	flag.Parse()
	if err := build(*out, *cpu, *zig, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "wheel:", err)
		os.Exit(1)
	}
}

// build writes the wheels of the named platforms, or of all.
func build(out string, cpu bool, zig string, names []string) error {
	list, err := named(names)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, p := range list {
		if cpu {
			p.target = ""
		}
		path, err := p.build(out, zig)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		fmt.Printf("%s  %.1f MB\n", path, float64(info.Size())/1e6)
	}
	return nil
}

// named returns the platforms of that names, or all.
func named(names []string) (list []platform, err error) {
	if len(names) == 0 {
		return platforms, nil
	}
	var known []string
	for _, p := range platforms {
		known = append(known, p.name)
		if slices.Contains(names, p.name) {
			list = append(list, p)
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("unknown platform %q, want one of: %s", name, strings.Join(known, ", "))
		}
	}
	return list, nil
}

// build builds the program and writes its wheel into the folder out.
func (p platform) build(out, zig string) (path string, err error) {
	dir, err := os.MkdirTemp("", "halfnote-wheel")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "halfnote")
	cc, err := p.compiler(dir, zig)
	if err != nil {
		return "", err
	}
	cmd := p.command(program, cc)
	if text, err := cmd.CombinedOutput(); err != nil {
		hint := ""
		if p.target != "" {
			hint = "; this build needs zig (python3 -m pip install ziglang==0.17.1), or -cpu"
		}
		return "", fmt.Errorf("%s: %w%s\n%s", strings.Join(cmd.Args, " "), err, hint, text)
	}
	if p.compilesCells() {
		cmd := p.carry(program, cc)
		if text, err := cmd.CombinedOutput(); err != nil {
			fmt.Printf("%s: cells are not compiled: %v\n%s", p.name, err, text)
		}
	}
	binary, err := os.ReadFile(program)
	if err != nil {
		return "", err
	}
	version, err := version()
	if err != nil {
		return "", err
	}
	w, err := install.Distribution(binary, p.goos, version, p.tags)
	if err != nil {
		return "", err
	}
	if w.Licenses, err = p.licenses(); err != nil {
		return "", err
	}
	path = filepath.Join(out, w.FileName())
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	err = w.Write(f)
	return path, cmp.Or(err, f.Close())
}

// compiler writes a script that runs the C compiler zig for the platform, and returns its path. The script drops the folder of
// this machine's C library, which package cu names: its headers are not those of the target.
func (p platform) compiler(dir, zig string) (path string, err error) {
	path = filepath.Join(dir, "cc")
	script := fmt.Sprintf("#!/bin/sh\nfor a; do shift; [ \"$a\" = -I/usr/include ] || set -- \"$@\" \"$a\"; done\nexec %s cc -target %s \"$@\"\n", zig, p.target)
	return path, os.WriteFile(path, []byte(script), 0o755)
}

// command returns the command that builds the program, with the C compiler cc where the platform needs one.
func (p platform) command(program, cc string) *exec.Cmd {
	return p.run(cc, slices.Concat(p.goCommand(), []string{"build"}, p.flags("-s -w -buildid="), []string{"-o", program, "."}))
}

// compilesCells reports whether cells can be compiled on the platform, and this machine has the compiler for them.
func (p platform) compilesCells() bool {
	const here = runtime.GOOS + "/" + runtime.GOARCH
	return here == "linux/amd64" && p.goos+"/"+p.goarch == here
}

// carry returns the command that appends to the program what compiled cells need.
func (p platform) carry(program, cc string) *exec.Cmd {
	return p.run(cc, slices.Concat([]string{"go", "run", "./interp/internal/native/carry", program}, p.flags("-w -buildid="), []string{"--"}, p.goCommand()))
}

// goCommand returns the go command that builds the program.
func (p platform) goCommand() []string {
	if p.target != "" {
		return []string{"sh", "cuda/build.sh"}
	}
	return []string{"go"}
}

// flags returns the flags of the build with flags of the linker.
func (p platform) flags(linker string) []string {
	list := []string{"-trimpath", "-buildvcs=false", "-ldflags=" + linker}
	if p.mpi && p.target == "" { // cuda/build.sh uses cgo, which includes it
		list = append(list, "-tags=mpi")
	}
	return list
}

// run returns a command in the environment of the build.
func (p platform) run(cc string, command []string) *exec.Cmd {
	cgo := "CGO_ENABLED=0"
	if p.target != "" {
		cgo = "CC=" + cc
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "GOOS="+p.goos, "GOARCH="+p.goarch, "GOFLAGS=", cgo)
	return cmd
}

// version returns the release of the sources, as the command version of the program prints it.
func version() (string, error) {
	text, err := exec.Command("go", "run", ".", "version").Output()
	if err != nil {
		return "", fmt.Errorf("go run . version: %w", err)
	}
	fields := strings.FieldsFunc(string(text), func(r rune) bool { return r == ' ' || r == ',' })
	if len(fields) < 2 {
		return "", fmt.Errorf("go run . version printed %q, want the name and the release", text)
	}
	return fields[1], nil
}
