package live

import (
	"bytes"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"halfnote/internal/goid"
)

// Deadlock is the cause of stopping a cell when its goroutines, and those of earlier
// cells, all wait for each other. Its text is that of Go's fatal error.
type Deadlock struct{ Goroutines int }

func (Deadlock) Error() string { return "all goroutines are asleep - deadlock!" }

// Expect records that something other than a goroutine of a cell, such as a timer, may
// wake one within d; if d is negative, at any time.
func (r *Registry) Expect(d time.Duration) {
	until := int64(math.MaxInt64)
	if d >= 0 && d < math.MaxInt64/2 {
		until = time.Now().Add(d + time.Second).UnixNano()
	}
	for {
		old := atomic.LoadInt64(&r.wakeBy)
		if old >= until || atomic.CompareAndSwapInt64(&r.wakeBy, old, until) {
			return
		}
	}
}

// asleep returns the number of goroutines of cells if all of them wait and nothing known
// could wake one: neither a timer nor a goroutine that one of them has started in compiled
// code.
func (r *Registry) asleep() (n int, ok bool) {
	if time.Now().UnixNano() < atomic.LoadInt64(&r.wakeBy) || runtime.NumGoroutine() > tooLong {
		return 0, false
	}
	list := goroutines()
	r.mu.Lock()
	defer r.mu.Unlock()
	related := map[uint64]bool{}
	for again := true; again; {
		again = false
		for _, g := range list {
			if !related[g.id] && r.cell(g.id) == nil && (r.ever.has(g.parent) || related[g.parent]) && !isOurs(g.creator) {
				related[g.id] = true
				again = true
			}
		}
	}
	for _, g := range list {
		switch {
		case r.cell(g.id) != nil:
			if !g.waitsForCells() {
				return 0, false
			}
			n++
		case related[g.id]:
			return 0, false
		case strings.HasPrefix(g.creator, packageName) && g.creator != packageName+"(*Registry).StopFor" && !g.waits():
			return 0, false // this goroutine may be about to wake its cell
		}
	}
	return n, n > 0
}

// goroutine is a goroutine as runtime.Stack describes it.
type goroutine struct {
	id      uint64
	state   string
	frames  []string // functions, innermost first
	creator string
	parent  uint64
}

// tooLong is a number of goroutines whose descriptions stop the program for long.
const tooLong = 5000

// described is the length of the last description of all goroutines. To repeat one with a larger buffer takes the same time again.
var described atomic.Int64

// goroutines lists the goroutines of the process.
func goroutines() []goroutine {
	const least, most = 1 << 18, 1 << 26
	buf := make([]byte, max(least, min(described.Load()*5/4, most)))
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) || n >= most {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 2*len(buf))
	}
	described.Store(int64(len(buf)))
	var list []goroutine
	for block := range bytes.SplitSeq(buf, []byte("\n\n")) {
		if g, ok := parseGoroutine(string(block)); ok {
			list = append(list, g)
		}
	}
	return list
}

// parseGoroutine reads "goroutine 12 [select, 2 minutes]:" and the lines below. From Go 1.27 on, labels of profilers may
// follow the bracket: "goroutine 12 [select] {name: value}:".
func parseGoroutine(text string) (g goroutine, ok bool) {
	head, rest, _ := strings.Cut(text, "\n")
	if g.id, ok = goid.Number(head); !ok {
		return g, false
	}
	g.state = goid.State(head)
	for line := range strings.SplitSeq(rest, "\n") {
		if strings.HasPrefix(line, "\t") || line == "" {
			continue
		}
		if by, ok := strings.CutPrefix(line, "created by "); ok {
			by, parent, _ := strings.Cut(by, " in goroutine ")
			g.creator = by
			g.parent, _ = strconv.ParseUint(parent, 10, 64)
			continue
		}
		if i := strings.LastIndexByte(line, '('); i > 0 {
			line = line[:i]
		}
		g.frames = append(g.frames, line)
	}
	return g, true
}

// waits reports whether g waits and only another goroutine can wake it. The runtime also acquires
// semaphores, for example to begin a collection, which ends by itself.
func (g goroutine) waits() bool {
	switch {
	case strings.HasPrefix(g.state, "chan "), strings.HasPrefix(g.state, "select"), strings.HasPrefix(g.state, "sync."):
		return true
	case g.state == "semacquire":
		i := slices.IndexFunc(g.frames, func(f string) bool { return !strings.HasPrefix(f, "runtime.") })
		return i >= 0 && (strings.HasPrefix(g.frames[i], "sync.") || strings.HasPrefix(g.frames[i], "internal/sync."))
	}
	return false
}

// waitsForCells reports whether the goroutine waits in an operation of a cell, and not
// inside compiled code that a cell has called.
func (g goroutine) waitsForCells() bool {
	if !g.waits() {
		return false
	}
	i := slices.IndexFunc(g.frames, func(f string) bool {
		return !strings.HasPrefix(f, "runtime.") && !strings.HasPrefix(f, "sync.") && !strings.HasPrefix(f, "internal/sync.")
	})
	if i < 0 {
		return false
	}
	f := g.frames[i]
	if name, ok := strings.CutPrefix(f, packageName+"(*Registry)."); ok {
		return name != "Sleep"
	}
	for _, p := range []string{"reflect.", "github.com/traefik/yaegi/"} {
		if strings.HasPrefix(f, p) {
			return true
		}
	}
	return false
}

const packageName = "halfnote/interp/internal/live."

// isOurs reports whether goroutines that a function starts serve the kernel or the
// library, and never wake a goroutine of a cell on their own.
func isOurs(creator string) bool {
	for _, p := range []string{"halfnote/", "github.com/go-zeromq/", "os/signal.", "runtime.", "runtime/", "testing.", "main."} {
		if strings.HasPrefix(creator, p) {
			return true
		}
	}
	return false
}
