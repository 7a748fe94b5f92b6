package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"halfnote/interp"
	"halfnote/kernel/client"
	"halfnote/notebooks/notebook"
)

type runCommand struct {
	Notebooks   []string          `arg:"" name:"notebook" help:"Notebooks to execute, one after the other, each in a fresh kernel." type:"path"`
	Output      string            `xor:"output" placeholder:"FILE" help:"Write the executed notebook to FILE."`
	OutputDir   string            `xor:"output" placeholder:"DIR" help:"Write the executed notebooks to DIR."`
	HTML        string            `placeholder:"FILE" help:"Write a self-contained page to FILE."`
	Timeout     time.Duration     `placeholder:"D" help:"Interrupt and fail a cell that runs longer than D, for example 90s or 10m."`
	AllowErrors bool              `help:"Continue after a cell that fails."`
	Watch       bool              `help:"Write the page while cells run; it reloads itself in a browser. Without --html, it is NAME.html in the working folder."`
	Resume      bool              `help:"Continue an earlier run with the same --output or --output-dir: a notebook whose cells all ran is not run again. Otherwise cells run again for their values, except those tagged skip-on-resume."`
	Fresh       bool              `help:"Replace the outputs of cells tagged timing too. Without it they stay as they are in the output if no code cell has changed since."`
	Receipt     bool              `help:"Store hashes of what the run computes in the executed notebook, for halfnote verify."`
	Set         map[string]string `mapsep:"none" placeholder:"NAME=VALUE" help:"Set a variable after the cell tagged parameters, as papermill -p does. VALUE is a Go literal or plain text. Repeat it for more."`
	Kernel      string            `xor:"kernel" placeholder:"NAME" help:"Run on an installed kernel instead of the built-in one."`
	severalRanks
	Engine              *string `xor:"kernel" enum:"${engines}" placeholder:"NAME" help:"Interpreter of cells: ${engines}; ${engine} by default."`
	TransportEncryption string  `default:"disabled" enum:"disabled,auto,required" help:"Encrypt the connection to the kernel: disabled, auto (if the kernel supports it) or required."`
}

func (c runCommand) Run(ctx context.Context) error {
	if c.Engine != nil {
		program, err := ownProgram(ctx)
		if err == nil {
			err = available(ctx, program, *c.Engine)
		}
		if err != nil {
			return err
		}
	}
	return notebook.RunFiles(ctx, c.Notebooks, notebook.RunOptions{
		Output: c.Output, OutputDir: c.OutputDir, HTML: c.HTML, Watch: c.Watch, Resume: c.Resume, Fresh: c.Fresh, Receipt: c.Receipt,
		Timeout: c.Timeout, AllowErrors: c.AllowErrors, Parameters: c.Set,
		Progress: os.Stderr,
		Start:    c.start,
	})
}

type verifyCommand struct {
	Notebooks []string      `arg:"" name:"notebook" help:"Notebooks with a receipt. They stay as they are." type:"existingfile"`
	Timeout   time.Duration `placeholder:"D" help:"Interrupt and fail a cell that runs longer than D."`
	Engine    *string       `enum:"${engines}" placeholder:"NAME" help:"Interpreter of cells: ${engines}; ${engine} by default."`
}

func (c verifyCommand) Run(ctx context.Context) error {
	run := runCommand{Engine: c.Engine, severalRanks: severalRanks{Ranks: 1}, TransportEncryption: "disabled"}
	return notebook.RunFiles(ctx, c.Notebooks, notebook.RunOptions{Verify: true, Timeout: c.Timeout, AllowErrors: true, Progress: os.Stderr, Start: run.start})
}

func (c runCommand) start(ctx context.Context, o client.Options) (*client.Kernel, error) {
	engine := interp.Engines[0]
	if c.Engine != nil {
		engine = *c.Engine
	}
	spec, err := ownSpec(ctx, engine)
	if c.Kernel != "" {
		spec, err = client.FindSpec(c.Kernel)
	}
	if err != nil {
		return nil, err
	}
	if c.several() {
		if c.Kernel != "" {
			return nil, fmt.Errorf("run: --ranks and --launcher are for the built-in kernel, not for --kernel %s; install --ranks adds a kernel with ranks", c.Kernel)
		}
		spec.Argv = slices.Insert(spec.Argv, 2, c.flags()...)
	}
	o.Stderr = os.Stderr
	o.TransportEncryption = c.TransportEncryption
	k, err := client.Start(ctx, spec, o)
	if err == nil && engine == interp.Compiled && k.Info().Engine != interp.CompiledLabel {
		_, why, _ := strings.Cut(k.Info().Banner, "\nNote: ")
		return nil, errors.Join(&engineError{why}, k.Close())
	}
	return k, err
}
