package jupyter_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-zeromq/zmq4"

	"halfnote/kernel"
	"halfnote/kernel/jupyter"
	"halfnote/kernel/kerneltest"
)

// flushing is an evaluator that writes no bytes to stderr after each line on stdout.
type flushing struct{ kerneltest.Echo }

func (f *flushing) Eval(ctx context.Context, c kernel.Cell, out kernel.Output) kernel.Result {
	for i := range 10_000 {
		fmt.Fprintln(out.Stdout(), "line", i)
		out.Stderr().Write(nil)
	}
	return kernel.Result{}
}

func TestEmptyWritesSendNothing(t *testing.T) {
	s := serve(t, &flushing{}, jupyter.Connection{Key: key})
	sub := s.dial(t, zmq4.Sub, s.conn.IOPubPort)
	receive(t, sub)
	shell := s.dial(t, zmq4.Dealer, s.conn.ShellPort)
	send(t, shell, message(header("1", "execute_request"), `{"code":"x"}`))
	messages, lines := 0, 0
	for state := ""; state != "idle"; {
		msgType, _, content := receive(t, sub)
		state, _ = content["execution_state"].(string)
		if msgType == "stream" {
			messages++
			lines += strings.Count(content["text"].(string), "\n")
		}
	}
	if lines != 10_000 || messages > 1000 {
		t.Errorf("got %d lines in %d messages, want 10000 lines in at most 1000", lines, messages)
	}
}

// ending is an Echo that signals the end of its cell.
type ending struct {
	kerneltest.Echo
	ended chan struct{}
}

func (e *ending) Eval(ctx context.Context, c kernel.Cell, out kernel.Output) kernel.Result {
	defer close(e.ended)
	return e.Echo.Eval(ctx, c, out)
}

// TestLostOutputIsReported interrupts a cell whose front end does not read. The notice
// in the cell must count the lost bytes exactly.
func TestLostOutputIsReported(t *testing.T) {
	const size = 60_000_000
	cell := &ending{ended: make(chan struct{})}
	s := serve(t, cell, jupyter.Connection{Key: key})
	sub := s.dial(t, zmq4.Sub, s.conn.IOPubPort)
	receive(t, sub)
	shell := s.dial(t, zmq4.Dealer, s.conn.ShellPort)
	control := s.dial(t, zmq4.Dealer, s.conn.ControlPort)
	send(t, shell, message(header("1", "execute_request"), fmt.Sprintf(`{"code":"repeat %d x"}`, size)))
	arrived := 0
	for msgType := ""; msgType != "stream"; {
		var content map[string]any
		if msgType, _, content = receive(t, sub); msgType == "stream" {
			arrived += len(content["text"].(string))
		}
	}
	send(t, control, message(header("stop", "interrupt_request"), "{}"))
	receive(t, control)
	<-cell.ended // the cell has ended before its output was sent: the queues cannot hold it
	missing := -1
	for state := ""; state != "idle"; {
		msgType, parent, content := receive(t, sub)
		if parent != "1" {
			continue
		}
		state, _ = content["execution_state"].(string)
		if msgType != "stream" {
			continue
		}
		text := content["text"].(string)
		if content["name"] == "stderr" {
			if _, err := fmt.Sscanf(text, "\n%d bytes of output were lost here: ", &missing); err != nil {
				t.Errorf("stderr: got %q, want a notice of the lost bytes", text)
			}
			continue
		}
		arrived += len(text)
	}
	if missing <= 0 || arrived+missing != size {
		t.Errorf("%d bytes arrived and %d were reported lost, want a sum of %d", arrived, missing, size)
	}
}

// keeping is an Echo that shows kept outputs by a command.
type keeping struct {
	kerneltest.Echo
	outputs kernel.KeptOutputs
}

func (e *keeping) UseOutputs(o kernel.KeptOutputs) { e.outputs = o }
func (e *keeping) OutputCell(count int) string     { return fmt.Sprint("again ", count) }

// TestReconnectingFrontEndGetsNotice checks that a front end that was disconnected for
// not reading gets a notice, and the end of the cell, when it reconnects.
func TestReconnectingFrontEndGetsNotice(t *testing.T) {
	e := &keeping{}
	s := serveConfig(t, e, jupyter.Config{Connection: jupyter.Connection{Key: key}, History: filepath.Join(t.TempDir(), "h.sqlite")})
	s.dial(t, zmq4.Sub, s.conn.IOPubPort) // never read
	reading := s.dial(t, zmq4.Sub, s.conn.IOPubPort)
	receive(t, reading)
	shell := s.dial(t, zmq4.Dealer, s.conn.ShellPort)
	send(t, shell, message(header("1", "execute_request"), `{"code":"repeat 90000000 x"}`))
	for state := ""; state != "idle"; {
		_, _, content := receive(t, reading)
		state, _ = content["execution_state"].(string)
	}
	receive(t, shell)
	back := s.dial(t, zmq4.Sub, s.conn.IOPubPort)
	for i, want := range []string{"iopub_welcome map[subscription:]", "stream map[name:stderr text:\noutput was lost here: the front end stopped reading; again 1 shows the output that was kept\n]", "status map[execution_state:idle]"} {
		msgType, parent, content := receive(t, back)
		if got := fmt.Sprint(msgType, " ", content); got != want || i > 0 && parent != "1" {
			t.Errorf("got %q to %q, want %q", got, parent, want)
		}
	}
	kept, err := e.outputs.Outputs(0, 1)
	if err != nil || len(kept) != 2 || !strings.HasPrefix(kept[0].Text, "8") || len(kept[1].Text) < 5_000_000 || strings.Trim(kept[1].Text, "x") != "" {
		t.Errorf("kept: got %d outputs (%v), want the number of dropped bytes and the last ones", len(kept), err)
	}
	another := s.dial(t, zmq4.Sub, s.conn.IOPubPort)
	receive(t, another)
	send(t, shell, message(header("2", "execute_request"), `{"code":""}`))
	if msgType, parent, _ := receive(t, another); parent != "2" {
		t.Errorf("got %s to %q, want the next cell, and no notice", msgType, parent)
	}
}
