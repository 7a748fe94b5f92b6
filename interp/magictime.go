package interp

import (
	"context"
	"fmt"
	"go/ast"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"halfnote/internal/text"
	"halfnote/interp/internal/live"
	"halfnote/kernel"
)

func (s *Session) magicTime(c call) kernel.Result {
	start := time.Now()
	r := s.eval(c.ctx, c.in, c.out)
	if r.Err == nil {
		fmt.Fprintf(c.out.Stdout(), "time: %v\n", time.Since(start).Round(time.Microsecond))
	}
	return r
}

func (s *Session) magicTimeout(c call) kernel.Result {
	d, err := time.ParseDuration(c.args)
	if err != nil || d <= 0 {
		return s.wrong(c, "%%%%timeout %s: want a time such as 300ms or 2s", c.args)
	}
	ctx, cancel := context.WithTimeoutCause(c.ctx, d, timeLimit(d))
	defer cancel()
	return s.eval(ctx, c.in, c.out)
}

// timeLimit is the limit of a %%timeout that has stopped a cell.
type timeLimit time.Duration

func (l timeLimit) Error() string {
	if d := time.Duration(l); d < time.Second {
		return fmt.Sprintf("stopped after %v ms (%%%%timeout)", d.Seconds()*1e3)
	}
	return fmt.Sprintf("stopped after %v s (%%%%timeout)", time.Duration(l).Seconds())
}

// enough is the minimum duration of a measurement. It and the number of measurements
// are those of IPython's %timeit.
const (
	enough       = 200 * time.Millisecond
	measurements = 7
	maxLoops     = 1_000_000_000
)

// magicTimeit runs statements in a loop, several times, and prints the mean and the
// spread of the time per iteration.
func (s *Session) magicTimeit(c call) kernel.Result {
	loops, runs, err := timeitArgs(&c)
	if err != nil {
		return s.wrong(c, "%s", err)
	}
	x, loop, err := s.loopOf(c)
	if err != nil {
		return s.finish(x, err)
	}
	defer s.drop(x, false)
	var took []time.Duration // total time of each measurement
	measure := func(n int) time.Duration {
		start := time.Now()
		loop.Call([]reflect.Value{reflect.ValueOf(n)})
		return time.Since(start)
	}
	run := &live.Cell{N: c.in.Count, Out: c.out}
	err, left := s.live.Run(run, c.ctx.Done(), s.opts.Grace, func() (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = s.live.Recovered(r)
			}
		}()
		if loops == 0 {
			for loops = 1; measure(loops) < enough && loops < maxLoops; {
				loops *= 10
			}
		}
		for range runs {
			took = append(took, measure(loops))
		}
		return nil
	})
	s.stdio.flush()
	switch {
	case left:
		return s.finish(x, errLeft)
	case err != nil:
		return s.finish(x, err)
	}
	fmt.Fprint(c.out.Stdout(), spread(took, loops))
	return kernel.Result{}
}

// timeitArgs removes the options from the arguments of a call. The rest is the
// statement of a line, which keeps its column.
func timeitArgs(c *call) (loops, runs int, err error) {
	runs = measurements
	rest := c.args
	for strings.HasPrefix(rest, "-") {
		word, after, _ := strings.Cut(rest, " ")
		flag, value := word[:min(2, len(word))], word[min(2, len(word)):]
		if flag != "-n" && flag != "-r" {
			break // a minus sign, not an option
		}
		if value == "" {
			value, after, _ = strings.Cut(strings.TrimSpace(after), " ")
		}
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > maxLoops {
			return 0, 0, fmt.Errorf("%%timeit %s %s: want a number from 1 to %d", flag, value, maxLoops)
		}
		if flag == "-n" {
			loops = n
		} else {
			runs = n
		}
		rest = strings.TrimSpace(after)
	}
	if c.body != "" {
		if rest != "" {
			return 0, 0, fmt.Errorf("%%%%timeit %s: want only the options -n and -r here, and the code to time on the lines below", c.args)
		}
		return loops, runs, nil
	}
	if strings.TrimSpace(rest) == "" {
		return 0, 0, fmt.Errorf("%%timeit: want a statement to time")
	}
	at := len(c.in.Code) - len(rest)
	kept := strings.LastIndexByte(c.in.Code[:at], '\n') + 1
	c.in.Code = c.in.Code[:kept] + strings.Repeat(" ", at-kept) + rest
	return loops, runs, nil
}

