// Package mapaccess finds goroutines that use one map at the same time, if at least one of
// them writes. Go's run-time system would end the process. Interpreted code announces each
// access here first: conflicting accesses never reach the map together, and the second one
// becomes an error. The package knows nothing about cells or engines.
package mapaccess

import (
	"cmp"
	"math"
	"reflect"
	"runtime"
	"slices"
	"sync/atomic"
	"time"
)

// Use is the purpose of an access.
type Use uint8

const (
	Read Use = iota
	Iterate
	Write
)

// Conflict is the error of an access to a map that another goroutine is using. Its text
// is that of Go's fatal error.
type Conflict string

func (c Conflict) Error() string { return string(c) }

// StopsCell keeps recover from stopping a panic: in Go the error ends the program.
func (Conflict) StopsCell() {}

const (
	writes    = Conflict("concurrent map writes")
	reads     = Conflict("concurrent map read and map write")
	iterating = Conflict("concurrent map iteration and map write")
)

// A slot describes the accesses under way to one map: the map's address, shifted by
// shift bits, and the number of readers, or writing. It is 0 while there are none. Maps
// whose addresses give the same slot take turns.
type slot struct {
	atomic.Uint64
	_ [56]byte // each slot has its own cache line
}

const (
	shift   = 16 // addresses have at most 48 bits
	writing = 1<<shift - 1
	several = 1 << shift // stands for the address when one access writes several maps
)

var slots [1 << 10]slot

// index returns the number of a map's slot. It is Fibonacci hashing (Knuth, The Art of
// Computer Programming, volume 3, section 6.4).
func index(m uintptr) int { return int(uint64(m) * 0x9e3779b97f4a7c15 >> (64 - 10)) }

func slotOf(m uintptr) *slot { return &slots[index(m)] }

// Access is an access that has begun.
type Access struct {
	slot  *slot
	write bool
}

// Begin announces an access to the map m, which ends with End. It returns a Conflict,
// and nothing has begun, if another access to m is under way and one of the two writes.
// A value that is not a map, or nil, needs no access.
func Begin(m reflect.Value, use Use) (Access, error) {
	if m.Kind() != reflect.Map {
		return Access{}, nil
	}
	p := m.Pointer()
	if p == 0 {
		return Access{}, nil
	}
	return begin(slotOf(p), uint64(p)<<shift, use)
}

func begin(s *slot, of uint64, use Use) (Access, error) {
	for try := 0; ; try++ {
		word := s.Load()
		next := of | writing
		if use != Write {
			next = of | 1
		}
		switch {
		case word == 0:
		case word>>shift != of>>shift || of == several:
			wait(try)
			continue
		case use == Write && word&writing == writing:
			return Access{}, writes
		case use == Write:
			return Access{}, reads
		case word&writing == writing && use == Iterate:
			return Access{}, iterating
		case word&writing == writing:
			return Access{}, reads
		case word&writing == writing-1: // the count of readers is at its maximum
			wait(try)
			continue
		default:
			next = word + 1
		}
		if s.CompareAndSwap(word, next) {
			return Access{s, use == Write}, nil
		}
	}
}

// wait yields to the goroutine that uses another map of the slot.
func wait(try int) {
	if try < 100 {
		runtime.Gosched()
		return
	}
	time.Sleep(20 * time.Microsecond)
}

// End ends the access.
func (a Access) End() {
	if a.slot == nil {
		return
	}
	if a.write {
		a.slot.Store(0)
		return
	}
	for {
		word := a.slot.Load()
		next := word - 1
		if next&writing == 0 {
			next = 0
		}
		if a.slot.CompareAndSwap(word, next) {
			return
		}
	}
}

// BeginAll announces one access that writes several maps. end ends it.
func BeginAll(list []reflect.Value) (end func(), err error) {
	var maps []uintptr
	for _, m := range list {
		if m.Kind() == reflect.Map && m.Pointer() != 0 {
			maps = append(maps, m.Pointer())
		}
	}
	slices.SortFunc(maps, func(a, b uintptr) int { // all goroutines take slots in this order
		return cmp.Or(index(a)-index(b), cmp.Compare(a, b))
	})
	maps = slices.Compact(maps)
	var begun []Access
	end = func() {
		for _, a := range begun {
			a.End()
		}
	}
	for i := 0; i < len(maps); {
		s, n := slotOf(maps[i]), i+1
		of := uint64(maps[i]) << shift
		for n < len(maps) && slotOf(maps[n]) == s {
			of = several
			n++
		}
		a, err := begin(s, of, Write)
		if err != nil {
			end()
			return nil, err
		}
		begun = append(begun, a)
		i = n
	}
	return end, nil
}

// hold waits until it has exclusive access to the map m, and returns a function that ends the
// access. Accesses that begin meanwhile wait; they are not conflicts.
func hold(m reflect.Value) (end func()) {
	if m.IsNil() {
		return func() {}
	}
	a, _ := begin(slotOf(m.Pointer()), several, Write)
	return a.End
}

// Entry is an entry of a map.
type Entry struct{ Key, Value reflect.Value }

// Entries returns the entries of a map that goroutines may be writing to.
func Entries(m reflect.Value) []Entry { return First(m, math.MaxInt) }

// First returns at most n of the entries.
func First(m reflect.Value, n int) []Entry {
	defer hold(m)()
	list := make([]Entry, 0, min(n, m.Len()))
	for it := m.MapRange(); len(list) < n && it.Next(); {
		list = append(list, Entry{it.Key(), it.Value()})
	}
	return list
}

// Copy returns a copy of a map that goroutines may be writing to, for compiled code to
// read. Any other value is returned as it is, and so is a map with methods, which may
// depend on its identity.
func Copy(v any) any {
	m := reflect.ValueOf(v)
	if m.Kind() != reflect.Map || m.IsNil() || m.NumMethod() > 0 {
		return v
	}
	c := reflect.MakeMapWithSize(m.Type(), m.Len())
	for _, e := range Entries(m) {
		c.SetMapIndex(e.Key, e.Value)
	}
	return c.Interface()
}
