package jupyter_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/go-zeromq/zmq4"

	"halfnote/kernel/jupyter"
	"halfnote/kernel/kerneltest"
)

// TestRestore checks what a front end that was opened late gets: the outputs of each notebook cell's
// last run, also of the running cell.
func TestRestore(t *testing.T) {
	s := serveConfig(t, &kerneltest.Echo{}, jupyter.Config{Connection: jupyter.Connection{Key: key}, History: filepath.Join(t.TempDir(), "h.sqlite")})
	shell, sub := s.dial(t, zmq4.Dealer, s.conn.ShellPort), s.dial(t, zmq4.Sub, s.conn.IOPubPort)
	receive(t, sub)
	run := func(id, cell, code string) {
		t.Helper()
		h, metadata, content := header(id, "execute_request"), fmt.Sprintf(`{"cellId":%q}`, cell), string(must(json.Marshal(map[string]string{"code": code})))
		m := hmac.New(sha256.New, []byte(key))
		fmt.Fprint(m, h, "{}", metadata, content)
		send(t, shell, frames("<IDS|MSG>", hex.EncodeToString(m.Sum(nil)), h, "{}", metadata, content))
	}
	ended := func(id string) {
		t.Helper()
		for parent, state := "", any(nil); parent != id || state != "idle"; {
			var content map[string]any
			_, parent, content = receive(t, sub)
			state = content["execution_state"]
		}
	}
	restored := func() (list []string) {
		t.Helper()
		for msgType := ""; msgType != "comm_msg"; {
			var content map[string]any
			if msgType, _, content = receive(t, sub); msgType == "comm_msg" {
				for _, c := range content["data"].(map[string]any)["cells"].([]any) {
					c := c.(map[string]any)
					list = append(list, fmt.Sprint(c["cell"], " ", c["request"], " ", c["session"], " ", c["count"], " ", c["running"], " ", c["source"], " ", string(must(json.Marshal(c["outputs"])))))
				}
			}
		}
		return list
	}
	run("1", "a", "print one")
	ended("1")
	run("2", "b", "print old")
	ended("2")
	run("3", "b", "display x first\nupdate x second\nerror E text")
	ended("3")
	run("4", "", "print without a cell")
	ended("4")
	run("5", "c", "print begun\ndisplay - shown\nspin")
	for msgType := ""; msgType != "display_data"; {
		msgType, _, _ = receive(t, sub)
	}
	send(t, shell, message(header("6", "comm_open"), `{"comm_id":"r","target_name":"halfnote.outputs","data":{}}`))
	a := `a 1 s 1 false print one [{"name":"stdout","output_type":"stream","text":"one\n"}]`
	want := []string{
		"c 5 s 5 true print begun\ndisplay - shown\nspin " + `[{"name":"stdout","output_type":"stream","text":"begun\n"},{"data":{"text/plain":"shown"},"metadata":{},"output_type":"display_data"}]`,
		"b 3 s 3 false display x first\nupdate x second\nerror E text " +
			`[{"data":{"text/plain":"second"},"metadata":{},"output_type":"display_data","transient":{"display_id":"x"}},{"ename":"E","evalue":"text","output_type":"error","traceback":["E: text"]}]`,
		a,
	}
	if got := restored(); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("all cells: got\n%q\nwant\n%q", got, want)
	}
	send(t, shell, message(header("7", "comm_msg"), `{"comm_id":"r","data":{"cells":["a","none"]}}`))
	if got := restored(); len(got) != 1 || got[0] != a {
		t.Errorf("one cell: got %q, want %q", got, a)
	}
	send(t, shell, message(header("9", "comm_msg"), `{"comm_id":"r","data":{"cleared":["b","none"]}}`))
	send(t, shell, message(header("10", "comm_msg"), `{"comm_id":"r","data":{}}`))
	if got := restored(); len(got) != 2 || got[0] != want[0] || got[1] != a {
		t.Errorf("after the outputs of b were cleared: got %q, want those of c and a", got)
	}
	send(t, s.dial(t, zmq4.Dealer, s.conn.ControlPort), message(header("8", "interrupt_request"), "{}"))
	ended("5")
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}
