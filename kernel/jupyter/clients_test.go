package jupyter_test

import (
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"

	"halfnote/kernel/jupyter"
	"halfnote/kernel/kerneltest"
)

// TestStuckClient checks that a client which never reads does not disturb the nine
// other clients of its kernel: they receive all replies and all output.
func TestStuckClient(t *testing.T) {
	const clients, cells = 9, 4
	lines := 20_000
	if testing.Short() {
		lines = 2000
	}
	s := serve(t, &kerneltest.Echo{}, jupyter.Connection{Key: key})

	stuck := s.dial(t, zmq4.Dealer, s.conn.ShellPort)
	s.dial(t, zmq4.Sub, s.conn.IOPubPort) // never read
	for i := range 500 {
		send(t, stuck, message(header(fmt.Sprint("stuck", i), "history_request"), `{"hist_access_type":"tail"}`))
	}

	var shells, subs []zmq4.Socket
	for range clients {
		sub := s.dial(t, zmq4.Sub, s.conn.IOPubPort)
		if msgType, _, _ := receive(t, sub); msgType != "iopub_welcome" {
			t.Fatalf("first message: got %s, want iopub_welcome", msgType)
		}
		shells, subs = append(shells, s.dial(t, zmq4.Dealer, s.conn.ShellPort)), append(subs, sub)
	}

	want := fnv.New64a()
	for i := range lines {
		fmt.Fprintln(want, "line", i)
	}
	var all sync.WaitGroup
	for me := range clients {
		all.Go(func() { // sends cells and receives the replies
			for i := range cells {
				id := fmt.Sprintf("%d-%d", me, i)
				send(t, shells[me], message(header(id, "execute_request"), fmt.Sprintf(`{"code":"flood %d"}`, lines)))
			}
			for i := range cells {
				if msgType, parent, _ := receive(t, shells[me]); msgType != "execute_reply" || parent != fmt.Sprintf("%d-%d", me, i) {
					t.Errorf("client %d: got %s to %s, want the reply to its cell %d", me, msgType, parent, i)
				}
			}
		})
		all.Go(func() { // receives the output of all clients' cells
			text := map[string]string{}
			for idle := 0; idle < clients*cells; {
				msgType, parent, content := receive(t, subs[me])
				switch {
				case strings.HasPrefix(parent, "stuck"):
				case msgType == "stream":
					text[parent] += content["text"].(string)
				case msgType == "status" && content["execution_state"] == "idle":
					got := fnv.New64a()
					got.Write([]byte(text[parent]))
					if got.Sum64() != want.Sum64() {
						t.Errorf("client %d: got %d bytes of output of cell %s, want %d lines", me, len(text[parent]), parent, lines)
					}
					delete(text, parent)
					idle++
				}
			}
		})
	}
	all.Wait()
}

// TestCommsWhileBusy checks that comm messages are answered while a cell runs, on a
// subshell and on the main shell. It logs the latency of the answers.
func TestCommsWhileBusy(t *testing.T) {
	s := serve(t, &kerneltest.Echo{}, jupyter.Connection{Key: key})
	shell := s.dial(t, zmq4.Dealer, s.conn.ShellPort)
	control := s.dial(t, zmq4.Dealer, s.conn.ControlPort)
	sub := s.dial(t, zmq4.Sub, s.conn.IOPubPort)
	receive(t, sub)
	send(t, control, message(header("create", "create_subshell_request"), "{}"))
	_, _, created := receive(t, control)
	send(t, shell, message(header("target", "execute_request"), `{"code":"target knob"}`))
	receive(t, shell)
	send(t, shell, message(header("busy", "execute_request"), `{"code":"spin"}`))
	for _, line := range []struct{ name, subshell string }{
		{"a subshell", fmt.Sprintf(`,"subshell_id":%q}`, created["subshell_id"])},
		{"the main shell", `}`},
	} {
		on := func(id, msgType string) string {
			h := header(id, msgType)
			return h[:len(h)-1] + line.subshell
		}
		send(t, shell, message(on("open"+line.name, "comm_open"), fmt.Sprintf(`{"comm_id":%q,"target_name":"knob","data":{}}`, line.name)))
		var took []time.Duration
		for i := range 300 {
			id := fmt.Sprint(line.name, i)
			start := time.Now()
			send(t, shell, message(on(id, "comm_msg"), fmt.Sprintf(`{"comm_id":%q,"data":{"text":"%d"}}`, line.name, i)))
			for {
				msgType, parent, content := receive(t, sub)
				if msgType == "comm_msg" && parent == id {
					if got := content["data"].(map[string]any)["text"]; got != fmt.Sprint(i) {
						t.Errorf("%s: got %v, want %d", line.name, got, i)
					}
					break
				}
			}
			took = append(took, time.Since(start))
		}
		slices.Sort(took)
		t.Logf("%s, while a cell runs: p50 %v, p99 %v", line.name, took[len(took)/2], took[len(took)*99/100])
	}
	send(t, control, message(header("stop", "interrupt_request"), "{}"))
	if _, parent, content := receive(t, shell); parent != "busy" || content["ename"] != "Interrupted" {
		t.Errorf("got %v to %s, want Interrupted in reply to the busy cell", content, parent)
	}
}