// loopOf compiles the statements into a function func(n int) that runs them n times.
// Their variables are local to it; their declarations are the session's. The caller
// drops the returned cell after use.
func (s *Session) loopOf(c call) (*cell, reflect.Value, error) {
	p := split(c.in.Code)
	if slices.ContainsFunc(p.items, func(it item) bool { return it.kind != itemStatement }) {
		var decls []item
		for _, it := range p.items {
			if it.kind != itemStatement {
				decls = append(decls, it)
			}
		}
		in := c.in
		in.Code = laid(decls)
		if x, err := s.steps(c.ctx, in, c.out, "render"); err != nil {
			return x, reflect.Value{}, err
		}
		p.items = slices.DeleteFunc(p.items, func(it item) bool { return it.kind != itemStatement })
		c.in.Code = laid(p.items)
	}
	// Check the statements unchanged first: mistakes are then reported at their places,
	// and expressions whose values must be discarded in a function are found.
	x, err := s.steps(c.ctx, c.in, c.out, "bind")
	if err != nil {
		return x, reflect.Value{}, err
	}
	var b strings.Builder
	b.WriteString("func(n__ int) { for range n__ {\n")
	for i, it := range p.items {
		if e, ok := x.body.Body.List[i].(*ast.ExprStmt); ok && x.info.Types[e.X].IsValue() && !isTuple(x.info.Types[e.X].Type) {
			b.WriteString("_ = ")
		}
		fmt.Fprintf(&b, "/*line In[%d]:%d:%d*/%s\n", c.in.Count, it.line, it.col, it.text)
	}
	b.WriteString("} }")
	in := c.in
	in.Code = b.String()
	x, err = s.steps(c.ctx, in, c.out, "render")
	if err != nil {
		return x, reflect.Value{}, err
	}
	f, ok := s.engine.Slot(x.results[0].slot)
	if !ok || f.Kind() != reflect.Func {
		return x, f, fmt.Errorf("interp: the function to time is a %v", f)
	}
	return x, f, nil
}

// laid writes items at their places in the cell.
func laid(items []item) string {
	var b strings.Builder
	line, col := 1, 1
	for _, it := range items {
		if it.line > line {
			b.WriteString(strings.Repeat("\n", it.line-line))
			line, col = it.line, 1
		}
		if col > 1 {
			b.WriteString(";")
			col++
		}
		b.WriteString(strings.Repeat(" ", max(0, it.col-col)))
		b.WriteString(it.text)
		line += strings.Count(it.text, "\n")
		if i := strings.LastIndexByte(it.text, '\n'); i >= 0 {
			col = len(it.text) - i
		} else {
			col = it.col + len(it.text)
		}
	}
	return b.String()
}

// spread formats the time per iteration as IPython's %timeit does.
func spread(took []time.Duration, loops int) string {
	mean, deviation := 0.0, 0.0
	best, worst := math.Inf(1), 0.0
	var each []float64 // seconds
	for _, d := range took {
		t := d.Seconds() / float64(loops)
		each = append(each, t)
		mean += t / float64(len(took))
		best, worst = min(best, t), max(worst, t)
	}
	for _, t := range each {
		deviation += (t - mean) * (t - mean) / float64(len(each))
	}
	text := fmt.Sprintf("%s ± %s per loop (mean ± std. dev. of %s, %s each), best %s\n", seconds(mean), seconds(math.Sqrt(deviation)),
		text.Count(len(took), "run"), text.Count(loops, "loop"), seconds(best))
	if worst > 4*best && worst > 1e-6 {
		text = fmt.Sprintf("the slowest run took %.2f times as long as the fastest\n", worst/best) + text
	}
	return text
}

func seconds(t float64) string {
	for _, u := range []struct {
		name string
		size float64
	}{{"s", 1}, {"ms", 1e-3}, {"µs", 1e-6}} {
		if t >= u.size {
			return fmt.Sprintf("%.3g %s", t/u.size, u.name)
		}
	}
	return fmt.Sprintf("%.3g ns", t*1e9)
}
