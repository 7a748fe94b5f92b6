package goid

import (
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Family is what observers of one kind of call share: a goroutine, its head, and the goroutines that it has started, directly or
// through others, except for those of a family that begins among them. So observers on several goroutines tell their calls apart.
//
// A goroutine of no family, and one whose starters have ended unseen, belongs to all families.
type Family struct{ head uint64 }

// families are the open families of the program.
var families struct {
	several atomic.Bool // they have different heads; Has returns at once if they do not
	sync.Mutex
	open    []*Family
	parents map[uint64]uint64 // who started each known goroutine, 0 where that is unknown
	owners  map[uint64]uint64 // the head of each known goroutine's family, or 0
}

// Begin opens a family with the calling goroutine as head. Families whose goroutines have all ended, such as that of an earlier cell,
// get the same head: nothing else takes part in them.
func Begin() *Family {
	head := Current()
	families.Lock()
	defer families.Unlock()
	if slices.ContainsFunc(families.open, func(f *Family) bool { return f.head != head }) {
		goroutines := living(true)
		for _, f := range families.open {
			if !slices.ContainsFunc(goroutines, func(id uint64) bool { return descends(id, f.head) }) {
				f.head = head
			}
		}
	}
	f := &Family{head}
	families.open = append(families.open, f)
	changed()
	return f
}

// End closes f. Calling it again does nothing.
func (f *Family) End() {
	families.Lock()
	defer families.Unlock()
	families.open = slices.DeleteFunc(families.open, func(g *Family) bool { return g == f })
	changed()
}

// changed notes that the open families have changed. Its caller holds the lock.
func changed() {
	families.owners = map[uint64]uint64{}
	several := slices.ContainsFunc(families.open, func(f *Family) bool { return f.head != families.open[0].head })
	if families.several.Store(several); !several {
		families.parents = map[uint64]uint64{}
	}
}

// Has reports whether the calling goroutine belongs to f.
func (f *Family) Has() bool {
	if !families.several.Load() {
		return true
	}
	id := Current()
	families.Lock()
	defer families.Unlock()
	owner, known := families.owners[id]
	if !known {
		owner = ownerOf(id)
		families.owners[id] = owner
	}
	return owner == 0 || owner == f.head
}

// Only returns a function that calls g on goroutines of f.
func Only[T any](f *Family, g func(T)) func(T) {
	return func(x T) {
		if f.Has() {
			g(x)
		}
	}
}

// ownerOf returns the head nearest to the calling goroutine among its starters and itself, or 0. Its caller holds the lock.
func ownerOf(id uint64) uint64 {
	for own, looked := true, false; id != 0; own = false {
		if slices.ContainsFunc(families.open, func(f *Family) bool { return f.head == id }) {
			return id
		}
		if _, known := families.parents[id]; !known && !looked {
			looked = !own
			living(!own)
		}
		id = families.parents[id]
	}
	return 0
}

// descends reports whether a goroutine is head or was started by it, directly or through others. Its caller holds the lock.
func descends(id, head uint64) bool {
	for id != 0 && id != head {
		id = families.parents[id]
	}
	return id == head
}

// living returns the living goroutines, or only the calling one, and notes who started them. Its caller holds the lock.
func living(all bool) []uint64 {
	buf := make([]byte, 64<<10)
	n := runtime.Stack(buf, all)
	for n == len(buf) {
		buf = make([]byte, 2*len(buf))
		n = runtime.Stack(buf, all)
	}
	parents := parentsIn(string(buf[:n]))
	maps.Copy(families.parents, parents)
	return slices.Collect(maps.Keys(parents))
}

// parentsIn returns who started each goroutine of a traceback of several: "created by main.f in goroutine 7" at the end of one. The
// first goroutine has no such line, and those of the run-time system name no starter.
func parentsIn(traceback string) map[uint64]uint64 {
	parents := map[uint64]uint64{}
	for one := range strings.SplitSeq(traceback, "\n\n") {
		id, ok := Number(one)
		if !ok {
			continue
		}
		_, by, _ := strings.Cut(one, "\ncreated by ")
		by, _, _ = strings.Cut(by, "\n")
		_, by, _ = strings.Cut(by, " in ")
		parents[id], _ = Number(by + " ")
	}
	return parents
}
