package notebook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"halfnote/kernel/client"
)

// RunOptions are the settings of [RunFiles].
type RunOptions struct {
	// Output is the file for the executed notebook, HTML the file for its page; both are
	// for a single notebook. OutputDir is the folder for executed notebooks, which keep
	// their file names. Without any of them nothing is written; the error reports
	// the outcome. An input notebook is overwritten only if it is named as the output.
	Output, OutputDir, HTML string

	Timeout     time.Duration // time limit of each cell; 0 means unlimited
	AllowErrors bool          // whether to continue after a cell that fails
	// Parameters are values of variables by name, see [Notebook.SetParameters].
	Parameters map[string]string

	// Progress gets a line for each cell, which is redrawn on a terminal, and the failed
	// cells; nil discards them.
	Progress io.Writer
	// Start starts a new kernel. The options hold the folder of the notebook and the
	// handler of output that arrives after its cell; Start may add to them.
	Start func(ctx context.Context, o client.Options) (*client.Kernel, error)
}

// RunFiles runs notebooks one after the other, each in a new kernel and in its own folder.
// After a notebook that fails, the next one runs. Outputs are also written for a notebook
// that failed, or was stopped because ctx ended, as far as it ran. The error names the
// notebooks that failed and wraps each CellError.
func RunFiles(ctx context.Context, paths []string, o RunOptions) error {
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	if err := o.check(paths); err != nil {
		return err
	}
	list := make([]*Notebook, len(paths))
	for i, path := range paths {
		nb, err := ReadFile(path)
		if err != nil {
			return err
		}
		if err := nb.SetParameters(o.Parameters); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		list[i] = nb
	}
	if o.OutputDir != "" {
		if err := os.MkdirAll(o.OutputDir, 0o755); err != nil {
			return fmt.Errorf("notebook: %w", err)
		}
	}
	var failed []error
	for i, path := range paths {
		if err := runFile(ctx, path, list[i], o); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", path, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	if len(paths) > 1 && len(failed) > 0 {
		failed = append(failed, fmt.Errorf("%d of %d notebooks failed", len(failed), len(paths)))
	}
	return errors.Join(failed...)
}

func (o RunOptions) check(paths []string) error {
	switch {
	case o.Output != "" && len(paths) > 1:
		return fmt.Errorf("notebook: one output file for %d notebooks, want an output folder", len(paths))
	case o.HTML != "" && len(paths) > 1:
		return fmt.Errorf("notebook: one HTML file for %d notebooks, want one notebook", len(paths))
	case o.Output != "" && o.OutputDir != "":
		return errors.New("notebook: an output file and an output folder are given; want one of them")
	}
	if o.OutputDir != "" {
		names := map[string]string{}
		for _, path := range paths {
			name := filepath.Base(path)
			if other, ok := names[name]; ok {
				return fmt.Errorf("notebook: %s and %s would both be written to %s", other, path, filepath.Join(o.OutputDir, name))
			}
			names[name] = path
		}
	}
	for _, path := range []string{o.Output, o.HTML} {
		if dir := filepath.Dir(path); path != "" {
			if info, err := os.Stat(dir); err != nil || !info.IsDir() {
				return fmt.Errorf("notebook: output %s: folder %s does not exist", path, dir)
			}
		}
	}
	return nil
}

func runFile(ctx context.Context, path string, nb *Notebook, o RunOptions) error {
	report := newReporter(o.Progress)
	start := time.Now()
	report.title(path)
	runner := NewRunner(nb, Options{Timeout: o.Timeout, AllowErrors: o.AllowErrors, Progress: report.progress})
	err := withKernel(ctx, o, client.Options{Dir: filepath.Dir(path), Late: runner.Late}, runner.Run)
	var failure *CellError
	runner.Finish()
	if err == nil || errors.As(err, &failure) {
		err = errors.Join(err, o.write(path, nb))
	}
	report.summary(nb, failure, err, time.Since(start))
	return err
}

// withKernel calls run with a new kernel, and then shuts the kernel down, even if ctx has
// ended.
func withKernel(ctx context.Context, o RunOptions, ko client.Options, run func(context.Context, *client.Kernel) error) error {
	k, err := o.Start(ctx, ko)
	if err != nil {
		return err
	}
	defer k.Close()
	err = run(ctx, k)
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	k.Shutdown(end, false) // Close kills a kernel that does not end in time
	return err
}

func (o RunOptions) write(path string, nb *Notebook) error {
	out := o.Output
	if o.OutputDir != "" {
		out = filepath.Join(o.OutputDir, filepath.Base(path))
	}
	var errs []error
	if out != "" {
		errs = append(errs, nb.WriteFile(out))
	}
	if o.HTML != "" {
		errs = append(errs, writeFile(o.HTML, func(w io.Writer) error { return HTML(w, nb) }))
	}
	return errors.Join(errs...)
}
