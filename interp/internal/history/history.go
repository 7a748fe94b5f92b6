// Package history records the cells that a session has run: the sources of In[n], and how each
// cell ended.
package history

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Cell is a cell of a notebook that has been run.
type Cell struct {
	Code  string
	Count int // number n of In[n]
	// Failed is the name of the error that ended it, or "".
	Failed string
	// Shown reports whether it showed the value of its last expression, which later
	// cells may name.
	Shown bool
}

// History is the record of one session. Its methods may be called concurrently.
type History struct {
	mu      sync.Mutex
	sources map[int]string // of In[n]
	numbers []int          // numbers of the cells in sources, oldest first
	asides  int            // number of uncounted cells, which have negative numbers
	ran     []Cell
}

// maxSources is the number of sources that are kept.
const maxSources = 2000

// maxAsides is the number of uncounted cells among them.
const maxAsides = 100

// New returns a history without cells.
func New() *History { return &History{sources: map[int]string{}} }

// Begin records the source of a cell that is about to run, and returns its number. A cell outside
// the history arrives with the number of another cell, so it gets a negative number instead.
func (h *History) Begin(code string, count int, silent bool) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, taken := h.sources[count]; silent || taken {
		h.asides++
		count = -h.asides
		if oldest := count + maxAsides; oldest < 0 {
			delete(h.sources, oldest)
		}
		h.sources[count] = code
		return count
	}
	h.numbers = append(h.numbers, count)
	if len(h.numbers) > maxSources {
		delete(h.sources, h.numbers[0])
		h.numbers = slices.Delete(h.numbers, 0, 1)
	}
	h.sources[count] = code
	return count
}

// End records a cell that has run.
func (h *History) End(c Cell) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ran = append(h.ran, c)
}

// Ran returns the cells that have run, in that order. The caller must not change them.
func (h *History) Ran() []Cell {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clip(h.ran)
}

// Source returns the source of In[n]. ok is false if it is not kept.
func (h *History) Source(n int) (code string, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	code, ok = h.sources[n]
	return code, ok
}

// Text returns the source of In[n] without line feeds at its end, or "" if it is not kept.
func (h *History) Text(n int) string {
	code, _ := h.Source(n)
	return strings.TrimRight(code, "\n")
}

// Inputs returns the sources of the cells by number, as IPython's In does.
func (h *History) Inputs() (list []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for n, code := range h.sources {
		if n < 0 {
			continue
		}
		if n >= len(list) {
			list = append(list, make([]string, n+1-len(list))...)
		}
		list[n] = code
	}
	return list
}

// Select returns the numbers of the cells in a list such as "2-4 7": 5- is a range up to the
// last one before the current cell, and an empty list stands for all, up to last.
func (h *History) Select(list string, last int) ([]int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	words := strings.Fields(list)
	if len(words) == 0 || len(h.numbers) == 0 {
		return slices.DeleteFunc(slices.Clone(h.numbers), func(n int) bool { return n > last }), nil
	}
	var cells []int
	for _, w := range words {
		from, to, isRange := strings.Cut(w, "-")
		first, err := strconv.Atoi(from)
		end := first
		if isRange && err == nil {
			if end, err = strconv.Atoi(to); to == "" {
				end, err = h.numbers[len(h.numbers)-1]-1, nil
			}
		}
		if err != nil {
			return nil, fmt.Errorf("want the numbers of cells, such as 2-4 7, got %s", w)
		}
		for n := first; n <= end; n++ {
			if _, ok := h.sources[n]; !ok && n == first {
				return nil, fmt.Errorf("the source of In[%d] is not kept; there are In[%d] to In[%d]", n, h.numbers[0], h.numbers[len(h.numbers)-1])
			} else if ok {
				cells = append(cells, n)
			}
		}
	}
	return cells, nil
}
