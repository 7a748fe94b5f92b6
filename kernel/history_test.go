package kernel

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
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
func found(t *testing.T, h *history, q historyQuery) string {
	t.Helper()
	var found []historyCell
	if err := h.use(func(s *historyStore) (err error) {
		found, err = s.find(context.Background(), q)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, c := range found {
		line := fmt.Sprintf("%d:%d %s", c.session, c.line, c.source)
		if q.Output && c.output != nil {
			line += "=" + *c.output
		}
		list = append(list, line)
	}
	return strings.Join(list, ", ")
}

func TestHistoryOutlivesTheSession(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a folder?#%41", "h.sqlite")
	var log logBuffer
	for session, want := range []string{"", "1:1 x=X, 1:2 y", "1:1 x=X, 1:2 y, 2:1 x=X, 2:2 y"} {
		h := newHistory(path, newLogger(&log))
		if got := found(t, h, historyQuery{Access: "tail", Output: true}); got != want {
			t.Errorf("at the start of session %d: got %q, want %q", session+1, got, want)
		}
		h.add(1, "x")
		h.result(1, "X")
		h.add(2, "y")
		h.close()
		h.add(3, "too late")
		h.close()
	}
	h := newHistory(path, newLogger(&log))
	defer h.close()
	for _, tt := range []struct {
		query historyQuery
		want  string
	}{
		{historyQuery{Access: "range", Session: -1}, "3:1 x, 3:2 y"},
		{historyQuery{Access: "range", Session: -2, Start: 2}, "2:2 y"},
		{historyQuery{Access: "range"}, ""},
		{historyQuery{Access: "search", Pattern: "[x-z]", Unique: true}, "3:1 x, 3:2 y"},
		{historyQuery{Access: "search", Pattern: "y' OR 1=1 --"}, ""},
	} {
		if got := found(t, h, tt.query); got != tt.want {
			t.Errorf("%+v: got %q, want %q", tt.query, got, tt.want)
		}
	}
	h.add(1, "z")
	if got, want := found(t, h, historyQuery{Access: "range"}), "4:1 z"; got != want {
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
			h := newHistory(path, newLogger(&log))
			defer h.close()
			for line := range cells {
				h.add(line+1, fmt.Sprintf("kernel %d", i))
				if line%10 == 0 {
					h.use(func(*historyStore) error { return nil })
				}
			}
		})
	}
	all.Wait()
	h := newHistory(path, newLogger(&log))
	defer h.close()
	for session := 1; session <= kernels; session++ {
		got := found(t, h, historyQuery{Access: "range", Session: session})
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
			h := newHistory(tt.path, newLogger(&log))
			defer h.close()
			h.add(1, "x")
			h.add(2, "y")
			if got, want := found(t, h, historyQuery{Access: "tail"}), "1:1 x, 1:2 y"; got != want {
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
		h := newHistory(path, newLogger(&log))
		defer h.close()
		h.add(1, "x")
		h.result(1, "X")
		found(t, h, historyQuery{Access: "tail"})
		if _, err := h.store.db.Exec("CREATE TRIGGER full BEFORE INSERT ON cells BEGIN SELECT raise(ABORT, 'disk full'); END"); err != nil {
			t.Fatal(err)
		}
		h.add(2, "y")
		h.add(3, "z")
		if got, want := found(t, h, historyQuery{Access: "tail", Output: true}), "1:1 x=X, 1:2 y, 1:3 z"; got != want {
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
	h := newHistory(good, newLogger(nil))
	for line := range 200 {
		h.add(line+1, strings.Repeat("x", 100))
	}
	h.close()
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
				h := newHistory(path, newLogger(&log))
				defer h.close()
				if open {
					h.add(1, "early")
					found(t, h, historyQuery{Access: "tail"})
				}
				if err := os.WriteFile(path, c.text, 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path+"-journal", []byte("of the damaged one"), 0o600); err != nil {
					t.Fatal(err)
				}
				h.add(2, "late")
				if got := found(t, h, historyQuery{Access: "search", Pattern: "late"}); !strings.Contains(got, ":2 late") {
					t.Errorf("got %q, want the cell", got)
				}
				if words := h.news(); len(words) != 1 || !strings.Contains(words[0], "damaged") || len(h.news()) != 0 {
					t.Errorf("got the messages %q, want one about the damage, once\n%s", words, log.String())
				}
				h.close()
				aside, _ := filepath.Glob(path + "-damaged-*[0-9]")
				if len(aside) != 1 {
					t.Fatalf("moved aside: got %q, want one file", aside)
				}
				if now, _ := os.ReadFile(aside[0]); !bytes.Equal(now, c.text) && !open {
					t.Error("the damaged file has changed")
				}
				next := newHistory(path, newLogger(&log))
				defer next.close()
				if got := found(t, next, historyQuery{Access: "search", Pattern: "late"}); !strings.Contains(got, ":2 late") {
					t.Errorf("the next kernel: got %q, want the cell of the one before", got)
				}
				if words := next.news(); len(words) > 0 {
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
	h := newHistory(path, newLogger(nil))
	defer h.close()
	h.add(1, "x")
	found(t, h, historyQuery{Access: "tail"})
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v, want the mode 0600", info, err)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped with -short: fills a history")
	}
	h := newHistory("", newLogger(nil))
	defer h.close()
	h.add(1, strings.Repeat("x", maxHistorySource+1))
	h.add(2, "x")
	h.result(2, strings.Repeat("x", maxHistoryResult+1))
	if got, want := found(t, h, historyQuery{Access: "tail", Output: true}), "1:2 x"; got != want {
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
		h.add(10+i, strings.Repeat("x", large))
		if i%100 == 0 {
			size()
		}
	}
	if _, bytes := size(); bytes > maxHistoryBytes || bytes < maxHistoryBytes/2 {
		t.Errorf("%d bytes are kept, want at most %d", bytes, maxHistoryBytes)
	}
	for i := range maxHistoryCells + 3*pruneEvery {
		h.add(1000+i, "x")
		if i%5000 == 0 {
			size()
		}
	}
	if cells, _ := size(); cells > maxHistoryCells+pruneEvery || cells < maxHistoryCells {
		t.Errorf("%d cells are kept, want about %d", cells, maxHistoryCells)
	}
	last := maxHistoryCells + 3*pruneEvery + 999
	if got, want := found(t, h, historyQuery{Access: "tail", N: new(1)}), fmt.Sprintf("1:%d x", last); got != want {
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
