package jupyter

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"halfnote/kernel"
)

// HistoryFile returns the path of the file that keeps the cells of all of the user's
// sessions: the file that HALFNOTE_HISTORY names, or halfnote/history.sqlite in the
// user's Jupyter data folder. It returns "", for no file, if HALFNOTE_HISTORY is set
// but empty or there is no such folder.
func HistoryFile() string {
	if path, ok := os.LookupEnv("HALFNOTE_HISTORY"); ok {
		return path
	}
	dir := os.Getenv("JUPYTER_DATA_DIR")
	home, err := os.UserHomeDir()
	switch {
	case dir != "":
	case runtime.GOOS == "windows" && os.Getenv("APPDATA") != "":
		dir = filepath.Join(os.Getenv("APPDATA"), "jupyter")
	case runtime.GOOS != "windows" && runtime.GOOS != "darwin" && os.Getenv("XDG_DATA_HOME") != "":
		dir = filepath.Join(os.Getenv("XDG_DATA_HOME"), "jupyter")
	case err != nil:
		return ""
	case runtime.GOOS == "darwin":
		dir = filepath.Join(home, "Library", "Jupyter")
	default:
		dir = filepath.Join(home, ".local", "share", "jupyter")
	}
	return filepath.Join(dir, "halfnote", "history.sqlite")
}

const (
	gather     = 100 * time.Millisecond // window in which writes are gathered
	historyFor = 5 * time.Second        // time limit for kept outputs
	maxPending = 10_000
)

// history is a [kernel.History] and a [kernel.KeptOutputs] in an SQLite file. Cells never wait for the disk: a goroutine
// writes the entries, and a failed write costs only a line in the log.
type history struct {
	path     string
	notebook string
	last     *postMortem
	log      *kernel.Log

	mu      sync.Mutex
	pending []kernel.Entry
	wake    chan struct{} // signals pending entries; nil until the writer runs
	lost    bool          // whether pending was ever full
	closed  bool
	words   []string // messages for the next cell
	said    int      // messages so far

	disk  sync.Mutex // guards store
	store *historyStore
}

// newHistory returns the history in the file at path, of a kernel of a notebook. last has what the kernel before left.
func newHistory(path, notebook string, last *postMortem, log *kernel.Log) *history {
	return &history{path: path, notebook: notebook, last: last, log: log}
}

// Put adds an entry.
func (h *history) Put(e kernel.Entry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	if len(h.pending) >= maxPending {
		if !h.lost {
			h.log.Printf("history: %d entries are waiting for the disk: some will be dropped", len(h.pending))
		}
		h.lost = true
		return
	}
	if e.Kind == kernel.OutputsOf { // replaces the outputs that were not written yet
		h.pending = slices.DeleteFunc(h.pending, func(p kernel.Entry) bool { return p.Kind == kernel.OutputsOf && p.Count == e.Count })
	}
	h.pending = append(h.pending, e)
	if h.wake == nil {
		h.wake = make(chan struct{}, 1)
		go h.write()
	}
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

func (h *history) write() {
	for range h.wake {
		time.Sleep(gather)
		h.use(func(*historyStore) error { return nil })
	}
}

// use calls f once all pending entries are in the store.
func (h *history) use(f func(*historyStore) error) error {
	h.disk.Lock()
	defer h.disk.Unlock()
	h.mu.Lock()
	pending, closed := h.pending, h.closed
	h.pending = nil
	h.mu.Unlock()
	if closed && h.store == nil {
		return errors.New("history: closed")
	}
	if h.store == nil {
		var err error
		if h.store, err = h.open(nil); err != nil {
			return err
		}
	}
	err := h.store.write(h.notebook, pending)
	if err == nil {
		err = f(h.store)
	}
	if err == nil || h.store.memory || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	memory, merr := openHistory("")
	if merr != nil {
		return err
	}
	h.store.moveTo(memory)
	h.store = memory
	if damaged(err) {
		fresh, ferr := h.open(err)
		if ferr != nil {
			return ferr
		}
		memory.moveTo(fresh)
		h.store = fresh
	} else {
		h.say("%v: from now on cells are kept in memory", err)
	}
	if err := h.store.write(h.notebook, pending); err != nil {
		return err
	}
	return f(h.store)
}

// Find returns the cells that a query asks for.
func (h *history) Find(ctx context.Context, q kernel.HistoryQuery) (found []kernel.HistoryCell, err error) {
	err = h.use(func(s *historyStore) (err error) {
		found, err = s.find(ctx, q)
		return err
	})
	return found, err
}

// Close writes the pending entries.
func (h *history) Close() {
	h.mu.Lock()
	wake := h.wake
	h.mu.Unlock()
	if wake != nil {
		h.use(func(*historyStore) error { return nil })
	}
	h.disk.Lock()
	defer h.disk.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	h.closed = true
	if wake != nil {
		close(h.wake)
	}
	if h.store != nil {
		h.store.close()
		h.store = nil
	}
}
