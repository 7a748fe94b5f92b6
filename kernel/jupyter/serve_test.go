package jupyter_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"

	"halfnote/kernel"
	"halfnote/kernel/jupyter"
	"halfnote/kernel/kerneltest"
)

const key = "a key"

// served is a kernel in this process.
type served struct {
	conn  jupyter.Connection
	log   lockedBuffer
	end   context.CancelFunc
	ended chan error
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func serve(t *testing.T, e kernel.Evaluator, conn jupyter.Connection) *served {
	t.Helper()
	return serveConfig(t, e, jupyter.Config{Connection: conn})
}

func serveConfig(t *testing.T, e kernel.Evaluator, c jupyter.Config) *served {
	t.Helper()
	s := &served{ended: make(chan error, 1)}
	ctx, end := context.WithCancel(context.Background())
	s.end = end
	ready := make(chan jupyter.Connection, 1)
	go func() {
		c.Log, c.Ready = &s.log, func(c jupyter.Connection) { ready <- c }
		s.ended <- jupyter.Serve(ctx, c, e)
	}()
	select {
	case s.conn = <-ready:
	case err := <-s.ended:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.end()
		if err := <-s.ended; err != nil {
			t.Error(err)
		}
		s.ended <- nil
	})
	return s
}

// dial connects a DEALER, or a SUB that subscribes to everything, to a port.
func (s *served) dial(t *testing.T, kind zmq4.SocketType, port int) zmq4.Socket {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	t.Cleanup(cancel)
	quiet := zmq4.WithLogger(log.New(io.Discard, "", 0))
	var sock zmq4.Socket
	if kind == zmq4.Sub {
		sock = zmq4.NewSub(ctx, quiet)
		if err := sock.SetOption(zmq4.OptionSubscribe, ""); err != nil {
			t.Fatal(err)
		}
	} else {
		sock = zmq4.NewDealer(ctx, quiet)
	}
	if err := sock.Dial(s.conn.Endpoint(port)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sock.Close() })
	return sock
}

// message returns a message's frames, signed independently of the package's code.
func message(header, content string) [][]byte {
	m := hmac.New(sha256.New, []byte(key))
	fmt.Fprint(m, header, "{}", "{}", content)
	return frames("<IDS|MSG>", hex.EncodeToString(m.Sum(nil)), header, "{}", "{}", content)
}

func header(id, msgType string) string {
	return fmt.Sprintf(`{"msg_id":%q,"msg_type":%q,"session":"s","username":"u","date":"","version":"5.3"}`, id, msgType)
}

func frames(list ...string) [][]byte {
	var out [][]byte
	for _, f := range list {
		out = append(out, []byte(f))
	}
	return out
}

func send(t *testing.T, s zmq4.Socket, frames [][]byte) {
	t.Helper()
	if err := s.SendMulti(zmq4.NewMsgFrom(frames...)); err != nil {
		t.Fatal(err)
	}
}

// receive returns the next message's type, its parent's id and its content.
func receive(t *testing.T, s zmq4.Socket) (msgType, parent string, content map[string]any) {
	t.Helper()
	m, err := s.Recv()
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for string(m.Frames[at]) != "<IDS|MSG>" {
		at++
	}
	body := m.Frames[at+2:]
	mac := hmac.New(sha256.New, []byte(key))
	for _, b := range body[:4] {
		mac.Write(b)
	}
	if got, want := string(m.Frames[at+1]), hex.EncodeToString(mac.Sum(nil)); got != want {
		t.Fatalf("signature: got %s, want %s", got, want)
	}
	var h, p struct {
		ID   string `json:"msg_id"`
		Type string `json:"msg_type"`
	}
	for i, v := range []any{&h, &p, nil, &content} {
		if v == nil {
			continue
		}
		if err := json.Unmarshal(body[i], v); err != nil {
			t.Fatalf("part %d, %s: %v", i, body[i], err)
		}
	}
	return h.Type, p.ID, content
}

