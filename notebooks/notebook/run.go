package notebook

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"halfnote/kernel/client"
)

// Options are the settings of a run.
type Options struct {
	// Timeout limits the time of each cell; 0 means unlimited. A cell that takes longer is
	// interrupted and fails, even with AllowErrors.
	Timeout time.Duration
	// AllowErrors continues after a cell that fails; its error becomes an output.
	AllowErrors bool
	// Resumed is the number of cells that ran before, in a run that this one resumes. Those that are
	// tagged skip-on-resume keep their outputs and do not run again.
	Resumed int
	// keeper makes a receipt of the run, or compares the run with one; it may be nil.
	keeper *keeper
	// Progress is called when a cell starts and when it ends; it may be nil.
	Progress func(Progress)
}

// Progress is the state of a run.
type Progress struct {
	Number, Total int // number of the current cell, from 1, and of all cells that run
	Cell          *Cell
	Done          bool
	Elapsed       time.Duration // time that the cell took; set when Done
	Failed        bool          // whether the cell failed; set when Done
	// Live returns the current text of the last output that the running cell may change, such as a
	// progress bar, if it is one line, else "".
	Live func() string
}

// CellError reports the cell that made a run fail.
type CellError struct {
	Index  int // index of the cell in the notebook, from 0
	Count  int // the n of In [n]; 0 if the kernel did not report it
	Source string
	// Name, Value and Traceback describe the error of the cell. Name is "Timeout",
	// "Interrupted" or "KernelDied" if the error did not come from the cell's code.
	Name, Value string
	Traceback   []string
	Err         error // cause of an error that did not come from the cell's code; else nil
}

func (e *CellError) Error() string {
	s := fmt.Sprintf("notebook: cell %d", e.Index+1)
	if e.Count != 0 {
		s += fmt.Sprintf(" (In [%d])", e.Count)
	}
	return s + ": " + e.Name + ": " + e.Value
}

func (e *CellError) Unwrap() error { return e.Err }

// patience is the time limit for an interrupted cell to end, and for a kernel to shut down.
const patience = 5 * time.Second

// Runner executes the code cells of one notebook, as nbclient does. It skips blank cells
// and cells tagged skip-execution. An error in a cell tagged raises-exception is only an
// output.
type Runner struct {
	nb  *Notebook
	o   Options
	out *collector
}

// NewRunner returns a runner of a notebook, which changes as cells run. The notebook may
// be read after Run or, if Late is in use, after Finish.
func NewRunner(nb *Notebook, o Options) *Runner {
	return &Runner{nb, o, newCollector()}
}

// Late handles messages for cells that have ended. Set it in the kernel's client.Options,
// so that late output is added to the cell that caused it.
func (r *Runner) Late(m client.Message) { r.out.message(m.Parent.ID, m.Header.Type, m.Content) }

// Finish stops accepting late messages; the notebook does not change afterwards.
func (r *Runner) Finish() { r.out.finish() }

// Run executes the notebook on a kernel. The error is a *CellError if a cell failed, ran
// too long, was interrupted because ctx ended, or lost its kernel. The notebook then
// holds the outputs so far, and later cells are unchanged.
func (r *Runner) Run(ctx context.Context, k *client.Kernel) error {
	defer r.out.settle()
	r.describe(k.Info())
	defer r.saveWidgets(ctx, k)
	total := 0
	for _, c := range r.nb.Cells {
		if c.runs() {
			total++
		}
	}
	if err := r.o.keeper.begin(ctx, k); err != nil {
		return err
	}
	number := 0
	for i, c := range r.nb.Cells {
		if !c.runs() {
			continue
		}
		if number++; number <= r.o.Resumed && c.HasTag(skipOnResume) {
			continue
		}
		p := Progress{Number: number, Total: total, Cell: c, Live: r.out.live}
		r.tell(p)
		if err := r.o.keeper.starts(ctx, k, c); err != nil {
			return err
		}
		start := time.Now()
		failure, fatal := r.cell(ctx, k, c)
		p.Done, p.Elapsed, p.Failed = true, time.Since(start), failure != nil
		r.tell(p)
		if failure != nil && (fatal || !r.mayFail(c)) {
			failure.Index, failure.Count, failure.Source = i, c.Count, c.Source
			return failure
		}
		if goOn, err := r.o.keeper.ran(ctx, k, number-1, c); !goOn || err != nil {
			return err
		}
	}
	return nil
}

