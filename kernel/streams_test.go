package kernel_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/go-zeromq/zmq4"

	"halfnote/kernel"
	"halfnote/kernel/kerneltest"
)

// flushing writes nothing to stderr after each line, as who flushes both streams does.
type flushing struct{ kerneltest.Echo }

func (f *flushing) Eval(ctx context.Context, c kernel.Cell, out kernel.Output) kernel.Result {
	for i := range 10_000 {
		fmt.Fprintln(out.Stdout(), "line", i)
		out.Stderr().Write(nil)
	}
	return kernel.Result{}
}

func TestWritingNothingSendsNothing(t *testing.T) {
	s := serve(t, &flushing{}, kernel.Connection{Key: key})
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
		t.Errorf("%d lines in %d messages, want 10000 lines in few", lines, messages)
	}
}
