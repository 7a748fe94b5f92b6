package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"halfnote/install"
	"halfnote/install/wheel"
	"halfnote/internal/release"
)

// builder builds wheels.
type builder struct {
	out string    // folder of the wheels
	zig string    // command of the C compiler zig
	log io.Writer // gets a line for each step, and what the go command prints
}

// result is a wheel that was built.
type result struct {
	path string
	size int64
	// lacks is the error for which the program does not carry the compiler of its cells, or nil.
	lacks error
}

// build builds the program of a platform and writes its wheel.
func (b builder) build(ctx context.Context, p platform) (r result, err error) {
	dir, err := os.MkdirTemp("", "halfnote-wheel")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	step := func(what string) { fmt.Fprintf(b.log, "%s: %s\n", p.name, what) }
	program, cc := filepath.Join(dir, "halfnote"), ""
	what := "compiling the program"
	if p.gpu {
		what += " with the GPU backend"
		if cc, err = b.compiler(dir, p.target); err != nil {
			return r, err
		}
	}
	step(what)
	if err := b.run(p.command(ctx, program, cc)); err != nil {
		return r, err
	}
	if p.carries() {
		step("adding the compiler of its cells")
		if r.lacks = b.run(p.carry(ctx, program, cc)); r.lacks != nil && ctx.Err() != nil {
			return r, r.lacks
		}
	}
	step("writing the wheel")
	binary, err := os.ReadFile(program)
	if err != nil {
		return r, err
	}
	tags, err := p.wheelTags(binary)
	if err != nil {
		return r, err
	}
	w, err := install.Distribution(binary, p.goos, release.Version, tags)
	if err != nil {
		return r, err
	}
	if w.Licenses, err = p.licenses(); err != nil {
		return r, err
	}
	r.path = filepath.Join(b.out, w.FileName())
	r.size, err = pack(w, binary, p.carries() && r.lacks == nil, r.path)
	return r, err
}

// pack writes a wheel with the bill of materials of its program, and next to it the statement about it. It returns the size of the wheel.
func pack(w wheel.Wheel, program []byte, compiler bool, path string) (size int64, err error) {
	parts, err := bill(program, w.Licenses, compiler)
	if err != nil {
		return 0, err
	}
	text, err := pretty(parts)
	if err != nil {
		return 0, err
	}
	w.Bills = []wheel.File{{Name: bomName, Mode: 0o644, Content: text}}
	var archive bytes.Buffer
	if err := w.Write(&archive); err != nil {
		return 0, err
	}
	if text, err = pretty(attest(filepath.Base(path), archive.Bytes(), parts)); err != nil {
		return 0, err
	}
	unfinished := path + ".part" // nothing takes an unfinished wheel for one
	defer os.Remove(unfinished)
	return int64(archive.Len()), errors.Join(os.WriteFile(unfinished, archive.Bytes(), 0o666), os.Rename(unfinished, path), os.WriteFile(path+".intoto.json", text, 0o666))
}

// run runs a command, whose messages go to the log.
func (b builder) run(cmd *exec.Cmd) error {
	cmd.Stderr = b.log
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
	}
	return nil
}

// checkZig returns an error unless the C compiler zig runs.
func (b builder) checkZig(ctx context.Context) error {
	command := append(strings.Fields(b.zig), "version")
	if out, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("-gpu needs the C compiler zig, and %q fails: %w: %s: install it with python3 -m pip install ziglang==0.17.1, or name its command with -zig",
			strings.Join(command, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// compiler writes a script that runs the C compiler zig for a target, and returns its path. The script drops the folder of
// this machine's C library, which package cu names: its headers are not those of the target.
func (b builder) compiler(dir, target string) (path string, err error) {
	path = filepath.Join(dir, "cc")
	script := fmt.Sprintf("#!/bin/sh\nfor a; do shift; [ \"$a\" = -I/usr/include ] || set -- \"$@\" \"$a\"; done\nexec %s cc -target %s \"$@\"\n", b.zig, target)
	return path, os.WriteFile(path, []byte(script), 0o755)
}

// command returns the command that builds the program, with the C compiler cc where the platform needs one.
func (p platform) command(ctx context.Context, program, cc string) *exec.Cmd {
	command := slices.Concat(p.goCommand(), []string{"build"}, p.flags(), []string{"-o", program, "."})
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(p.env(), "CC="+cc)
	return cmd
}

// env returns the environment in which the go command builds for the platform.
func (p platform) env() []string {
	cgo := "0"
	if p.gpu {
		cgo = "1"
	}
	return append(os.Environ(), "GOOS="+p.goos, "GOARCH="+p.goarch, "GOFLAGS=", "CGO_ENABLED="+cgo)
}

// carry returns the command that appends to the program what compiled cells need. It runs on this machine, and reads in the program
// which system that is for.
func (p platform) carry(ctx context.Context, program, cc string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", slices.Concat([]string{"run", "./interp/internal/native/carry", program}, p.flags(), []string{"--"}, p.goCommand())...)
	cmd.Env = append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=0", "CC="+cc)
	return cmd
}

// goCommand returns the go command that builds the program.
func (p platform) goCommand() []string {
	if p.gpu {
		return []string{"sh", "cuda/build.sh"}
	}
	return []string{"go"}
}

// flags returns the flags of the build.
func (p platform) flags() []string {
	list := []string{"-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid="}
	if p.mpi && !p.gpu { // cuda/build.sh uses cgo, which includes it
		list = append(list, "-tags=mpi")
	}
	return list
}
