package kernel

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"halfnote/display"
)

// History keeps the cells that a kernel runs, and those of earlier kernels if it outlives them. If it is also a [KeptOutputs], it keeps
// the outputs of cells. Its methods may be called from any goroutine.
type History interface {
	// Put adds an entry. It does not wait for a disk.
	Put(Entry)
	// Find returns the cells that a query asks for, the oldest first, with all that was put before.
	Find(ctx context.Context, q HistoryQuery) ([]HistoryCell, error)
	// News returns what the user should know of the history and has not been told: the next cell shows it.
	News() []string
	// Close ends the history. Later entries are dropped.
	Close()
}

// Entry is a cell to add, or a part of one.
type Entry struct {
	Count  int // execution count of the cell
	Text   string
	Kind   EntryKind
	CellID string   // for OutputsOf: id of the notebook's cell, or ""
	Kept   KeptCell // for OutputsOf: the outputs in numbers, without Count and Source
}

// EntryKind is what the text of an entry is.
type EntryKind int

const (
	SourceOf  EntryKind = iota // the source of a cell
	ResultOf                   // text/plain of its result
	OutputsOf                  // its outputs as notebooks hold them, JSON; it replaces those before
)

// Limits of a history. Longer cells and results are not kept, and of more cells and outputs the newest.
const (
	MaxHistoryCells = 10_000
	MaxHistoryBytes = 8 << 20 // of sources and results
	MaxKeptCells    = 1000    // cells with outputs
	MaxKeptBytes    = 64 << 20

	maxHistorySource = 256 << 10
	maxHistoryResult = 16 << 10
)

// TooLong reports whether an entry exceeds the limits by itself: it is not kept then.
func (e Entry) TooLong() bool {
	return e.Kind == SourceOf && len(e.Text) > maxHistorySource || e.Kind == ResultOf && len(e.Text) > maxHistoryResult
}

// HistoryCell is a cell of a history.
type HistoryCell struct {
	Session int64 // number of its kernel
	Count   int
	Source  string
	Output  *string // text/plain of its result; nil if it had none
}

// HistoryQuery is the content of history_request. Ranges work as in IPython's HistoryManager.
type HistoryQuery struct {
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

// Most returns the most cells that a tail or a search returns; -1 is all.
func (q HistoryQuery) Most() int {
	switch {
	case q.N != nil:
		return *q.N
	case q.Access == "tail":
		return 10
	}
	return -1
}

// Glob returns the pattern of a search.
func (q HistoryQuery) Glob() string { return cmp.Or(q.Pattern, "*") }

// Range returns the lines of a range, from start to before stop, in a session whose lines end before end.
func (q HistoryQuery) Range(end int) (start, stop int) {
	start, stop = q.Start, end
	if start < 0 {
		start += end
	}
	if q.Stop != nil && *q.Stop != 0 {
		if stop = *q.Stop; stop < 0 {
			stop += end
		}
	}
	return start, stop
}

const historyFor = 5 * time.Second // time limit for one answer

func (k *kernel) historyReply(r *request) (any, error) {
	var q HistoryQuery
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
	found, err := k.history.Find(ctx, q)
	if err != nil {
		return nil, err
	}
	list := []any{}
	for _, c := range found {
		var input any = c.Source
		if q.Output {
			input = []any{c.Source, c.Output}
		}
		list = append(list, []any{c.Session, c.Count, input})
	}
	return object{"status": "ok", "history": list}, nil
}

// ReadOutputs reads the text of an entry of outputs.
func ReadOutputs(text string) ([]KeptOutput, error) {
	var list []struct {
		Type           string `json:"output_type"`
		Name, Text     string
		EName, EValue  string
		Traceback      []string
		Data, Metadata map[string]any
		Transient      struct {
			ID string `json:"display_id"`
		}
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, fmt.Errorf("kernel: kept outputs: %w", err)
	}
	var out []KeptOutput
	for _, o := range list {
		switch o.Type {
		case "stream":
			out = append(out, KeptOutput{Stream: o.Name, Text: o.Text})
		case "error":
			out = append(out, KeptOutput{Err: &Error{Name: o.EName, Value: o.EValue, Traceback: o.Traceback}})
		default:
			out = append(out, KeptOutput{Bundle: display.Bundle{Data: o.Data, Metadata: o.Metadata, ID: o.Transient.ID}})
		}
	}
	return out, nil
}
