package magic

import (
	"fmt"
	"go/ast"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"halfnote/interp/internal/front"
	"halfnote/interp/internal/syntax"
	"halfnote/kernel/eval"
)

func init() {
	add(Magic{
		Name: "%%timeit", Args: "[-n N] [-r R]", Takes: Go, Run: runTimeit,
		Help: "runs the cell many times and prints the time per run",
	})
	add(Magic{
		Name: "%timeit", Args: "[-n N] [-r R] STATEMENT", Takes: Go, Run: runTimeit,
		Help: "runs a statement many times and prints the time per run",
	})
}

// enough is the minimum duration of a measurement. It and the number of measurements
// are those of IPython's %timeit.
const (
	enough       = 200 * time.Millisecond
	measurements = 7
	maxLoops     = 1_000_000_000
)

// runTimeit runs statements in a loop, several times, and prints the mean and the
// spread of the time per iteration.
func runTimeit(c *Call) eval.Result {
	loops, runs, err := timeitArgs(c)
	if err != nil {
		return c.wrong("%s", err)
	}
	e, failed := c.loop()
	if failed != nil {
		return eval.Result{Err: failed}
	}
	defer e.Close()
	loop, ok := e.Value()
	if !ok || loop.Kind() != reflect.Func {
		return eval.Result{Err: &eval.Error{Name: "InternalError", Value: "the function to time is a " + loop.Kind().String()}}
	}
	var took []time.Duration // total time of each measurement
	measure := func(n int) time.Duration {
		start := time.Now()
		loop.Call([]reflect.Value{reflect.ValueOf(n)})
		return time.Since(start)
	}
	failed = e.Call(func() {
		if loops == 0 {
			for loops = 1; measure(loops) < enough && loops < maxLoops; {
				loops *= 10
			}
		}
		for range runs {
			took = append(took, measure(loops))
		}
	})
	if failed == nil {
		fmt.Fprint(c.Out.Stdout(), spread(took, loops))
	}
	return eval.Result{Err: failed}
}

// timeitArgs removes the options from the arguments of a call. The rest is the
// statement of a line, which keeps its column.
func timeitArgs(c *Call) (loops, runs int, err error) {
	runs = measurements
	rest := c.Args
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
	if c.Body != "" {
		if rest != "" {
			return 0, 0, fmt.Errorf("%%%%timeit %s: want only the options -n and -r here, and the code to time on the lines below", c.Args)
		}
		return loops, runs, nil
	}
	if strings.TrimSpace(rest) == "" {
		return 0, 0, fmt.Errorf("%%timeit: want a statement to time")
	}
	at := len(c.Cell.Code) - len(rest)
	kept := strings.LastIndexByte(c.Cell.Code[:at], '\n') + 1
	c.Cell.Code = c.Cell.Code[:kept] + strings.Repeat(" ", at-kept) + rest
	return loops, runs, nil
}

// loop compiles the statements into a function func(n int) that runs them n times.
// Their variables are local to it; their declarations are the session's. The function is the value
// of the evaluation.
func (c *Call) loop() (Evaluation, *eval.Error) {
	p := syntax.Split(c.Cell.Code)
	if slices.ContainsFunc(p.Items, func(it syntax.Item) bool { return it.Kind != syntax.Statement }) {
		var decls []syntax.Item
		for _, it := range p.Items {
			if it.Kind != syntax.Statement {
				decls = append(decls, it)
			}
		}
		in := c.Cell
		in.Code = laid(decls)
		e, failed := c.Evaluate(c.Ctx, in, c.Out)
		if failed != nil {
			return nil, failed
		}
		e.Close()
		p.Items = slices.DeleteFunc(p.Items, func(it syntax.Item) bool { return it.Kind != syntax.Statement })
		c.Cell.Code = laid(p.Items)
	}
	// Check the statements unchanged first: mistakes are then reported at their places,
	// and expressions whose values must be discarded in a function are found.
	k, failed := c.Check(c.Cell, c.Out)
	if failed != nil {
		return nil, failed
	}
	var b strings.Builder
	b.WriteString("func(n__ int) { for range n__ {\n")
	for i, it := range p.Items {
		if e, ok := k.Body.Body.List[i].(*ast.ExprStmt); ok && k.Info.Types[e.X].IsValue() && !front.IsTuple(k.Info.Types[e.X].Type) {
			b.WriteString("_ = ")
		}
		fmt.Fprintf(&b, "/*line In[%d]:%d:%d*/%s\n", c.Cell.Count, it.Line, it.Col, it.Text)
	}
	b.WriteString("} }")
	in := c.Cell
	in.Code = b.String()
	return c.Evaluate(c.Ctx, in, c.Out)
}
