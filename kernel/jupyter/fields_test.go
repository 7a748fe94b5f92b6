package jupyter_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/go-zeromq/zmq4"

	"halfnote/kernel/jupyter"
	"halfnote/kernel/kerneltest"
)

// requestFields lists every field of every request of protocol 5.5 and of JupyterLab's
// extensions. A missing required field is an error too. shutdown_request is not
// included: its intent is clear whatever its one field holds.
var requestFields = []struct {
	channel, request, content string // content is valid
	field, kind               string
	required                  bool
}{
	{"shell", "execute_request", `{"code":""}`, "code", "string", true},
	{"shell", "execute_request", `{"code":""}`, "silent", "bool", false},
	{"shell", "execute_request", `{"code":""}`, "store_history", "bool", false},
	{"shell", "execute_request", `{"code":""}`, "user_expressions", "object", false},
	{"shell", "execute_request", `{"code":""}`, "allow_stdin", "bool", false},
	{"shell", "execute_request", `{"code":""}`, "stop_on_error", "bool", false},
	{"shell", "complete_request", `{"code":""}`, "code", "string", true},
	{"shell", "complete_request", `{"code":""}`, "cursor_pos", "whole number", false},
	{"shell", "inspect_request", `{"code":""}`, "code", "string", true},
	{"shell", "inspect_request", `{"code":""}`, "cursor_pos", "whole number", false},
	{"shell", "inspect_request", `{"code":""}`, "detail_level", "whole number", false},
	{"shell", "is_complete_request", `{"code":""}`, "code", "string", true},
	{"shell", "history_request", `{"hist_access_type":"tail"}`, "hist_access_type", "string", true},
	{"shell", "history_request", `{"hist_access_type":"tail"}`, "output", "bool", false},
	{"shell", "history_request", `{"hist_access_type":"tail"}`, "raw", "bool", false},
	{"shell", "history_request", `{"hist_access_type":"tail"}`, "session", "whole number", false},
	{"shell", "history_request", `{"hist_access_type":"tail"}`, "start", "whole number", false},
	{"shell", "history_request", `{"hist_access_type":"tail"}`, "stop", "whole number", false},
	{"shell", "history_request", `{"hist_access_type":"tail"}`, "n", "whole number", false},
	{"shell", "history_request", `{"hist_access_type":"tail"}`, "pattern", "string", false},
	{"shell", "history_request", `{"hist_access_type":"tail"}`, "unique", "bool", false},
	{"shell", "comm_info_request", `{}`, "target_name", "string", false},
	{"shell", "comm_open", `{"comm_id":"c","target_name":"none"}`, "comm_id", "string", true},
	{"shell", "comm_open", `{"comm_id":"c","target_name":"none"}`, "target_name", "string", false},
	{"shell", "comm_open", `{"comm_id":"c","target_name":"none"}`, "data", "object", false},
	{"shell", "comm_msg", `{"comm_id":"c"}`, "comm_id", "string", true},
	{"shell", "comm_msg", `{"comm_id":"c"}`, "data", "object", false},
	{"shell", "comm_close", `{"comm_id":"c"}`, "comm_id", "string", true},
	{"shell", "comm_close", `{"comm_id":"c"}`, "data", "object", false},
	{"control", "debug_request", `{"command":"debugInfo"}`, "seq", "whole number", false},
	{"control", "debug_request", `{"command":"debugInfo"}`, "command", "string", true},
	{"control", "debug_request", `{"command":"variables"}`, "arguments", "object", true},
	{"control", "debug_request", `{"command":"richInspectVariables"}`, "arguments", "object", true},
	{"control", "delete_subshell_request", `{}`, "subshell_id", "string", true},
}

// wrongValues are values of the wrong kind for a field.
var wrongValues = []struct{ kind, value string }{
	{"string", `"x"`}, {"number", `1.5`}, {"bool", `true`}, {"array", `[1]`}, {"object", `{"a":1}`},
}

// TestFieldsAreChecked sends each field with a value of each other kind, and without a
// required field. The answer, or the log if there is none, names the field, the kind
// received and the kind expected.
func TestFieldsAreChecked(t *testing.T) {
	for _, f := range requestFields {
		s := serve(t, &kerneltest.Echo{}, jupyter.Connection{Key: key}) // with its own log
		sockets := map[string]zmq4.Socket{
			"shell": s.dial(t, zmq4.Dealer, s.conn.ShellPort), "control": s.dial(t, zmq4.Dealer, s.conn.ControlPort),
		}
		n := 0
		ask := func(value, got, expected string) {
			t.Helper()
			var content map[string]json.RawMessage
			if err := json.Unmarshal([]byte(f.content), &content); err != nil {
				t.Fatal(err)
			}
			delete(content, f.field)
			if value != "" {
				content[f.field] = json.RawMessage(value)
			}
			b, err := json.Marshal(content)
			if err != nil {
				t.Fatal(err)
			}
			n++
			id := fmt.Sprint("field", n)
			send(t, sockets[f.channel], message(header(id, f.request), string(b)))
			said := ""
			if strings.HasSuffix(f.request, "_request") {
				msgType, parent, reply := receive(t, sockets[f.channel])
				if want := strings.TrimSuffix(f.request, "_request") + "_reply"; msgType != want || parent != id {
					t.Fatalf("%s %s: got %s to %s, want %s to %s", f.request, b, msgType, parent, want, id)
				}
				if reply["status"] != "error" && reply["success"] != false {
					t.Errorf("%s %s: got %v, want an error", f.request, b, reply)
				}
				said = fmt.Sprint(reply["evalue"], reply["message"])
			} else { // no reply: an answer to the next request shows that it has been handled
				send(t, sockets["shell"], message(header(id+"after", "is_complete_request"), `{"code":""}`))
				receive(t, sockets["shell"])
				said = s.log.String()
			}
			for _, want := range []string{f.field, got, expected} {
				if !strings.Contains(said, want) {
					t.Errorf("%s %s: got answer %q, want it to contain %q", f.request, b, said, want)
				}
			}
		}
		for _, w := range wrongValues {
			if w.kind != f.kind {
				ask(w.value, "is a JSON "+w.kind, "want "+f.kind)
			}
		}
		if f.required {
			ask("", "", "want")
			ask("null", "", "want")
		}
		for name, sock := range sockets {
			send(t, sock, message(header(name, "kernel_info_request"), `{"newer_field":[1,{"x":null}]}`))
			if msgType, parent, reply := receive(t, sock); msgType != "kernel_info_reply" || parent != name || reply["status"] != "ok" {
				t.Errorf("%s: the next answer is %s to %s: %v", name, msgType, parent, reply)
			}
		}
	}
}

// TestAbsentAndNewerFields sends each request with null for optional fields and with an
// unknown field.
func TestAbsentAndNewerFields(t *testing.T) {
	s := serve(t, &kerneltest.Echo{}, jupyter.Connection{Key: key})
	shell := s.dial(t, zmq4.Dealer, s.conn.ShellPort)
	for i, f := range requestFields {
		if f.required || f.channel != "shell" || !strings.HasSuffix(f.request, "_request") {
			continue
		}
		content := strings.TrimSuffix(f.content, "}") + fmt.Sprintf(`,%q:null,"newer_field":{"a":[1]}}`, f.field)
		content = strings.Replace(content, "{,", "{", 1)
		send(t, shell, message(header(fmt.Sprint(i), f.request), content))
		if _, _, reply := receive(t, shell); reply["status"] != "ok" {
			t.Errorf("%s %s: got %v, want ok", f.request, content, reply)
		}
	}
}
