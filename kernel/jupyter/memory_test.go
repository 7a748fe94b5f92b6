package jupyter_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/go-zeromq/zmq4"

	"halfnote/internal/testenv"
	"halfnote/kernel/jupyter"
	"halfnote/kernel/kerneltest"
)

// TestCellsDoNotLeak runs many cells, with results, output and comms. The kernel may
// keep only the signatures that guard against replay, 16 bytes each in two tables.
func TestCellsDoNotLeak(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped with -short: measures the memory of 8000 cells")
	}
	const most = 300 // bytes per cell
	cells := 4000 / testenv.Share(t, 2)
	s := serveConfig(t, &kerneltest.Echo{}, jupyter.Config{
		Connection: jupyter.Connection{Key: key}, History: filepath.Join(t.TempDir(), "h.sqlite"),
	})
	shell := s.dial(t, zmq4.Dealer, s.conn.ShellPort)
	sub := s.dial(t, zmq4.Sub, s.conn.IOPubPort)
	receive(t, sub) // the welcome: all later messages are received
	n := 0
	run := func() {
		for range cells {
			n++
			id := fmt.Sprint(n)
			send(t, shell, message(header(id, "execute_request"), fmt.Sprintf(`{"code":"print some text\nresult %d\nopen knob x\nclose x"}`, n)))
			for state, parent := "", ""; state != "idle" || parent != id; {
				var content map[string]any
				_, parent, content = receive(t, sub)
				state, _ = content["execution_state"].(string)
			}
			if _, _, reply := receive(t, shell); reply["status"] != "ok" {
				t.Fatal(reply)
			}
		}
	}
	held := func() int64 {
		runtime.GC()
		runtime.GC() // frees objects that had finalizers
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	run() // warm up: tables and pools grow
	before := held()
	run()
	grown := (held() - before) / int64(cells)
	t.Logf("%d bytes per cell", grown)
	if grown > most {
		t.Errorf("the heap grows by %d bytes per cell, want at most %d", grown, most)
	}
}
