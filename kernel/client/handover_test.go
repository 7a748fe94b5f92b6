package client_test

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"testing"

	"github.com/go-zeromq/zmq4"

	"halfnote/kernel"
	"halfnote/kernel/client"
	"halfnote/kernel/jupyter"
)

// twin is another client of a kernel, with the identity of the first.
type twin struct {
	t       *testing.T
	codec   *jupyter.Codec
	session *kernel.Session
	sockets map[string]zmq4.Socket
}

// newTwin connects to the channels. With a key other than the kernel's the twin has
// stolen the identity.
func newTwin(t *testing.T, ctx context.Context, k *client.Kernel, identity, key string, channels ...string) *twin {
	t.Helper()
	conn := k.Connection()
	w := &twin{t: t, codec: jupyter.NewCodec(key), session: &kernel.Session{ID: identity, Username: "twin"}, sockets: map[string]zmq4.Socket{}}
	ports := map[string]int{"shell": conn.ShellPort, "control": conn.ControlPort, "stdin": conn.StdinPort}
	for _, channel := range channels {
		s := zmq4.NewDealer(ctx, zmq4.WithID(zmq4.SocketIdentity(identity)), zmq4.WithLogger(log.New(io.Discard, "", 0)))
		if err := s.Dial(conn.Endpoint(ports[channel])); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		w.sockets[channel] = s
	}
	return w
}

func (w *twin) send(channel, msgType string, content any) (id string) {
	w.t.Helper()
	b, err := json.Marshal(content)
	if err != nil {
		w.t.Fatal(err)
	}
	h := w.session.Header(msgType)
	if err := w.sockets[channel].SendMulti(zmq4.NewMsgFrom(w.codec.Encode(kernel.Message{Header: h, Content: b})...)); err != nil {
		w.t.Fatal(err)
	}
	return h.ID
}

func (w *twin) receive(channel string) client.Message {
	w.t.Helper()
	frames, err := w.sockets[channel].Recv()
	if err != nil {
		w.t.Fatalf("%s: %v", channel, err)
	}
	m, err := w.codec.Decode(frames.Frames)
	if err != nil {
		w.t.Fatal(err)
	}
	return client.Message{Channel: channel, Message: m}
}

// reply receives the reply to id on shell.
func (w *twin) reply(id string) (r client.Reply) {
	w.t.Helper()
	m := w.receive("shell")
	if m.Header.Type != "execute_reply" || m.Parent.ID != id {
		w.t.Fatalf("got %s to %s, want execute_reply to %s", m.Header.Type, m.Parent.ID, id)
	}
	if err := m.Decode(&r); err != nil {
		w.t.Fatal(err)
	}
	return r
}

func cell(code string) map[string]any { return map[string]any{"code": code, "allow_stdin": true} }

// identityOf returns the identity of k's sockets, which is its session.
func identityOf(t *testing.T, ctx context.Context, k *client.Kernel) string {
	t.Helper()
	reply, err := k.Execute(ctx, "", client.ExecuteOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return reply.Message.Parent.Session
}

// TestNewestClientIsServed checks that of three clients with one identity the newest
// is served.
func TestNewestClientIsServed(t *testing.T) {
	k, ctx := start(t, client.Options{})
	identity, key := identityOf(t, ctx, k), k.Connection().Key
	spinning := make(chan struct{})
	spin, err := k.SendRequest(client.Request{Channel: "shell", Type: "execute_request", Content: cell("print on\nspin")})
	if err != nil {
		t.Fatal(err)
	}
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	go spin.Wait(waiting, func(m client.Message) {
		if m.Header.Type == "stream" {
			close(spinning)
		}
	})
	<-spinning

	second := newTwin(t, ctx, k, identity, key, "shell", "control", "stdin")
	second.send("control", "interrupt_request", struct{}{})
	second.receive("control")
	second.send("shell", "kernel_info_request", struct{}{}) // proves that it has the key
	if r := second.reply(spin.ID); r.ErrorName != "Interrupted" {
		t.Errorf("the newest got %+v, want the reply to the cell that was interrupted", r)
	}
	if m := second.receive("shell"); m.Header.Type != "kernel_info_reply" {
		t.Errorf("the newest got %s, want kernel_info_reply", m.Header.Type)
	}
	if r := second.reply(second.send("shell", "execute_request", cell("result x"))); r.Status != "ok" {
		t.Errorf("the second's cell: %+v", r)
	}
	if _, err := k.Submit("set first displaced", client.ExecuteOptions{}); err != nil {
		t.Fatal(err)
	}

	third := newTwin(t, ctx, k, identity, key, "shell", "control", "stdin")
	ask := third.send("shell", "execute_request", cell("input name?"))
	question := third.receive("stdin")
	if question.Header.Type != "input_request" || question.Parent.ID != ask {
		t.Fatalf("got %s to %s, want input_request to %s", question.Header.Type, question.Parent.ID, ask)
	}
	third.send("stdin", "input_reply", map[string]any{"value": "from the third"})
	if r := third.reply(ask); r.Status != "ok" {
		t.Errorf("the third's cell: %+v", r)
	}
	second.send("shell", "execute_request", cell("set second displaced"))
	for _, name := range []string{"first", "second"} {
		if r := third.reply(third.send("shell", "execute_request", cell("get "+name))); r.ErrorName != "NameError" {
			t.Errorf("the displaced %s still runs cells: %+v", name, r)
		}
	}
	if err := k.Heartbeat(ctx); err != nil {
		t.Error(err)
	}
}

// TestStolenIdentity checks that a client without the key, which takes the identity
// while a cell waits for input, gains nothing.
func TestStolenIdentity(t *testing.T) {
	k, ctx := start(t, client.Options{})
	identity := identityOf(t, ctx, k)
	steal := func() {
		thief := newTwin(t, ctx, k, identity, "not the key", "shell", "control", "stdin")
		thief.send("stdin", "input_reply", map[string]any{"value": "from the thief"})
		thief.send("control", "shutdown_request", map[string]any{"restart": false})
		thief.send("shell", "execute_request", cell("set stolen yes"))
	}
	var printed string
	reply, err := k.Execute(ctx, "input name?", client.ExecuteOptions{
		Input: func(string, bool) (string, error) {
			steal()
			return "bob", nil
		},
	}, func(m client.Message) {
		var c struct{ Text string }
		if m.Header.Type == "stream" && m.Decode(&c) == nil {
			printed += c.Text
		}
	})
	if err != nil || reply.Status != "ok" || printed != "bob\n" {
		t.Errorf("got %+v, %v, printed %q; want the cell to print bob", reply, err, printed)
	}
	if reply, err := k.Execute(ctx, "get stolen", client.ExecuteOptions{}, nil); err != nil || reply.ErrorName != "NameError" {
		t.Errorf("the thief ran a cell: %+v, %v", reply, err)
	}
}