func TestMalformedMessages(t *testing.T) {
	s := serve(t, &kerneltest.Echo{}, jupyter.Connection{Key: key})
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	for _, tt := range []struct {
		name   string
		frames [][]byte
		logged string // reason in the log; "" if the message is answered
	}{
		{"garbage", frames("garbage"), "no <IDS|MSG> among 2 frames"},
		{"six frames", frames("x", "x", "x", "x", "x", "x"), "no <IDS|MSG> among 7 frames"},
		{"empty frame", frames(""), "no <IDS|MSG>"},
		{"delimiter alone", frames("<IDS|MSG>"), "0 frames after"},
		{"wrong signature", frames("<IDS|MSG>", strings.Repeat("0", 64), "{}", "{}", "{}", "{}"), "wrong signature"},
		{"header not JSON", message("notjson", "{}"), "header: not a JSON object"},
		{"header of numbers", message(`{"msg_id":1,"msg_type":2}`, "{}"), "header: json"},
		{"no content", message(header("a", "execute_request"), "{}"), ""},
		{"list", message(header("b", "execute_request"), "[1,2]"), ""},
		{"not UTF-8", message(header("c", "execute_request"), "{\"code\":\"\xff\xfe\"}"), ""},
		{"deep nesting", message(header("d", "execute_request"), `{"code":`+deep+`}`), ""},
		{"deep nesting in another field", message(header("e", "execute_request"), `{"code":"","x":`+deep+`}`), ""},
		{"not JSON", message(header("f", "execute_request"), `{`), ""},
		{"content missing", message(header("g", "execute_request"), ``), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for name, port := range map[string]int{"shell": s.conn.ShellPort, "control": s.conn.ControlPort, "stdin": s.conn.StdinPort} {
				if tt.logged == "" && name != "shell" {
					continue
				}
				sock := s.dial(t, zmq4.Dealer, port)
				send(t, sock, tt.frames)
				if tt.logged == "" {
					msgType, _, content := receive(t, sock)
					if msgType != "execute_reply" || content["status"] != "error" || content["ename"] != "BadRequest" {
						t.Errorf("%s: got %s %v, want an execute_reply whose status is error", name, msgType, content)
					}
				}
				if name == "stdin" {
					continue // no answer there
				}
				id := tt.name + " " + name
				send(t, sock, message(header(id, "kernel_info_request"), "{}"))
				if msgType, parent, _ := receive(t, sock); msgType != "kernel_info_reply" || parent != id {
					t.Errorf("%s: got %s to %q, want kernel_info_reply to %q", name, msgType, parent, id)
				}
			}
		})
	}
	for _, want := range []string{"shell: dropped a message: wrong signature", "control: dropped a message: no <IDS|MSG>"} {
		if !strings.Contains(s.log.String(), want) {
			t.Errorf("got log\n%s\nwant it to contain %q", s.log.String(), want)
		}
	}
}

func TestReplayIsDropped(t *testing.T) {
	s := serve(t, &kerneltest.Echo{}, jupyter.Connection{Key: key})
	shell := s.dial(t, zmq4.Dealer, s.conn.ShellPort)
	control := s.dial(t, zmq4.Dealer, s.conn.ControlPort)
	once := message(header("1", "kernel_info_request"), "{}")
	send(t, shell, once)
	send(t, shell, once)
	if _, parent, _ := receive(t, shell); parent != "1" {
		t.Errorf("got a reply to %q, want one to 1", parent)
	}
	send(t, control, once)
	for id, sock := range map[string]zmq4.Socket{"2": shell, "3": control} {
		send(t, sock, message(header(id, "kernel_info_request"), "{}"))
		if _, parent, _ := receive(t, sock); parent != id {
			t.Errorf("got a reply to %q, want one to %q: repeated messages are not answered", parent, id)
		}
	}
}

func TestUnknownMessagesAreTolerated(t *testing.T) {
	s := serve(t, &kerneltest.Echo{}, jupyter.Connection{Key: key})
	shell := s.dial(t, zmq4.Dealer, s.conn.ShellPort)
	for _, msgType := range []string{"frobnicate_request", "comm_msg", "comm_close", "input_reply", "debug_event", "x"} {
		send(t, shell, message(header("?", msgType), `{"a":1}`))
	}
	send(t, shell, append(message(header("1", "kernel_info_request"), `{"newer":true}`), frames("a", "buffer")...))
	if msgType, parent, _ := receive(t, shell); parent != "1" {
		t.Errorf("got %s to %q, want the kernel_info_reply to 1", msgType, parent)
	}
}

