package notebook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
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

	// Watch writes the page while cells run, every two seconds; it reloads itself until the run
	// ends. Without HTML it is written into the working folder, as NAME.html. An output is written
	// as often.
	Watch bool
	// Resume continues an earlier run that wrote the same output: cells that ran to their end
	// without an error, up to the first that did not or whose source differs, ran before. If all
	// cells ran before, none runs. Otherwise the kernel of that run and its values are gone, so the
	// cells run again, except those tagged skip-on-resume, whose outputs stay.
	Resume bool
	// Fresh replaces all outputs. Without it, cells tagged timing keep those of the output file if no
	// code cell has changed since, so that a difference between two runs shows more than times.
	Fresh bool

	// Receipt stores hashes of what the run computes in the notebook. Verify compares them with a run instead of
	// storing them; without either, a run removes an earlier receipt from its output.
	// With Verify it ends after the first cell whose results differ, and the error is a [*Difference].
	Receipt, Verify bool

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

	page string // page of a watched run without HTML
}

// pageOf returns the file for the page of a watched notebook.
func pageOf(path string) string {
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)) + ".html"
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
		if o.Watch && o.HTML == "" {
			o.page = pageOf(path)
		}
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
	case o.Receipt && o.Resume:
		return errors.New("notebook: a resumed run does not run all cells, which a receipt needs; want receipt without resume")
	case o.Receipt && o.Output == "" && o.OutputDir == "":
		return errors.New("notebook: receipt: no output is given; want the file or folder for the notebook with its receipt")
	case o.Resume && o.Output == "" && o.OutputDir == "":
		return errors.New("notebook: resume: no output is given; want the file or folder that the earlier run wrote to")
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
	for _, path := range paths {
		if o.Resume && sameFile(path, o.out(path)) {
			return fmt.Errorf("notebook: resume: %s is also the output, which cannot show what has changed since; want another file for the output", path)
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
	resumed := 0
	if o.Resume {
		before, all, err := nb.resume(o.out(path))
		if err != nil {
			return err
		}
		if report.resumed(before, all); before == all {
			return o.write(path, nb)
		}
		resumed = before
	}
	options := Options{Timeout: o.Timeout, AllowErrors: o.AllowErrors, Progress: report.progress, Resumed: resumed}
	if o.Receipt || o.Verify {
		var err error
		if options.keeper, err = newKeeper(nb, o.Verify); err != nil {
			return err
		}
	}
	var w *watch
	if o.Watch || o.Resume {
		options.Progress = func(p Progress) {
			report.progress(p)
			w.progress(p)
		}
	}
	var earlier *Notebook
	if out := o.out(path); out != "" && !o.Fresh {
		earlier, _ = ReadFile(out) // without a readable one there is nothing to keep
	}
	runner := NewRunner(nb, options)
	run := func(ctx context.Context, k *client.Kernel) error {
		report.kernel(k.Info())
		if o.Watch || o.Resume {
			w = newWatch(runner, func(nb *Notebook, l *live) error { return o.writeLive(path, nb, l) })
			defer w.end()
		}
		return runner.Run(ctx, k)
	}
	if page := cmp.Or(o.HTML, o.page); o.Watch {
		report.watched(page)
	}
	err := withKernel(ctx, o, client.Options{Dir: filepath.Dir(path), Late: runner.Late}, run)
	var failure *CellError
	runner.Finish()
	if errors.As(err, &failure) && nb.Cells[failure.Index].completed() {
		nb.Cells[failure.Index].Count = 0 // it did not end, so that a run that resumes this one starts here
	}
	if err == nil && options.keeper != nil {
		if err = options.keeper.finish(nb); err == nil && o.Verify {
			return report.verified(options.keeper, time.Since(start))
		}
	}
	if options.keeper == nil {
		nb.setReceipt(nil) // it may not be that of this run
	}
	if err == nil && earlier != nil {
		report.kept(nb.keepTimes(earlier))
	}
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

// out returns the file for the executed notebook of path, "" for none.
func (o RunOptions) out(path string) string {
	if o.OutputDir != "" {
		return filepath.Join(o.OutputDir, filepath.Base(path))
	}
	return o.Output
}

func (o RunOptions) write(path string, nb *Notebook) error {
	return o.writeLive(path, nb, nil)
}

// writeLive writes the output and the page; with l, the run continues, and the
// running cell has no number in the output.
func (o RunOptions) writeLive(path string, nb *Notebook, l *live) error {
	var errs []error
	if page := cmp.Or(o.HTML, o.page); page != "" && (l == nil || o.Watch) {
		errs = append(errs, writeFile(page, func(w io.Writer) error { return writePage(w, nb, l, nil) }))
	}
	if out := o.out(path); out != "" {
		if l != nil && l.cell != nil {
			l.cell.Count = 0
		}
		errs = append(errs, nb.WriteFile(out))
	}
	return errors.Join(errs...)
}
