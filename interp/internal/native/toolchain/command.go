package toolchain

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// goCommand runs the installed go command for a program, in the folder of its sources.
type goCommand struct {
	ctx     context.Context
	dir     string
	command []string // the go command that builds, such as sh cuda/build.sh
	program *program
	version string // of the Go to run, if it is not the installed one
}

// run returns what a go command prints, in the environment of the program's build: its output, and
// its notes on standard error.
func (g *goCommand) run(command ...string) (out, notes string, err error) {
	cmd := exec.CommandContext(g.ctx, command[0], command[1:]...)
	cmd.Dir = g.dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOTOOLCHAIN="+cmp.Or(g.version, "local"), "GOWORK=off")
	if g.version != "" {
		cmd.Env = append(cmd.Env, "GOPROXY=off") // the Go that has built the program is there, or it has been removed
	}
	cmd.Env = append(cmd.Env, g.program.env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return "", "", fmt.Errorf("compiled cells need the Go that built this program, %s: %w: install it, or add its folder to PATH", runtime.Version(), err)
		}
		if g.ctx.Err() != nil {
			return "", "", fmt.Errorf("%s: %w", strings.Join(command[:min(len(command), 3)], " "), context.Cause(g.ctx))
		}
		return "", "", fmt.Errorf("%s: %w: %s", strings.Join(command[:min(len(command), 3)], " "), err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), stderr.String(), nil
}

// build is run with the flags of the program, which follow the subcommand and come before args.
func (g *goCommand) build(subcommand string, args ...string) (out, notes string, err error) {
	return g.run(slices.Concat(g.command, []string{subcommand}, g.program.flags, args)...)
}

// compiler returns the file of the compiler, whose version is that of the program. The go command that is called first
// may be of another version: go run has then built the program with one that the go command has downloaded, and
// later commands run that one too.
func (g *goCommand) compiler() (string, error) {
	version, tools, err := g.tools()
	if err != nil {
		return "", err
	}
	if version == runtime.Version() {
		return filepath.Join(tools, "compile"), nil
	}
	installed := version
	g.version = runtime.Version()
	if version, tools, err = g.tools(); err != nil || version != runtime.Version() {
		return "", fmt.Errorf("compiled cells need the Go that built this program, %s, and %s is installed: build the program again", runtime.Version(), installed)
	}
	return filepath.Join(tools, "compile"), nil
}

// tools returns the version of Go and the folder of its compiler.
func (g *goCommand) tools() (version, dir string, err error) {
	out, _, err := g.run("go", "env", "GOVERSION", "GOTOOLDIR")
	version, dir, _ = strings.Cut(strings.TrimSpace(out), "\n")
	return version, dir, err
}

// target names the program's package main, and whether it is a test.
func (g *goCommand) target() (pkg string, isTest bool) {
	return strings.CutSuffix(g.program.path, ".test")
}

// packages returns the files of the packages of the program, and the ways in which it can have been built. The sources
// have to be those of the program, as far as the build IDs of package main show it.
func (g *goCommand) packages() (files map[string]string, ways []way, err error) {
	files, main, err := g.list()
	pkg, isTest := g.target()
	if err != nil || isTest {
		return files, tests, err
	}
	ran := built
	ran.flags = []string{"-gcflags=" + pkg + "=" + strings.Join(append(g.program.mainFlags(), "-dwarf=false"), " ")} // as go run compiles package main
	switch g.program.mainID {
	case "":
		return files, []way{built, ran}, nil
	case main:
		return files, []way{built}, nil
	}
	if _, main, err = g.list(ran.flags...); err == nil && main != g.program.mainID {
		err = g.changed("package main")
	}
	return files, []way{ran}, err
}

// changed returns the error that the sources are not those of the program, in which a part differs.
func (g *goCommand) changed(part string) error {
	return fmt.Errorf("a build of the sources in %s is not this program, whose %s differs: they, or Go, have changed since: build it again there; go run . does, and go run . install for a kernel of Jupyter", g.dir, part)
}

// list returns the files of the packages of the program. main is the content part of the build ID of its package
// main, which is "" for a test, because the go command makes that package each time.
func (g *goCommand) list(flags ...string) (files map[string]string, main string, err error) {
	pkg, isTest := g.target()
	args := append(flags, "-buildvcs=false", "-export", "-deps", "-f", "{{if .Export}}{{.ImportPath}}\t{{.BuildID}}\t{{.Export}}{{end}}", pkg)
	if isTest {
		args = append([]string{"-test"}, args...)
	}
	out, _, err := g.build("list", args...)
	if err != nil {
		return nil, "", fmt.Errorf("compiled cells need the packages of this program: %w", err)
	}
	files = map[string]string{}
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if len(f) != 3 {
			continue
		}
		path, _, variant := strings.Cut(f[0], " ") // a package compiled for a test has its name appended
		if _, ok := files[path]; !ok || variant {
			files[path] = f[2]
		}
		if f[0] == pkg && !isTest {
			_, main, _ = strings.Cut(f[1], "/")
		}
	}
	return files, main, nil
}

// upToDate reports whether a build would leave the program as it is: then all that it was made from is the
// same.
func (g *goCommand) upToDate() bool {
	pkg, _ := g.target()
	a, err1 := os.Stat(g.program.file)
	b, err2 := os.Stat(g.program.image)
	if err1 != nil || err2 != nil || !os.SameFile(a, b) {
		return false
	}
	_, notes, err := g.build("build", fmt.Sprintf("-buildvcs=%t", g.program.vcs), "-n", "-o", g.program.file, pkg)
	return err == nil && strings.TrimSpace(notes) == "touch "+g.program.file
}