func TestWelcomeComesFirst(t *testing.T) {
	s := serve(t, &kerneltest.Echo{}, jupyter.Connection{Key: key})
	iopub := s.dial(t, zmq4.Sub, s.conn.IOPubPort)
	msgType, parent, content := receive(t, iopub)
	if msgType != "iopub_welcome" || parent != "" || content["subscription"] != "" {
		t.Errorf("got %s %v with parent %q, want iopub_welcome without a parent", msgType, content, parent)
	}
	shell := s.dial(t, zmq4.Dealer, s.conn.ShellPort)
	send(t, shell, message(header("1", "comm_open"), `{"comm_id":"c","target_name":"t"}`))
	for _, want := range []string{"status", "comm_close", "status"} {
		msgType, parent, _ := receive(t, iopub)
		for parent == "" { // statuses of the kernel's start
			msgType, parent, _ = receive(t, iopub)
		}
		if msgType != want || parent != "1" {
			t.Errorf("got %s to %q, want %s to 1", msgType, parent, want)
		}
	}
}

// closable is an evaluator that signals when it is closed.
type closable struct {
	kerneltest.Echo
	closed chan struct{}
}

func (s *closable) Close() error {
	close(s.closed)
	return nil
}

func TestServeEnds(t *testing.T) {
	e := &closable{closed: make(chan struct{})}
	s := serve(t, e, jupyter.Connection{Key: key})
	iopub := s.dial(t, zmq4.Sub, s.conn.IOPubPort)
	shell := s.dial(t, zmq4.Dealer, s.conn.ShellPort)
	receive(t, iopub)
	send(t, shell, message(header("1", "execute_request"), `{"code":"spin"}`))
	for msgType := ""; msgType != "execute_input"; {
		msgType, _, _ = receive(t, iopub)
	}
	s.end()
	if _, _, content := receive(t, shell); content["ename"] != "Interrupted" {
		t.Errorf("running cell: got %v, want Interrupted", content)
	}
	if err := <-s.ended; err != nil {
		t.Error(err)
	}
	s.ended <- nil
	<-e.closed
	network, address := s.conn.Address(s.conn.ShellPort)
	if _, err := net.Dial(network, address); err == nil {
		t.Error("the shell port is still open")
	}
}

func TestServeCannotStart(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken := l.Addr().(*net.TCPAddr).Port
	for _, tt := range []struct {
		name   string
		config jupyter.Config
		want   string
	}{
		{"no file", jupyter.Config{ConnectionFile: "/nowhere/c.json"}, "kernel: connection file: open /nowhere/c.json"},
		{"port taken", jupyter.Config{Connection: jupyter.Connection{StdinPort: taken}}, fmt.Sprintf("kernel: stdin: listen on 127.0.0.1:%d: ", taken)},
		{"scheme", jupyter.Config{Connection: jupyter.Connection{SignatureScheme: "hmac-sha1"}}, `kernel: connection: signature_scheme: "hmac-sha1", want hmac-sha256`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := &closable{closed: make(chan struct{})}
			err := jupyter.Serve(t.Context(), tt.config, e)
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got error %v, want %s…", err, tt.want)
			}
			<-e.closed
		})
	}
}

func TestIPC(t *testing.T) {
	s := serve(t, &kerneltest.Echo{}, jupyter.Connection{Transport: "ipc", IP: t.TempDir() + "/k", Key: key, ShellPort: 1, IOPubPort: 2, StdinPort: 3, ControlPort: 4, HeartbeatPort: 5})
	shell := s.dial(t, zmq4.Dealer, s.conn.ShellPort)
	send(t, shell, message(header("1", "kernel_info_request"), "{}"))
	if msgType, _, _ := receive(t, shell); msgType != "kernel_info_reply" {
		t.Errorf("got %s, want kernel_info_reply", msgType)
	}
}
