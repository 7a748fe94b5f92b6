package kernel

import (
	"context"
	"slices"
	"sync"
)

// Memory is a [History] of one kernel that ends with it. The zero value is empty and does not keep outputs.
type Memory struct {
	mu    sync.Mutex
	cells []remembered // by count
	size  int          // bytes of sources and results
	kept  int          // bytes of outputs
}

// remembered is a cell in memory.
type remembered struct {
	HistoryCell
	outputs string // as notebooks hold them, JSON
	summary KeptCell
}

// Put adds an entry.
func (m *Memory) Put(e Entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i, known := slices.BinarySearchFunc(m.cells, e.Count, func(c remembered, count int) int { return c.Count - count })
	switch {
	case e.TooLong():
		return
	case e.Kind == SourceOf && !known:
		m.cells = slices.Insert(m.cells, i, remembered{HistoryCell: HistoryCell{Session: 1, Count: e.Count, Source: e.Text}})
		m.size += len(e.Text)
	case e.Kind == SourceOf:
		m.size += len(e.Text) - len(m.cells[i].Source)
		m.cells[i].Source = e.Text
	case !known: // its source was too long
		return
	case e.Kind == ResultOf:
		m.size += len(e.Text)
		m.cells[i].Output = &e.Text
	case e.Kind == OutputsOf:
		m.kept += len(e.Text) - len(m.cells[i].outputs)
		m.cells[i].outputs, m.cells[i].summary = e.Text, e.Kept
	}
	for len(m.cells) > 1 && (len(m.cells) > MaxHistoryCells || m.size > MaxHistoryBytes || m.kept > MaxKeptBytes) {
		old := m.cells[0]
		m.size -= len(old.Source)
		if old.Output != nil {
			m.size -= len(*old.Output)
		}
		m.kept -= len(old.outputs)
		m.cells = slices.Delete(m.cells, 0, 1)
	}
}

// Find returns the cells that q asks for. The kernel is number 1.
func (m *Memory) Find(_ context.Context, q HistoryQuery) ([]HistoryCell, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	end := 1
	if n := len(m.cells); n > 0 {
		end = m.cells[n-1].Count + 1
	}
	start, stop := q.Range(end)
	pattern, seen := q.Glob(), map[string]bool{}
	var found []HistoryCell
	for _, c := range slices.Backward(m.cells) {
		if n := q.Most(); n >= 0 && len(found) >= n {
			break
		}
		switch q.Access {
		case "range":
			if q.Session != 0 && q.Session != 1 || c.Count < start || c.Count >= stop {
				continue
			}
		case "search":
			if !glob([]rune(pattern), []rune(c.Source)) || q.Unique && seen[c.Source] {
				continue
			}
			seen[c.Source] = true
		}
		found = append(found, c.HistoryCell)
	}
	slices.Reverse(found)
	return found, nil
}

// News returns nothing: memory has none.
func (m *Memory) News() []string { return nil }

// Close does nothing.
func (m *Memory) Close() {}

// Keeper is a [Memory] that keeps the outputs of cells.
type Keeper struct{ Memory }

// Cells returns the cells that have outputs. There is no kernel before this one.
func (k *Keeper) Cells(back int) (list []KeptCell, err error) {
	return k.list(back, func(c remembered) bool { return len(c.outputs) > len("[]") }), nil
}

// Sources returns the cells that ran.
func (k *Keeper) Sources(back int) ([]KeptCell, error) {
	return k.list(back, func(remembered) bool { return true }), nil
}

func (k *Keeper) list(back int, wanted func(remembered) bool) (list []KeptCell) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range k.cells {
		if back == 0 && wanted(c) {
			s := c.summary
			s.Count, s.Source = c.Count, c.Source
			list = append(list, s)
		}
	}
	return list
}

// Outputs returns the outputs of In[count].
func (k *Keeper) Outputs(back, count int) ([]KeptOutput, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range k.cells {
		if back == 0 && c.Count == count && c.outputs != "" {
			return ReadOutputs(c.outputs)
		}
	}
	return nil, nil
}

// glob reports whether s matches a pattern as in SQLite (https://sqlite.org/lang_expr.html#glob): * stands for any text, ? for a
// character, [a-z] and [^a-z] for one that is in a set or not.
func glob(pattern, s []rune) bool {
	star, from := -1, 0 // the last star, and where what follows it is tried next
	i, j := 0, 0
	for j < len(s) {
		n, ok := 0, false
		if i < len(pattern) && pattern[i] == '*' {
			star, from = i, j
			i++
			continue
		} else if i < len(pattern) {
			n, ok = globOne(pattern[i:], s[j])
		}
		switch {
		case ok:
			i, j = i+n, j+1
		case star < 0:
			return false
		default:
			from++
			i, j = star+1, from
		}
	}
	for i < len(pattern) && pattern[i] == '*' {
		i++
	}
	return i == len(pattern)
}

// globOne reports whether c matches the beginning of a pattern, which is n long and not a star.
func globOne(pattern []rune, c rune) (n int, ok bool) {
	switch pattern[0] {
	case '?':
		return 1, true
	case '[':
	default:
		return 1, pattern[0] == c
	}
	set := pattern[1:]
	not := len(set) > 0 && set[0] == '^'
	if not {
		set = set[1:]
	}
	n = len(pattern) - len(set)
	first := rune(0) // of a range, if a - follows
	for i := 0; i < len(set); i++ {
		switch {
		case set[i] == ']' && i == 0: // a member
			ok = c == ']'
		case set[i] == ']':
			return n + i + 1, ok != not
		case set[i] == '-' && first > 0 && i+1 < len(set) && set[i+1] != ']':
			i++
			ok = ok || first <= c && c <= set[i]
			first = 0
		default:
			ok = ok || set[i] == c
			first = set[i]
		}
	}
	return n, false // the bracket is not closed
}
