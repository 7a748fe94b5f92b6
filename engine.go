package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"halfnote/interp"
)

// engineError is the error that a command was told to use an engine that cannot be had. Its exit status is 2.
type engineError struct{ why string }

func (e *engineError) Error() string {
	return fmt.Sprintf("--engine %s: cells cannot be compiled: %s", interp.Compiled, e.why)
}

// available returns an *engineError unless a program can run cells on an engine: this program, or the same with GPU
// support.
func available(ctx context.Context, program, engine string) error {
	if engine != interp.Compiled {
		return nil
	}
	slow := time.AfterFunc(time.Second, func() {
		fmt.Fprintln(os.Stderr, "Preparing compiled cells, which takes a new build some seconds …")
	})
	defer slow.Stop()
	own, err := os.Executable()
	if err == nil && own == program {
		if err := interp.CompiledCells(); err != nil {
			return &engineError{err.Error()}
		}
		return nil
	}
	out, err := exec.CommandContext(ctx, program, "cells").CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return &engineError{strings.TrimPrefix(strings.TrimSpace(string(out)), "halfnote: ")}
	}
	return err
}

// cellsCommand is how another program of halfnote asks whether this one compiles cells.
type cellsCommand struct{}

func (cellsCommand) Run() error { return interp.CompiledCells() }

// other returns the name of an engine; "" for the default one.
func other(engine string) string {
	if engine == interp.Engines[0] {
		return ""
	}
	return engine
}

// secondEngine returns the engine of a second kernel that is installed together with the default
// one, for choice: the one that compiles cells, if that works here, or "".
func secondEngine(ctx context.Context, program, engine string) string {
	if engine != interp.Engines[0] || available(ctx, program, interp.Compiled) != nil {
		return ""
	}
	return interp.Compiled
}
