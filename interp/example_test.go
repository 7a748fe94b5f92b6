package interp_test

import (
	"context"
	"fmt"
	"io"
	"os"

	"halfnote/display"
	"halfnote/interp"
	"halfnote/kernel/eval"
)

// terminal is the output of cells that print.
type terminal struct{ display.Sink }

func (terminal) Stdout() io.Writer { return os.Stdout }
func (terminal) Stderr() io.Writer { return os.Stderr }

// Cells share variables, and a cell's last expression is its value.
func ExampleSession_Eval() {
	s, err := interp.NewSession(interp.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	for i, code := range []string{"x := 20\nfmt.Println(\"x is\", x)", "x + 22", "x + missing"} {
		r := s.Eval(context.Background(), eval.Cell{Code: code, Count: i + 1}, terminal{})
		if r.Value != nil {
			fmt.Println("value", r.Value)
		}
		if r.Err != nil {
			fmt.Println(r.Err)
		}
	}
	// Output:
	// x is 20
	// value 42
	// CompileError: In[3]:1:5: undefined: missing
}

func ExampleSession_Complete() {
	s, err := interp.NewSession(interp.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	code := "strings.Cut"
	for _, m := range s.Complete(code, len(code)).Matches {
		fmt.Println(m.Type, m.Text, m.Signature)
	}
	// Output:
	// function Cut (s string, sep string) (before string, after string, found bool)
	// function CutPrefix (s string, prefix string) (after string, found bool)
	// function CutSuffix (s string, suffix string) (before string, found bool)
}
