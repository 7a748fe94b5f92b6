package jupyter

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"halfnote/kernel"
)

// logBuffer is a log that the test can read.
type logBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (n *logBuffer) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.b.Write(p)
}

func (n *logBuffer) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.b.String()
}

// found returns the entries that a query finds, each as "session:line source" or, with
// output, as "session:line source=output".
func found(t *testing.T, h *history, q kernel.HistoryQuery) string {
	t.Helper()
	cells, err := h.Find(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return line(q, cells)
}

func line(q kernel.HistoryQuery, cells []kernel.HistoryCell) string {
	var list []string
	for _, c := range cells {
		line := fmt.Sprintf("%d:%d %s", c.Session, c.Count, c.Source)
		if q.Output && c.Output != nil {
			line += "=" + *c.Output
		}
		list = append(list, line)
	}
	return strings.Join(list, ", ")
}

func TestHistoryOutlivesTheSession(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a folder?#%41", "h.sqlite")
	var log logBuffer
	for session, want := range []string{"", "1:1 x=X, 1:2 y", "1:1 x=X, 1:2 y, 2:1 x=X, 2:2 y"} {
		h := newHistory(path, "", &postMortem{}, kernel.NewLog(&log))
		if got := found(t, h, kernel.HistoryQuery{Access: "tail", Output: true}); got != want {
			t.Errorf("at the start of session %d: got %q, want %q", session+1, got, want)
		}
		h.Put(kernel.Entry{Count: 1, Text: "x"})
		h.Put(kernel.Entry{Count: 1, Text: "X", Kind: kernel.ResultOf})
		h.Put(kernel.Entry{Count: 2, Text: "y"})
		h.Close()
		h.Put(kernel.Entry{Count: 3, Text: "too late"})
		h.Close()
	}
	h := newHistory(path, "", &postMortem{}, kernel.NewLog(&log))
	defer h.Close()
	for _, tt := range []struct {
		query kernel.HistoryQuery
		want  string
	}{
		{kernel.HistoryQuery{Access: "range", Session: -1}, "3:1 x, 3:2 y"},
		{kernel.HistoryQuery{Access: "range", Session: -2, Start: 2}, "2:2 y"},
		{kernel.HistoryQuery{Access: "range"}, ""},
		{kernel.HistoryQuery{Access: "search", Pattern: "[x-z]", Unique: true}, "3:1 x, 3:2 y"},
		{kernel.HistoryQuery{Access: "search", Pattern: "y' OR 1=1 --"}, ""},
	} {
		if got := found(t, h, tt.query); got != tt.want {
			t.Errorf("%+v: got %q, want %q", tt.query, got, tt.want)
		}
	}
	h.Put(kernel.Entry{Count: 1, Text: "z"})
	if got, want := found(t, h, kernel.HistoryQuery{Access: "range"}), "4:1 z"; got != want {
		t.Errorf("own session: got %q, want %q", got, want)
	}
	if log.String() != "" {
		t.Errorf("got log %q, want it empty", log.String())
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("file: %v, %v, want mode 0600", info.Mode(), err)
	}
}

func TestHistoryOfSeveralKernels(t *testing.T) {
	const kernels, cells = 4, 50
	path := filepath.Join(t.TempDir(), "h.sqlite")
	var log logBuffer
	var all sync.WaitGroup
	for i := range kernels {
		all.Go(func() {
			h := newHistory(path, "", &postMortem{}, kernel.NewLog(&log))
			defer h.Close()
			for line := range cells {
				h.Put(kernel.Entry{Count: line + 1, Text: fmt.Sprintf("kernel %d", i)})
				if line%10 == 0 {
					h.use(func(*historyStore) error { return nil })
				}
			}
		})
	}
	all.Wait()
	h := newHistory(path, "", &postMortem{}, kernel.NewLog(&log))
	defer h.Close()
	for session := 1; session <= kernels; session++ {
		got := found(t, h, kernel.HistoryQuery{Access: "range", Session: session})
		if n := strings.Count(got, "kernel"); n != cells {
			t.Errorf("session %d has %d cells, want %d", session, n, cells)
		}
	}
	if log.String() != "" {
		t.Errorf("got log %q, want it empty", log.String())
	}
}

func TestHistoryFallsBackToMemory(t *testing.T) {
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken")
	if err := os.WriteFile(broken, []byte(strings.Repeat("not a database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, path string }{
		{"a folder", dir},
		{"below a file", filepath.Join(broken, "h.sqlite")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var log logBuffer
			h := newHistory(tt.path, "", &postMortem{}, kernel.NewLog(&log))
			defer h.Close()
			h.Put(kernel.Entry{Count: 1, Text: "x"})
			h.Put(kernel.Entry{Count: 2, Text: "y"})
			if got, want := found(t, h, kernel.HistoryQuery{Access: "tail"}), "1:1 x, 1:2 y"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if lines := strings.Count(log.String(), "\n"); lines != 1 || !strings.Contains(log.String(), "kept in memory") {
				t.Errorf("got log %q, want one line with %q", log.String(), "kept in memory")
			}
		})
	}
	t.Run("later", func(t *testing.T) {
		var log logBuffer
		path := filepath.Join(t.TempDir(), "h.sqlite")
		h := newHistory(path, "", &postMortem{}, kernel.NewLog(&log))
		defer h.Close()
		h.Put(kernel.Entry{Count: 1, Text: "x"})
		h.Put(kernel.Entry{Count: 1, Text: "X", Kind: kernel.ResultOf})
		found(t, h, kernel.HistoryQuery{Access: "tail"})
		if _, err := h.store.db.Exec("CREATE TRIGGER full BEFORE INSERT ON cells BEGIN SELECT raise(ABORT, 'disk full'); END"); err != nil {
			t.Fatal(err)
		}
		h.Put(kernel.Entry{Count: 2, Text: "y"})
		h.Put(kernel.Entry{Count: 3, Text: "z"})
		if got, want := found(t, h, kernel.HistoryQuery{Access: "tail", Output: true}), "1:1 x=X, 1:2 y, 1:3 z"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if !strings.Contains(log.String(), "disk full") {
			t.Errorf("got log %q, want it to contain %q", log.String(), "disk full")
		}
	})
}

// TestHistoryMovesDamageAside damages a history in every way, before a kernel opens it and while one uses it. The file gets another
// name, one message says so, and later kernels find a sound history.
func TestHistoryMovesDamageAside(t *testing.T) {
	good := filepath.Join(t.TempDir(), "h.sqlite")
	h := newHistory(good, "", &postMortem{}, kernel.NewLog(nil))
	for line := range 200 {
		h.Put(kernel.Entry{Count: line + 1, Text: strings.Repeat("x", 100)})
	}
	h.Close()
	text, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	garbled := bytes.Clone(text)
	for i := 4096; i < len(garbled); i++ {
		garbled[i] = byte(i)
	}
	for _, c := range []struct {
		name string
		text []byte
	}{
		{"garbage", []byte(strings.Repeat("not a database ", 1000))},
		{"truncated", text[:4096+100]},
		{"pages of garbage", garbled},
	} {
		for _, open := range []bool{false, true} {
			t.Run(fmt.Sprint(c.name, ", in use ", open), func(t *testing.T) {
				dir := t.TempDir()
				path := filepath.Join(dir, "h.sqlite")
				var log logBuffer
				h := newHistory(path, "", &postMortem{}, kernel.NewLog(&log))
				defer h.Close()
				if open {
					h.Put(kernel.Entry{Count: 1, Text: "early"})
					found(t, h, kernel.HistoryQuery{Access: "tail"})
				}
				if err := os.WriteFile(path, c.text, 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path+"-journal", []byte("of the damaged one"), 0o600); err != nil {
					t.Fatal(err)
				}
				h.Put(kernel.Entry{Count: 2, Text: "late"})
				if got := found(t, h, kernel.HistoryQuery{Access: "search", Pattern: "late"}); !strings.Contains(got, ":2 late") {
					t.Errorf("got %q, want the cell", got)
				}
				if words := h.News(); len(words) != 1 || !strings.Contains(words[0], "damaged") || len(h.News()) != 0 {
					t.Errorf("got the messages %q, want one about the damage, once\n%s", words, log.String())
				}
				h.Close()
				aside, _ := filepath.Glob(path + "-damaged-*[0-9]")
				if len(aside) != 1 {
					t.Fatalf("moved aside: got %q, want one file", aside)
				}
				if now, _ := os.ReadFile(aside[0]); !bytes.Equal(now, c.text) && !open {
					t.Error("the damaged file has changed")
				}
				next := newHistory(path, "", &postMortem{}, kernel.NewLog(&log))
				defer next.Close()
				if got := found(t, next, kernel.HistoryQuery{Access: "search", Pattern: "late"}); !strings.Contains(got, ":2 late") {
					t.Errorf("the next kernel: got %q, want the cell of the one before", got)
				}
				if words := next.News(); len(words) > 0 {
					t.Errorf("the next kernel: got the messages %q, want none", words)
				}
			})
		}
	}
}

// TestHistoryIsPrivate checks that other users cannot read a history whose file they could read before.
func TestHistoryIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not keep access rights in the file mode")
	}
	path := filepath.Join(t.TempDir(), "h.sqlite")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	h := newHistory(path, "", &postMortem{}, kernel.NewLog(nil))
	defer h.Close()
	h.Put(kernel.Entry{Count: 1, Text: "x"})
	found(t, h, kernel.HistoryQuery{Access: "tail"})
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v, want the mode 0600", info, err)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped with -short: fills a history")
	}
	h := newHistory("", "", &postMortem{}, kernel.NewLog(nil))
	defer h.Close()
	h.Put(kernel.Entry{Count: 1, Text: strings.Repeat("x", 256<<10+1)})
	h.Put(kernel.Entry{Count: 2, Text: "x"})
	h.Put(kernel.Entry{Count: 2, Text: strings.Repeat("x", 16<<10+1), Kind: kernel.ResultOf})
	if got, want := found(t, h, kernel.HistoryQuery{Access: "tail", Output: true}), "1:2 x"; got != want {
		t.Errorf("entries that are too long: got %q, want %q", got, want)
	}
	size := func() (cells, bytes int) {
		h.use(func(s *historyStore) error {
			return s.db.QueryRow("SELECT count(*), sum(octet_length(source)) FROM cells").Scan(&cells, &bytes)
		})
		return cells, bytes
	}
	const large = 200 << 10
	for i := range pruneEvery {
		h.Put(kernel.Entry{Count: 10 + i, Text: strings.Repeat("x", large)})
		if i%100 == 0 {
			size()
		}
	}
	if _, bytes := size(); bytes > kernel.MaxHistoryBytes || bytes < kernel.MaxHistoryBytes/2 {
		t.Errorf("%d bytes are kept, want at most %d", bytes, kernel.MaxHistoryBytes)
	}
	for i := range kernel.MaxHistoryCells + 3*pruneEvery {
		h.Put(kernel.Entry{Count: 1000 + i, Text: "x"})
		if i%5000 == 0 {
			size()
		}
	}
	if cells, _ := size(); cells > kernel.MaxHistoryCells+pruneEvery || cells < kernel.MaxHistoryCells {
		t.Errorf("%d cells are kept, want about %d", cells, kernel.MaxHistoryCells)
	}
	last := kernel.MaxHistoryCells + 3*pruneEvery + 999
	if got, want := found(t, h, kernel.HistoryQuery{Access: "tail", N: new(1)}), fmt.Sprintf("1:%d x", last); got != want {
		t.Errorf("the newest: got %q, want %q", got, want)
	}
}

func TestHistoryFile(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("needs a system that uses the XDG directories")
	}
	for _, name := range []string{"HALFNOTE_HISTORY", "JUPYTER_DATA_DIR", "XDG_DATA_HOME", "HOME"} {
		t.Setenv(name, "") // registers the variable to be restored
		os.Unsetenv(name)
	}
	for _, tt := range []struct{ name, value, want string }{ // each in addition to those before it
		{"", "", ""},
		{"HOME", "/home/u", "/home/u/.local/share/jupyter/halfnote/history.sqlite"},
		{"XDG_DATA_HOME", "/data", "/data/jupyter/halfnote/history.sqlite"},
		{"JUPYTER_DATA_DIR", "/jupyter", "/jupyter/halfnote/history.sqlite"},
		{"HALFNOTE_HISTORY", "/h", "/h"},
		{"HALFNOTE_HISTORY", "", ""},
	} {
		if tt.name != "" {
			os.Setenv(tt.name, tt.value)
		}
		if got := HistoryFile(); got != tt.want {
			t.Errorf("with %s=%s: got %q, want %q", tt.name, tt.value, got, tt.want)
		}
	}
}
