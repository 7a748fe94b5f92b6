package kernel

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"
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
	historyFor = 5 * time.Second        // time limit for one answer
	maxPending = 10_000
)

// history keeps the cells that were run. Cells never wait for the disk: a goroutine
// writes the entries, and a failed write costs only a line in the log.
type history struct {
	path string
	log  *logger

	mu      sync.Mutex
	pending []entry
	wake    chan struct{} // signals pending entries; nil until the writer runs
	lost    bool          // whether pending was ever full
	closed  bool
	words   []string // messages for the next cell
	said    int      // messages so far

	disk  sync.Mutex // guards store
	store *historyStore
}

// entry is a cell to add, or a part of one.
type entry struct {
	line int
	text string
	kind entryKind
	kept keptRow // for outputsOf
}

type entryKind int

const (
	sourceOf  entryKind = iota // adds the cell
	resultOf                   // text/plain of its result
	outputsOf                  // its outputs as JSON
)

func newHistory(path string, log *logger) *history { return &history{path: path, log: log} }

// add records the source of cell number line.
func (h *history) add(line int, source string) { h.put(entry{line: line, text: source}) }

// result records the text/plain of its result.
func (h *history) result(line int, text string) { h.put(entry{line: line, text: text, kind: resultOf}) }

func (h *history) put(e entry) {
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
	if e.kind == outputsOf { // replaces the outputs that were not written yet
		h.pending = slices.DeleteFunc(h.pending, func(p entry) bool { return p.kind == outputsOf && p.line == e.line })
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
	err := h.store.write(pending)
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
	if err := h.store.write(pending); err != nil {
		return err
	}
	return f(h.store)
}

// close writes the pending entries.
func (h *history) close() {
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

// historyQuery is the content of history_request.
type historyQuery struct {
	Access  string `json:"hist_access_type"` // "range", "tail" or "search"
	Output  bool   `json:"output"`           // whether to include results
	Raw     bool   `json:"raw"`              // IPython's flag: sources as typed, the only kind here
	Session int    `json:"session"`          // session of a range; 0 is this one, -1 the previous one
	Start   int    `json:"start"`            // first line of a range; negative counts from the end
	Stop    *int   `json:"stop"`             // end of a range, exclusive; absent is the end
	N       *int   `json:"n"`                // number of entries of a tail or search
	Pattern string `json:"pattern"`          // pattern of a search: an SQLite glob, "" is "*"
	Unique  bool   `json:"unique"`           // whether a search returns each source once
}

func (k *kernel) historyReply(r *request) (any, error) {
	var q historyQuery
	if err := r.decode(&q); err != nil {
		return nil, err
	}
	switch q.Access {
	case "range", "tail", "search":
	default:
		return nil, fmt.Errorf("hist_access_type: %q, want range, tail or search", q.Access)
	}
	ctx, cancel := context.WithTimeout(k.life, historyFor)
	defer cancel()
	var found []historyCell
	err := k.history.use(func(s *historyStore) (err error) {
		found, err = s.find(ctx, q)
		return err
	})
	if err != nil {
		return nil, err
	}
	list := []any{}
	for _, c := range found {
		var input any = c.source
		if q.Output {
			input = []any{c.source, c.output}
		}
		list = append(list, []any{c.session, c.line, input})
	}
	return object{"status": "ok", "history": list}, nil
}
