package worker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"halfnote/kernel"
	"halfnote/kernel/kerneltest"
	"halfnote/kernel/worker"
)

// page is a front end in this process.
type page struct {
	t         *testing.T
	transport *worker.Transport
	messages  chan message
	ended     chan error
}

type message struct {
	Channel string `json:"channel"`
	Header  struct {
		ID   string `json:"msg_id"`
		Type string `json:"msg_type"`
	} `json:"header"`
	Parent struct {
		ID string `json:"msg_id"`
	} `json:"parent_header"`
	Content map[string]any `json:"content"`
	buffers [][]byte
	size    int
}

// open starts a kernel. The page takes messages as the test reads them.
func open(t *testing.T) *page {
	t.Helper()
	p := &page{t: t, messages: make(chan message, 1<<16), ended: make(chan error, 1)}
	var once sync.Once
	p.transport = worker.New(func(text []byte, buffers [][]byte) {
		m := message{buffers: buffers, size: len(text)}
		if err := json.Unmarshal(text, &m); err != nil {
			once.Do(func() { t.Errorf("%s: %v", text, err) })
		}
		p.messages <- m
	})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		p.ended <- kernel.Serve(ctx, kernel.Config{History: &kernel.Keeper{}}, p.transport, &kerneltest.Echo{})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-p.ended; err != nil {
			t.Error(err)
		}
		p.ended <- nil
	})
	return p
}

func (p *page) send(channel, id, msgType, content string, buffers ...[]byte) {
	p.t.Helper()
	text := fmt.Sprintf(`{"channel":%q,"header":{"msg_id":%q,"msg_type":%q,"session":"s","username":"","date":"","version":"5.3"},"parent_header":{},"metadata":{},"content":%s}`,
		channel, id, msgType, content)
	if err := p.transport.Receive([]byte(text), buffers); err != nil {
		p.t.Fatal(err)
	}
}

// until returns the messages up to the one that ends a request, in short.
func (p *page) until(id string) (list []string) {
	for m := range p.messages {
		p.transport.Taken(m.size)
		if m.Parent.ID != id {
			continue
		}
		c, _ := json.Marshal(m.Content)
		switch state := m.Content["execution_state"]; {
		case state == "idle":
			return list
		case state == nil && m.Header.Type != "execute_input":
			list = append(list, m.Channel+" "+m.Header.Type+" "+string(c))
		}
	}
	return nil
}

func TestMessages(t *testing.T) {
	p := open(t)
	for _, tt := range []struct {
		channel, msgType, content string
		want                      []string // beginnings
	}{
		{"shell", "kernel_info_request", `{}`, []string{`shell kernel_info_reply {"banner":`}},
		{"shell", "execute_request", `{"code":"print hello"}`, []string{`iopub stream {"name":"stdout","text":"hello\n"}`, `shell execute_reply {"execution_count":1,`}},
		{"shell", "execute_request", `{"code":"error E text"}`, []string{`iopub error {"ename":"E"`, `shell execute_reply {"ename":"E"`}},
		{"shell", "history_request", `{"hist_access_type":"tail"}`, []string{`shell history_reply {"history":[[1,1,"print hello"],[1,2,"error E text"]]`}},
		{"control", "create_subshell_request", `{}`, []string{`control create_subshell_reply {"status":"ok"`}},
		{"shell", "connect_request", `{}`, nil},
		{"shell", "nothing_request", `{}`, nil},
		{"shell", "comm_open", `{"comm_id":"r","target_name":"halfnote.outputs","data":{}}`, []string{`iopub comm_msg {"comm_id":"r","data":{"cells":[]}}`}},
	} {
		p.send(tt.channel, tt.msgType+tt.content, tt.msgType, tt.content)
		got := p.until(tt.msgType + tt.content)
		if len(got) != len(tt.want) {
			t.Errorf("%s %s: got %q, want %q", tt.msgType, tt.content, got, tt.want)
			continue
		}
		for i, want := range tt.want {
			if !strings.HasPrefix(got[i], want) {
				t.Errorf("%s %s: got %s, want %s…", tt.msgType, tt.content, got[i], want)
			}
		}
	}
}

func TestInterruptAndInput(t *testing.T) {
	p := open(t)
	p.send("shell", "1", "execute_request", `{"code":"spin"}`)
	for m := range p.messages {
		if m.Header.Type == "execute_input" {
			break
		}
	}
	p.send("control", "2", "interrupt_request", `{}`)
	if got := strings.Join(p.until("1"), "\n"); !strings.Contains(got, "iopub error") {
		t.Errorf("got %s, want an error", got)
	}
	p.send("shell", "3", "execute_request", `{"code":"input name?"}`)
	for m := range p.messages {
		if m.Header.Type == "input_request" {
			if m.Channel != "stdin" {
				t.Errorf("input_request came on %s", m.Channel)
			}
			break
		}
	}
	p.send("stdin", "4", "input_reply", `{"value":"Ada"}`)
	if got := strings.Join(p.until("3"), "\n"); !strings.Contains(got, "Ada") {
		t.Errorf("got %s, want the answer", got)
	}
}

// TestSlowPage checks that a cell waits for a page that takes nothing, and that an interrupt ends it.
func TestSlowPage(t *testing.T) {
	p := open(t)
	p.send("shell", "1", "execute_request", `{"code":"flood 1000000"}`)
	sent := 0
	for m := range p.messages {
		if sent += m.size; sent > 1<<20 {
			break
		}
	}
	p.send("control", "2", "interrupt_request", `{}`)
	time.Sleep(300 * time.Millisecond) // an interrupted cell waits for a third of it
	p.transport.Taken(sent)
	got := strings.Join(p.until("1"), "\n")
	if !strings.Contains(got, "bytes of output were lost here") {
		t.Errorf("got %.300s, want a notice of lost output", got)
	}
}

func TestRefusedMessages(t *testing.T) {
	p := open(t)
	for text, want := range map[string]string{
		`{`:                               "message: unexpected end",
		`{"channel":"iopub","header":{}}`: `channel "iopub", want shell, control or stdin`,
		`{"channel":"shell","header":[]}`: "header: not a JSON object",
		`{"channel":"shell","header":{"msg_id":"1"}}`:              "header: msg_id or msg_type is missing",
		`{"channel":"shell","header":{"msg_id":1,"msg_type":"x"}}`: "header: json: cannot unmarshal number",
		`{"channel":"shell","header":{"msg_id":"` + "\xff" + `"}}`: "header:",
		`{"channel":"shell"}`: "header: not a JSON object",
		`{"channel":"shell","header":{"msg_id":"","msg_type":"x"}}`:         "header: msg_id or msg_type is missing",
		`{"channel":3,"header":{"msg_id":"1","msg_type":"x"}}`:              "message: json: cannot unmarshal number",
		`{"channel":"shell","header":` + strings.Repeat("[", 100_000) + `}`: "message: ",
	} {
		if err := p.transport.Receive([]byte(text), nil); err == nil || !strings.HasPrefix(err.Error(), "worker: "+want) {
			t.Errorf("%.80s: got error %v, want %s…", text, err, want)
		}
	}
}
