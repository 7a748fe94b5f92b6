package magic

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/pprof/profile"

	"halfnote/display"
	"halfnote/internal/text"
	"halfnote/interp/internal/syntax"
)

// usage is the CPU time of a cell by line.
type usage struct {
	sum     time.Duration // in goroutines of the cell
	workers time.Duration // in the threads of operations, whose lines are unknown
	lines   map[lineAt]*lineUsage
	flame   *flame
}

// lineAt is a line of a cell.
type lineAt struct{ cell, line int }

// lineUsage is the time of a line.
type lineUsage struct {
	lineAt
	text        string
	self, total time.Duration            // without and with the lines of functions that it calls
	inside      map[string]time.Duration // by compiled function that the line calls
}

// usageOf adds up the samples of a profile. runsCells reports whether a compiled function runs functions
// of cells.
func usageOf(p *profiler, prof *profile.Profile, runsCells func(string) bool) *usage {
	u := &usage{lines: map[lineAt]*lineUsage{}, flame: &flame{name: "the cell"}}
	for _, sample := range prof.Sample {
		took := time.Duration(sample.Value[len(sample.Value)-1])
		var names []string // innermost first
		for _, at := range sample.Location {
			for _, l := range at.Line {
				names = append(names, l.Function.Name)
			}
		}
		var l *activeLine
		if label := sample.Label[profileLabel]; len(label) > 0 {
			l = p.line(label[0])
		}
		if l == nil {
			if slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, "halfnote/tensor/internal/") }) {
				u.workers += took
			}
			continue
		}
		if slices.ContainsFunc(names, func(n string) bool { return strings.HasSuffix(n, ".(*Debugger).Pass") }) {
			continue // the profiler itself
		}
		depth, whole := 0, false
		for _, n := range names {
			if runsCells(n) {
				depth++
			}
			whole = whole || strings.HasPrefix(n, startsCells)
		}
		for whole && l.depth > depth && l.parent.parent != nil {
			l = l.parent // the call has returned
		}
		calls := compiledCalls(names, runsCells)
		if depth == 0 {
			calls = slices.Insert(calls, 0, cutCalls)
		}
		u.add(l, calls, took)
	}
	return u
}

// startsCells begins the names of the functions at the bottom of the stacks of cells. Go cuts the
// stack of a sample after 64 calls: without one of these functions it is cut.
const startsCells = "halfnote/interp/internal/live.(*Registry)."

// cutCalls stands in a flame graph for calls that are cut off.
const cutCalls = "…"

// add adds a sample in a line that calls compiled functions, outermost first.
func (u *usage) add(l *activeLine, calls []string, took time.Duration) {
	u.sum += took
	var path []*activeLine
	for at := l; at.parent != nil; at = at.parent {
		path = append(path, at)
	}
	slices.Reverse(path)
	f, seen := u.flame, map[lineAt]bool{}
	f.took += took
	for _, at := range path {
		key := lineAt{at.stop.Cell, at.stop.Line}
		line := u.lines[key]
		if line == nil {
			line = &lineUsage{lineAt: key, text: at.text(), inside: map[string]time.Duration{}}
			u.lines[key] = line
		}
		if !seen[key] {
			seen[key] = true
			line.total += took
		}
		f = f.child(fmt.Sprintf("%s:%d %s", syntax.Label(key.cell), key.line, line.text), true, took)
	}
	line := u.lines[lineAt{l.stop.Cell, l.stop.Line}]
	line.self += took
	if len(calls) > 0 {
		line.inside[calls[0]] += took
	}
	for _, name := range calls[:min(len(calls), maxFlameCalls)] {
		f = f.child(name, false, took)
	}
}

// maxFlameCalls is the number of compiled calls below a line in a flame graph.
const maxFlameCalls = 8

// compiledCalls returns the compiled functions that an interpreted function has called, outermost
// first, without those of the interpreter and of the run-time system.
func compiledCalls(names []string, runsCells func(string) bool) (list []string) {
	for _, n := range names {
		if runsCells(n) {
			break
		}
		if !isPlumbing(n) {
			if n = shortFunction(n); len(list) == 0 || list[len(list)-1] != n {
				list = append(list, n)
			}
		}
	}
	slices.Reverse(list)
	return list
}

// isPlumbing reports whether a function belongs to the interpreter or the run-time system.
func isPlumbing(name string) bool {
	for _, prefix := range []string{"runtime.", "runtime/", "reflect.", "internal/", "halfnote/interp", "github.com/traefik/", "gogo", "memeqbody", "aeshash", "cmpbody", "indexbyte"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return !strings.Contains(name, ".")
}

// shortFunction returns tensor.Tensor.MatMul for halfnote/tensor.(*Tensor).MatMul, and the
// enclosing function for a literal.
func shortFunction(name string) string {
	name = strings.ReplaceAll(name, "[...]", "") // type arguments, of a method and of its receiver
	name = name[strings.LastIndexByte(name, '/')+1:]
	name, _, _ = strings.Cut(name, ".func")
	return strings.NewReplacer("(*", "", ")", "").Replace(name)
}

// maxProfileLines is the number of lines in the table of a profile.
const maxProfileLines = 10

// sorted returns the lines, those with the most time of their own first.
func (u *usage) sorted() []*lineUsage {
	return slices.SortedFunc(maps.Values(u.lines), func(a, b *lineUsage) int {
		return cmp.Or(cmp.Compare(b.self, a.self), cmp.Compare(b.total, a.total), cmp.Compare(a.cell, b.cell), cmp.Compare(a.line, b.line))
	})
}

func (u *usage) table() display.Bundle {
	var rows [][]any
	for _, l := range u.sorted() {
		if len(rows) == maxProfileLines {
			break
		}
		share := float64(l.self) / float64(u.sum)
		rows = append(rows, []any{
			fmt.Sprintf("%3.0f %%", 100*share), bar(share), l.self.Round(10 * time.Millisecond), l.total.Round(10 * time.Millisecond),
			fmt.Sprintf("%s, line %d", syntax.Label(l.cell), l.line), text.Cut(l.text, 40), l.mostly(),
		})
	}
	return display.Table([]string{"share", "", "own time", "with calls", "line", "code", "mostly in"}, rows)
}

// bar draws a share from 0 to 1 in ten letters.
func bar(share float64) string { return strings.Repeat("█", int(share*10+0.5)) }

// mostly names the compiled function that takes most of the line's time, if that is most of it.
func (l *lineUsage) mostly() string {
	for name, took := range l.inside {
		if 2*took > l.self && name != cutCalls {
			return name
		}
	}
	return ""
}

// sentence says where the time went.
func (u *usage) sentence() string {
	l := u.sorted()[0]
	said := fmt.Sprintf("Flame graph of %v of CPU time in %s: %s, line %d takes %.0f %%", u.sum.Round(10*time.Millisecond),
		text.Count(len(u.lines), "line"), syntax.Label(l.cell), l.line, 100*float64(l.self)/float64(u.sum))
	if in := l.mostly(); in != "" {
		said += ", mostly in " + in
	}
	if u.workers > 0 {
		said += fmt.Sprintf("; other threads of operations took %v more", u.workers.Round(10*time.Millisecond))
	}
	return said + "."
}
