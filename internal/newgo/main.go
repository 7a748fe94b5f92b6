// Newgo tries a release of Go on this project: it builds and vets everything, runs the tests that guard
// what the project relies on, and prints the rows of docs/new-go.md with the result of each.
//
//	go run ./internal/newgo go1.27.4
//	go run ./internal/newgo -all go1.28.0
//
// The go command downloads the release. The exit status is 1 if a step fails, 2 if the command line is wrong.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
)

//go:generate go run . -page ../../docs/new-go.md

func main() {
	flags := flag.NewFlagSet("newgo", flag.ExitOnError)
	all := flags.Bool("all", false, "run every test of the project at the end")
	file := flags.String("page", "", "write the table of rows into this page, and try nothing")
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "usage: go run ./internal/newgo [-all] VERSION, for example go1.27.4")
		flags.PrintDefaults()
	}
	flags.Parse(os.Args[1:])
	if *file != "" {
		if err := writePage(*file); err != nil {
			fmt.Fprintln(os.Stderr, "newgo:", err)
			os.Exit(1)
		}
		return
	}
	if flags.NArg() != 1 {
		flags.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	good, err := try(ctx, os.Stdout, release(flags.Arg(0)), *all)
	if err != nil {
		fmt.Fprintln(os.Stderr, "newgo:", err)
	}
	if err != nil || !good {
		os.Exit(1)
	}
}

// release returns the name that the go command has for a version: go1.27.4 for 1.27.4.
func release(version string) string {
	if version == "" || version[0] < '0' || version[0] > '9' {
		return version
	}
	return "go" + version
}

// try runs the steps with a release of Go and prints their results. It reports whether all of them
// passed; an error says why nothing could be tried.
func try(ctx context.Context, w io.Writer, version string, all bool) (good bool, err error) {
	t := toolchain{ctx: ctx, version: version}
	if t.dir, err = root(); err != nil {
		return false, err
	}
	name, err := t.command("version").Output()
	if err != nil {
		return false, fmt.Errorf("release %s of Go cannot be had: %w", version, withStderr(err))
	}
	fmt.Fprintf(w, "%s", name)
	good = true
	step := func(args ...string) {
		out, err := t.command(args...).CombinedOutput()
		r := passed
		if err != nil {
			r = result{failed, lastLines(string(out), 20)}
		}
		good = good && err == nil
		r.print(w, "go "+strings.Join(args, " "))
	}
	step("build", "./...")
	step("vet", "./...")
	for _, pkg := range packages() {
		got, err := t.test(pkg)
		if err != nil {
			return false, err
		}
		for _, r := range rows {
			if r.pkg == pkg {
				rr := got.of(r)
				good = good && rr.verdict == pass
				rr.print(w, r.name)
			}
		}
	}
	if all {
		step("test", "-timeout", "30m", "./...")
	}
	return good, nil
}

// toolchain runs the go command of a release in the folder of the project.
type toolchain struct {
	ctx     context.Context
	version string
	dir     string
}

func (t toolchain) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.ctx, "go", args...)
	cmd.Dir = t.dir
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN="+t.version)
	return cmd
}

// root returns the folder of the module around the working folder.
func root() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", withStderr(err)
	}
	file := strings.TrimSpace(string(out))
	if filepath.Base(file) != "go.mod" {
		return "", errors.New("the working folder is not in a checkout of the project")
	}
	return filepath.Dir(file), nil
}

// withStderr adds what a process has written on its standard error to the error of its end.
func withStderr(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
	}
	return err
}

// lastLines returns the last n lines of a text.
func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
