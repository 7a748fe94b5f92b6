// Command page runs cells of Go without a kernel, as a page in a browser does: the interpreter, tensors and autocast in one
// process, without sockets, files or other processes. Each argument is a cell. The command writes what cells print, and the
// text of their values. A cell that fails ends it with exit code 1.
//
// The tests run it in Node, compiled for js/wasm.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"halfnote/amp"
	"halfnote/display"
	"halfnote/internal/plumbing"
	"halfnote/interp"
	"halfnote/kernel/eval"
	"halfnote/tensor/driver"
)

// page is the output of cells. It shows the plain text of everything.
type page struct{}

func (page) Stdout() io.Writer { return os.Stdout }
func (page) Stderr() io.Writer { return os.Stderr }

func (page) Display(b display.Bundle) { fmt.Println(b) }

func (p page) Update(b display.Bundle) { p.Display(b) }

func (page) Clear(bool) {}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(cells []string) error {
	s, err := interp.NewSession(interp.Options{Leave: amp.Internal(plumbing.Token{}).CloseRegions})
	if err != nil {
		return err
	}
	defer s.Close()
	driver.SetHost(driver.Host{Poll: s.Poll, Source: s.Source, Tracing: s.Watch})
	for i, code := range cells {
		r := s.Eval(context.Background(), eval.Cell{Code: code, Count: i + 1}, page{})
		if r.Err != nil {
			return fmt.Errorf("cell %d: %w", i+1, r.Err)
		}
		if r.Value != nil {
			fmt.Println(r.Value)
		}
	}
	return nil
}
