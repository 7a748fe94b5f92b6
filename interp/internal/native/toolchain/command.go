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

// run returns the standard output of a go command, in the environment of the program's build.
func (g *goCommand) run(command ...string) (string, error) {
	cmd := exec.CommandContext(g.ctx, command[0], command[1:]...)
	cmd.Dir = g.dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOTOOLCHAIN="+cmp.Or(g.version, "local"), "GOWORK=off")
	if g.version != "" {
		cmd.Env = append(cmd.Env, "GOPROXY=off") // the Go that has built the program is there, or it has been removed
	}
	cmd.Env = append(cmd.Env, g.program.env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return "", fmt.Errorf("compiled cells need Go, %s: %w", runtime.Version(), err)
		}
		return "", fmt.Errorf("%s: %w: %s", strings.Join(command[:min(len(command), 3)], " "), err, strings.TrimSpace(errs.String()))
	}
	return out.String(), nil
}

// build is run with the flags of the program, which follow the subcommand and come before args.
func (g *goCommand) build(subcommand string, args ...string) (string, error) {
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
	out, err := g.run("go", "env", "GOVERSION", "GOTOOLDIR")
	version, dir, _ = strings.Cut(strings.TrimSpace(out), "\n")
	return version, dir, err
}

// target names the program's package main, and whether it is a test.
func (g *goCommand) target() (pkg string, isTest bool) {
	return strings.CutSuffix(g.program.path, ".test")
}

// packages returns the files of the packages of the program, after checking that the sources
// are still those of the program.
func (g *goCommand) packages() (map[string]string, error) {
	files, same, err := g.list()
	if err != nil {
		return nil, err
	}
	pkg, isTest := g.target()
	if same && !isTest {
		same, err = g.upToDate(pkg)
	}
	if !same && !isTest { // addresses compares tests, whose package main the go command makes each time
		return nil, errors.Join(fmt.Errorf("the sources in %s are not those of this program: build it again", g.dir), err)
	}
	return files, nil
}

// list returns the files of the packages of the program, and whether its package main is that of
// the program.
func (g *goCommand) list() (files map[string]string, same bool, err error) {
	pkg, isTest := g.target()
	args := []string{"-export", "-deps", "-f", "{{if .Export}}{{.ImportPath}}\t{{.BuildID}}\t{{.Export}}{{end}}", pkg}
	if isTest {
		args = slices.Insert(args, 0, "-test")
	}
	out, err := g.build("list", args...)
	if err != nil {
		return nil, false, err
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
		same = same || f[0] == g.program.path && f[1] == g.program.mainID()
	}
	return files, same, nil
}

// upToDate reports whether a build would leave the program as it is.
func (g *goCommand) upToDate(pkg string) (bool, error) {
	out, err := g.build("build", "-n", "-o", g.program.file, pkg)
	return !strings.Contains(out, "link"), err
}
