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
// A goroutine of no family, and one whose starters have ended unseen, belongs to all families of its group.
type Family struct {
	head  uint64
	group *group
}

// group is a set of goroutines that other groups do not observe, such as those of the cells of a session. Those of no group belong to all.
type group struct{ has func(id uint64) bool }

// membership is where a goroutine belongs: the head of its family, or 0, and its group, or nil.
type membership struct {
	head  uint64
	group *group
}

// families are the open families of the program.
var families struct {
	apart atomic.Bool // they have different heads, or there are several groups; Has returns at once if not
	sync.Mutex
	open    []*Family
	groups  []*group
	parents map[uint64]uint64     // who started each known goroutine, 0 where that is unknown
	members map[uint64]membership // known goroutines
}

// Separate keeps the goroutines for which has returns true, and those that they start, out of the families of other groups, until end is called.
func Separate(has func(id uint64) bool) (end func()) {
	g := &group{has}
	families.Lock()
	defer families.Unlock()
	families.groups = append(families.groups, g)
	changed()
	return func() {
		families.Lock()
		defer families.Unlock()
		families.groups = slices.DeleteFunc(families.groups, func(other *group) bool { return other == g })
		changed()
	}
}

// Begin opens a family with the calling goroutine as head. Families of its group whose goroutines have all ended, such as that of an earlier cell,
// get the same head: nothing else takes part in them.
func Begin() *Family {
	head := Current()
	families.Lock()
	defer families.Unlock()
	f := &Family{head, groupOf(head)}
	if slices.ContainsFunc(families.open, func(f *Family) bool { return f.head != head }) {
		goroutines := living(true)
		for _, old := range families.open {
			if old.group == f.group && !slices.ContainsFunc(goroutines, func(id uint64) bool { return descends(id, old.head) }) {
				old.head = head
			}
		}
	}
	families.open = append(families.open, f)
	changed()
	return f
}

// End closes f. Calling it again does nothing.
func (f *Family) End() {
	families.Lock()
	defer families.Unlock()
	families.open = slices.DeleteFunc(families.open, func(other *Family) bool { return other == f })
	changed()
}

// changed notes that the open families or the groups have changed. Its caller holds the lock.
func changed() {
	families.members = map[uint64]membership{}
	apart := len(families.open) > 0 && (len(families.groups) > 1 || slices.ContainsFunc(families.open, func(f *Family) bool { return f.head != families.open[0].head }))
	if families.apart.Store(apart); !apart {
		families.parents = map[uint64]uint64{}
	}
}

// Has reports whether the calling goroutine belongs to f.
func (f *Family) Has() bool {
	if !families.apart.Load() {
		return true
	}
	id := Current()
	families.Lock()
	defer families.Unlock()
	m, known := families.members[id]
	if !known {
		m = memberOf(id)
		families.members[id] = m
	}
	if m.head != 0 {
		return m.head == f.head
	}
	return m.group == nil || f.group == nil || m.group == f.group
}

// Only returns a function that calls g on goroutines of f.
func Only[T any](f *Family, g func(T)) func(T) {
	return func(x T) {
		if f.Has() {
			g(x)
		}
	}
}

// memberOf returns the head and the group nearest to the calling goroutine among its starters and itself. Its caller holds the lock.
func memberOf(id uint64) (m membership) {
	for own, looked := true, false; id != 0; own = false {
		if m.group == nil {
			m.group = having(id)
		}
		if slices.ContainsFunc(families.open, func(f *Family) bool { return f.head == id }) {
			m.head = id
			break
		}
		if m.group != nil && !slices.ContainsFunc(families.open, func(f *Family) bool { return f.group == nil || f.group == m.group }) {
			break // it can belong to none
		}
		id = starter(id, own, &looked)
	}
	return m
}

// groupOf returns the group nearest to the calling goroutine among its starters and itself, or nil. Its caller holds the lock.
func groupOf(id uint64) *group {
	for own, looked := true, false; id != 0 && len(families.groups) > 0; own = false {
		if g := having(id); g != nil {
			return g
		}
		id = starter(id, own, &looked)
	}
	return nil
}

// having returns the group that has a goroutine, or nil.
func having(id uint64) *group {
	for _, g := range families.groups {
		if g.has(id) {
			return g
		}
	}
	return nil
}

// starter returns who started a goroutine, which is the calling one if own is true, or 0. It looks at all goroutines at most once. Its caller holds the lock.
func starter(id uint64, own bool, looked *bool) uint64 {
	if _, known := families.parents[id]; !known && !*looked {
		*looked = !own
		living(!own)
	}
	return families.parents[id]
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
