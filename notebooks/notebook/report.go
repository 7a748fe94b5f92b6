package notebook

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"halfnote/internal/text"
	"halfnote/kernel/client"
)

// reporter prints the progress of a run. On a terminal it redraws the line of the running
// cell with the elapsed time, and in place of its source with its progress bar.
type reporter struct {
	w        io.Writer
	terminal bool

	stop    chan struct{} // ends the redrawing of a line
	stopped chan struct{}
}

func newReporter(w io.Writer) *reporter {
	r := &reporter{w: w}
	if f, ok := w.(*os.File); ok && os.Getenv("TERM") != "dumb" {
		info, err := f.Stat()
		r.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return r
}

func (r *reporter) title(path string) { fmt.Fprintln(r.w, path) }

// kernel names the kernel and how it runs cells, if it says so.
func (r *reporter) kernel(info client.Info) {
	if info.Engine != "" {
		fmt.Fprintf(r.w, "on %s %s, %s\n", info.Implementation, info.ImplementationVersion, info.Engine)
	}
}

// resumed reports how many cells ran before.
func (r *reporter) resumed(before, all int) {
	switch {
	case before == all:
		fmt.Fprintf(r.w, "all %s ran before; nothing to do\n", text.Count(all, "cell"))
	case before > 0:
		fmt.Fprintf(r.w, "resuming: %s ran before, and run again for their values\n", text.Count(before, "cell"))
	}
}

// kept reports how many cells kept the times of an earlier run.
func (r *reporter) kept(n int) {
	if n > 0 {
		fmt.Fprintf(r.w, "no code has changed: %s tagged timing kept the earlier output; --fresh replaces it\n", text.Count(n, "cell"))
	}
}

// watched names the page of the run.
func (r *reporter) watched(page string) {
	if path, err := filepath.Abs(page); err == nil {
		page = path
	}
	fmt.Fprintf(r.w, "watch it in a browser: %s\n", page)
}

// verified reports the comparison with a receipt, and returns the differences as an error.
func (r *reporter) verified(p *keeper, d time.Duration) error {
	if p.against.Release != p.made.Release {
		fmt.Fprintf(r.w, "the receipt is of halfnote %s, and this is %s: the change log lists results whose bits have changed\n", p.against.Release, p.made.Release)
	}
	if different := p.difference(); different != nil {
		for _, line := range different.Lines {
			fmt.Fprintln(r.w, line)
		}
		if rest := len(p.before) - len(p.made.Cells); rest > 0 {
			fmt.Fprintf(r.w, "%s after it did not run\n", text.Count(rest, "cell"))
		}
		if p.same {
			fmt.Fprintln(r.w, "no result differs")
		}
		return different
	}
	ops, tensors := 0, 0
	for _, c := range p.against.Cells {
		ops += c.State.Ops
		tensors += len(c.State.Tensors)
	}
	fmt.Fprintf(r.w, "the same bits as in the receipt: %s, %s, %s, in %.2f s\n", text.Count(len(p.made.Cells), "cell"), text.Count(ops, "operation"), text.Count(tensors, "tensor"), d.Seconds())
	return nil
}

// sourceWidth is the number of characters shown of the first line of a cell. With the
// numbers before it and the time after it, the line has 80 columns.
const sourceWidth = 56

func (r *reporter) progress(p Progress) {
	line := func(d time.Duration) string {
		mark := ""
		if p.Failed {
			mark = "  failed"
		}
		total, what := fmt.Sprint(p.Total), p.Cell.Source
		if p.Live != nil && !p.Done && p.Live() != "" {
			what = p.Live()
		}
		return fmt.Sprintf("[%*d/%s] %-*s %6.2f s%s", len(total), p.Number, total, sourceWidth, firstLine(what), d.Seconds(), mark)
	}
	if !r.terminal {
		if p.Done {
			fmt.Fprintln(r.w, line(p.Elapsed))
		}
		return
	}
	if p.Done {
		close(r.stop)
		<-r.stopped
		fmt.Fprintf(r.w, "\r\x1b[K%s\n", line(p.Elapsed))
		return
	}
	r.stop, r.stopped = make(chan struct{}), make(chan struct{})
	go func(start time.Time) {
		defer close(r.stopped)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			fmt.Fprintf(r.w, "\r\x1b[K%s", line(time.Since(start)))
			select {
			case <-r.stop:
				return
			case <-tick.C:
			}
		}
	}(time.Now())
}

// firstLine returns the first line that is not blank, cut to sourceWidth.
func firstLine(source string) string {
	for line := range strings.Lines(source) {
		line = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return ' '
			}
			return r
		}, strings.TrimSpace(line))
		if line == "" {
			continue
		}
		if utf8.RuneCountInString(line) > sourceWidth {
			line = string([]rune(line)[:sourceWidth-1]) + "…"
		}
		return line
	}
	return ""
}

// summary ends a notebook's report: the failed cell with its traceback, or the number of
// cells that ran.
func (r *reporter) summary(nb *Notebook, c *CellError, err error, d time.Duration) {
	var b strings.Builder
	if c != nil {
		fmt.Fprintf(&b, "\ncell %d", c.Index+1)
		if c.Count > 0 {
			fmt.Fprintf(&b, ", In [%d],", c.Count)
		}
		fmt.Fprintf(&b, " failed:\n%s\n\n", indent(c.Source))
		trace := strings.Join(c.Traceback, "\n")
		if trace == "" {
			trace = c.Name + ": " + c.Value
		}
		if !r.terminal {
			trace = escape.ReplaceAllString(trace, "")
		}
		fmt.Fprintf(&b, "%s\n\n", trace)
	}
	if err != nil {
		io.WriteString(r.w, b.String())
		return
	}
	ran, failed := 0, 0
	for _, c := range nb.Cells {
		if c.runs() && c.Count > 0 {
			ran++
		}
		for _, o := range c.Outputs {
			if o.Type == Error {
				failed++
			}
		}
	}
	fmt.Fprintf(&b, "%s in %.2f s", text.Count(ran, "cell"), d.Seconds())
	if failed > 0 {
		fmt.Fprintf(&b, ", %s allowed", text.Count(failed, "error"))
	}
	b.WriteByte('\n')
	io.WriteString(r.w, b.String())
}

func indent(s string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n    ")
}
