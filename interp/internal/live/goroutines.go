package live

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"halfnote/internal/goid"
)

// Goroutine describes a goroutine of a cell.
type Goroutine struct {
	Cell   int    // n of In[n]; 0 for a callback of a front end
	Does   string // what it does: "sleeps", "computes", or the state in which compiled code waits
	Inside string // the compiled function that the cell has called, by its full name, or ""
	// At is the mark of the place where it waits, or where it last looked for an interrupt. Started is the mark of the statement that
	// started it. They are 0 if they are not known.
	At, Started int
}

// spot is what is known of the place of a goroutine.
type spot struct {
	started int // mark of the statement that started it, or 0
	at      int // mark of the operation in which it waits, or 0
}

// arrive records that the calling goroutine waits at a mark. If it reports true, depart must be called at the end of the wait. A cell's only
// goroutine is not recorded: it takes time, and there is nothing to list.
func (r *Registry) arrive(mark int) bool {
	if r.others.Load() == 0 {
		return false
	}
	r.setSpot(mark)
	return true
}

// startedAt records the mark at which a goroutine was started.
func (r *Registry) startedAt(id uint64, mark int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.spots[id] = spot{started: mark}
}

func (r *Registry) depart() { r.setSpot(0) }

func (r *Registry) setSpot(mark int) {
	id := goid.Current()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cell(id) != nil {
		r.spots[id] = spot{r.spots[id].started, mark}
	}
}

// answer records where the calling goroutine is, if Goroutines asks for it.
func (r *Registry) answer(mark int) {
	if !r.asking.Load() || mark == 0 {
		return
	}
	id := goid.Current()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.answers != nil {
		r.answers[id] = mark
	}
}

// answerWithin is the time in which goroutines that compute say where they are: a poll of a loop is much faster.
const answerWithin = 30 * time.Millisecond

// ask returns the marks at which goroutines that compute poll.
func (r *Registry) ask(goroutines map[uint64]bool) map[uint64]int {
	if len(goroutines) == 0 {
		return nil
	}
	answers := map[uint64]int{}
	r.asks(answers)
	for end := time.Now().Add(answerWithin); time.Now().Before(end) && !r.answered(goroutines); time.Sleep(time.Millisecond) {
		r.hurry()
	}
	r.asks(nil)
	return answers
}

// asks makes goroutines that poll write their marks to answers, or, if that is nil, ends this.
func (r *Registry) asks(answers map[uint64]int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers = answers
	if r.asking.Store(answers != nil); answers != nil {
		atomic.StoreUint32(&r.flag, 1)
	}
	r.lower()
}

// answered reports whether all goroutines have answered.
func (r *Registry) answered(goroutines map[uint64]bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range goroutines {
		if r.answers[id] == 0 {
			return false
		}
	}
	return true
}

// Goroutines describes the goroutines of cells, in the order of their cells.
func (r *Registry) Goroutines() (list []Goroutine) {
	of, asked := r.described(goroutines())
	answers := r.ask(asked)
	for id, x := range of {
		if asked[id] {
			x.At = answers[id]
		}
		list = append(list, x)
	}
	slices.SortFunc(list, func(a, b Goroutine) int {
		return cmp.Or(cmp.Compare(a.Cell, b.Cell), cmp.Compare(a.Started, b.Started), cmp.Compare(a.At, b.At), strings.Compare(a.Does, b.Does))
	})
	return list
}

// described describes those of all goroutines that belong to cells, and returns which of them compute at an unknown place.
func (r *Registry) described(all []goroutine) (of map[uint64]Goroutine, asked map[uint64]bool) {
	of, asked = map[uint64]Goroutine{}, map[uint64]bool{}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, g := range all {
		c := r.cell(g.id)
		if c == nil {
			continue
		}
		at := r.spots[g.id]
		x := Goroutine{Cell: c.root().N, At: at.at, Started: at.started}
		x.Does, x.Inside = g.does(r.attached.Load().RunsCells)
		if x.At == 0 && x.Inside == "" {
			asked[g.id] = true
		}
		of[g.id] = x
	}
	return of, asked
}

// waitsIn says what a goroutine does in a method of Registry.
var waitsIn = map[string]string{
	"CondWait": "waits for a condition",
	"Lock":     "waits for a lock",
	"Recv":     "waits to receive",
	"Select":   "waits in a select",
	"Send":     "waits to send",
	"Sleep":    "sleeps",
	"Wait":     "waits for a wait group",
}

// computes is what a goroutine does that does not wait.
const computes = "computes"

// does says what a goroutine of a cell does, and in which compiled function if the cell has called one.
func (g goroutine) does(runsCells func(string) bool) (does, inside string) {
	for _, f := range g.frames {
		if runsCells(f) {
			break
		}
		if method, ok := strings.CutPrefix(f, packageName+"(*Registry)."); ok {
			if text := waitsIn[method]; text != "" {
				does, inside = text, ""
			}
			continue
		}
		if does == "" && !isBetween(f) {
			inside = f
		}
	}
	switch {
	case does != "":
		return does, ""
	case inside == "", g.state == "running", g.state == "runnable":
		return computes, inside
	}
	return g.state, inside
}

// isBetween reports whether a function belongs to the run-time system, or to what calls compiled code for a cell.
func isBetween(f string) bool {
	for _, p := range []string{"runtime.", "reflect.", "internal/", "halfnote/interp", "github.com/traefik/yaegi/"} {
		if strings.HasPrefix(f, p) {
			return true
		}
	}
	return !strings.Contains(f, ".")
}

// StopCells tells the goroutines of cells to stop, of all those for whose numbers which returns true; callbacks that these cells have left, of
// timers for example, no longer run. It waits for the goroutines until ctx ends, and returns their numbers before and after, by cell.
func (r *Registry) StopCells(ctx context.Context, which func(n int) bool) (before, after map[int]int) {
	var cells []*Cell
	for c := range r.startable() {
		if which(c.N) {
			cells = append(cells, c)
		}
	}
	before, after = map[int]int{}, map[int]int{}
	count := func(of map[int]int) (n int) {
		clear(of)
		for _, c := range cells {
			if alive := int(c.alive.Load()); alive > 0 {
				of[c.N] += alive
				n += alive
			}
		}
		return n
	}
	count(before)
	for _, c := range cells {
		r.Stop(c)
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for count(after) > 0 {
		select {
		case <-ctx.Done():
			return before, after
		case <-tick.C:
		}
	}
	return before, after
}

// startable returns the cells that have goroutines, or have left callbacks.
func (r *Registry) startable() map[*Cell]bool {
	found := map[*Cell]bool{}
	for c := range r.each {
		found[c.root()] = true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for p := range r.callers {
		if c := p.Value(); c != nil {
			found[c] = true
		}
	}
	return found
}

// StopAll tells all goroutines to stop.
func (r *Registry) StopAll() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r.StopCells(ctx, func(int) bool { return true })
}

// Busy returns the numbers of the cells that have goroutines, sorted.
func (r *Registry) Busy() (list []int) {
	for c := range r.each {
		if n := c.root().N; n > 0 && !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list
}

// Latest returns the cell with the highest number that has a goroutine, or nil.
func (r *Registry) Latest() (latest *Cell) {
	for c := range r.each {
		if c = c.root(); c.N > 0 && (latest == nil || c.N > latest.N) {
			latest = c
		}
	}
	return latest
}

// Again notes an interrupt by the user, and reports whether the one before it was less than two seconds ago.
func (r *Registry) Again() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.interrupted
	r.interrupted = time.Now()
	return !before.IsZero() && time.Since(before) < 2*time.Second
}
