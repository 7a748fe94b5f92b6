package jupyter_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"halfnote/display"
	"halfnote/kernel"
	"halfnote/kernel/client"
	"halfnote/kernel/jupyter"
)

// calculator is a kernel for another language than Go: sums and products of numbers in postfix
// notation. Numbers stay on the stack from one cell to the next.
type calculator struct{ stack []float64 }

func (c *calculator) Language() kernel.Language {
	return kernel.Language{Name: "postfix", MIMEType: "text/plain", FileExtension: ".txt", Implementation: "calculator"}
}

func (c *calculator) Eval(_ context.Context, cell kernel.Cell, _ kernel.Output) kernel.Result {
	for word := range strings.FieldsSeq(cell.Code) {
		n := len(c.stack)
		x, err := strconv.ParseFloat(word, 64)
		switch {
		case err == nil:
			c.stack = append(c.stack, x)
		case word == "+" && n > 1:
			c.stack = append(c.stack[:n-2], c.stack[n-2]+c.stack[n-1])
		case word == "*" && n > 1:
			c.stack = append(c.stack[:n-2], c.stack[n-2]*c.stack[n-1])
		default:
			return kernel.Result{Err: &kernel.Error{Name: "SyntaxError", Value: word + ": want a number, or + or * after two"}}
		}
	}
	value := display.Text(fmt.Sprint(c.stack))
	return kernel.Result{Value: &value}
}

func (c *calculator) IsComplete(string) kernel.Completeness {
	return kernel.Completeness{Status: "complete"}
}

func (c *calculator) Close() error { return nil }

// init serves the calculator in a process that a client has started, as main would.
func init() {
	if os.Getenv("CALCULATOR") == "" {
		return
	}
	err := jupyter.Serve(context.Background(), jupyter.Config{ConnectionFile: os.Args[1], Process: true}, &calculator{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// A kernel for any language is an Evaluator. JupyterLab and every other front end can use it.
func Example() {
	ctx := context.Background()
	k, err := client.Start(ctx, client.Spec{
		Argv: []string{os.Args[0], "{connection_file}"}, Env: map[string]string{"CALCULATOR": "1"}, InterruptMode: "message",
	}, client.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer k.Close()
	for _, cell := range []string{"2 3 +", "4 *", "+"} {
		k.Execute(ctx, cell, client.ExecuteOptions{}, func(m client.Message) {
			var c struct {
				Data  map[string]string
				Name  string `json:"ename"`
				Value string `json:"evalue"`
			}
			m.Decode(&c)
			switch m.Header.Type {
			case "execute_result":
				fmt.Println(c.Data["text/plain"])
			case "error":
				fmt.Println(c.Name, c.Value)
			}
		})
	}
	// Output:
	// [5]
	// [20]
	// SyntaxError +: want a number, or + or * after two
}