// TestInterruptEndsCallbacks checks that an interrupt ends a waiting callback, and that
// the cell queued after it then runs.
func TestInterruptEndsCallbacks(t *testing.T) {
	s := serve(t, &kerneltest.Echo{}, jupyter.Connection{Key: key})
	shell := s.dial(t, zmq4.Dealer, s.conn.ShellPort)
	control := s.dial(t, zmq4.Dealer, s.conn.ControlPort)
	sub := s.dial(t, zmq4.Sub, s.conn.IOPubPort)
	receive(t, sub) // the welcome: all later messages are received
	send(t, shell, message(header("target", "execute_request"), `{"code":"target knob"}`))
	receive(t, shell)
	send(t, shell, message(header("open", "comm_open"), `{"comm_id":"c","target_name":"knob"}`))
	send(t, shell, message(header("wait", "comm_msg"), `{"comm_id":"c","data":{"text":"wait"}}`))
	send(t, shell, message(header("after", "execute_request"), `{"code":"result 1"}`))
	for text := ""; text != "waiting"; {
		if msgType, _, content := receive(t, sub); msgType == "comm_msg" {
			text, _ = content["data"].(map[string]any)["text"].(string)
		}
	}
	send(t, control, message(header("stop", "interrupt_request"), "{}"))
	if _, parent, content := receive(t, shell); parent != "after" || content["status"] != "ok" {
		t.Errorf("got %v to %s, want the cell's reply", content, parent)
	}
}

func TestUsage(t *testing.T) {
	s := serve(t, &kerneltest.Echo{}, jupyter.Connection{Key: key})
	control := s.dial(t, zmq4.Dealer, s.conn.ControlPort)
	var content map[string]any
	for i := range 2 { // percentages are averages since the previous request
		send(t, control, message(header(fmt.Sprint(i), "usage_request"), "{}"))
		var msgType string
		msgType, _, content = receive(t, control)
		if msgType != "usage_reply" {
			t.Fatalf("got %s, want usage_reply", msgType)
		}
	}
	if host, _ := os.Hostname(); content["hostname"] != host || content["pid"] != float64(os.Getpid()) {
		t.Errorf("hostname %v, pid %v; want %s, %d", content["hostname"], content["pid"], host, os.Getpid())
	}
	memory, _ := content["kernel_memory"].(float64)
	if memory < 1<<20 || memory > 1<<36 {
		t.Errorf("kernel_memory: got %v bytes, want 1 MiB to 64 GiB", content["kernel_memory"])
	}
	if m, ok := content["host_virtual_memory"].(map[string]any); ok {
		total, used, available := m["total"].(float64), m["used"].(float64), m["available"].(float64)
		if total < memory || used+available != total {
			t.Errorf("host_virtual_memory: got total %v, used %v, available %v; want a total of at least %v that is the sum of the others", total, used, available, memory)
		}
	}
}