// Run executes a notebook on a kernel. It drops output that arrives after its cell has
// ended; [Runner] keeps it.
func Run(ctx context.Context, k *client.Kernel, nb *Notebook, o Options) error {
	return NewRunner(nb, o).Run(ctx, k)
}

func (r *Runner) tell(p Progress) {
	if r.o.Progress != nil {
		r.o.Progress(p)
	}
}

func (r *Runner) mayFail(c *Cell) bool { return r.o.AllowErrors || c.HasTag("raises-exception") }

// describe stores the language and the kernel in the metadata.
func (r *Runner) describe(info client.Info) {
	r.out.mu.Lock() // snapshot reads the metadata
	defer r.out.mu.Unlock()
	if r.nb.Metadata == nil {
		r.nb.Metadata = map[string]any{}
	}
	if info.LanguageInfo != nil {
		r.nb.Metadata["language_info"] = maps.Clone(info.LanguageInfo)
	}
	if _, ok := r.nb.Metadata["kernelspec"]; ok || info.Implementation == "" {
		return
	}
	language := r.nb.Language()
	display := info.Implementation
	if language != "" {
		display = strings.ToUpper(language[:1]) + language[1:] + " (" + display + ")"
	}
	r.nb.Metadata["kernelspec"] = map[string]any{"name": info.Implementation, "display_name": display, "language": language}
}

// cell runs one cell to its end. A fatal failure ends the run even if errors are allowed.
func (r *Runner) cell(ctx context.Context, k *client.Kernel, c *Cell) (failure *CellError, fatal bool) {
	if err := ctx.Err(); err != nil {
		return interrupted(err), true
	}
	call, err := k.Submit(c.Source, client.ExecuteOptions{ContinueOnError: r.mayFail(c)})
	if err != nil {
		return died(err), true
	}
	r.out.start(call.ID, c)
	var timeout <-chan time.Time
	if r.o.Timeout > 0 {
		t := time.NewTimer(r.o.Timeout)
		defer t.Stop()
		timeout = t.C
	}
	wait, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	var reply client.Reply
	done := make(chan struct{})
	go func() {
		defer close(done)
		var m client.Message
		if m, err = call.Wait(wait, r.Late); err == nil {
			err = m.Decode(&reply)
		}
	}()
	select {
	case <-done:
	case <-timeout:
		failure = &CellError{Name: "Timeout", Value: fmt.Sprintf("it ran longer than %v and was interrupted", r.o.Timeout), Err: context.DeadlineExceeded}
	case <-ctx.Done():
		failure = interrupted(context.Cause(ctx))
	}
	if failure != nil {
		if !r.stop(k, done) {
			failure.Value += ", but did not end"
		}
		giveUp()
		<-done
		r.out.count(c, reply.ExecutionCount, false)
		failure.Traceback = reply.Traceback
		var exit *client.ExitError
		if errors.As(err, &exit) {
			return died(err), true
		}
		return failure, true
	}
	switch {
	case err != nil:
		return died(err), true
	case r.out.err(call.ID) != nil:
		err := r.out.err(call.ID)
		return &CellError{Name: "Protocol", Value: err.Error(), Err: err}, true
	}
	r.out.count(c, reply.ExecutionCount, true)
	switch reply.Status {
	case "ok":
		return nil, false
	case "error":
		return &CellError{Name: reply.ErrorName, Value: reply.ErrorValue, Traceback: reply.Traceback}, false
	}
	return &CellError{Name: "NotRun", Value: fmt.Sprintf("the kernel answered with status %q", reply.Status)}, true
}

// stop interrupts the kernel and reports whether the cell ended in time.
func (r *Runner) stop(k *client.Kernel, done <-chan struct{}) bool {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	k.Interrupt(ctx) // after a failed interrupt the cell does not end, which the caller reports
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}

func interrupted(err error) *CellError {
	return &CellError{Name: "Interrupted", Value: "the run was stopped", Err: err}
}

func died(err error) *CellError {
	return &CellError{Name: "KernelDied", Value: err.Error(), Err: err}
}
