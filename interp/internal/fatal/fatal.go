// Package fatal turns errors for which Go ends the process into panics of the goroutine that has caused them, if it runs code
// of cells: the run-time system's fatal errors of maps and locks, allocations that do not fit into memory, calls of
// os.Exit in compiled packages, and panics that reach the top of a goroutine that a compiled package has started.
//
// No function of Go does this. The package replaces functions of the program, on the systems and releases of Go
// for which package loader knows their code. Elsewhere Guard returns an error, and the process ends as in any program. It
// does not know what a cell is, or which goroutines belong to one.
package fatal

import (
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"halfnote/internal/goid"
	"halfnote/interp/internal/native/loader"
)

// Keeper is a session whose cells must not end the process.
type Keeper interface {
	// Owns reports whether the calling goroutine belongs to a cell of the session. It waits for no lock, as Room and Scarce: they are called in the middle
	// of an allocation, and the goroutine may hold any.
	Owns() bool
	// Fatal panics in the place of a fatal error of the run-time system.
	Fatal(text string)
	// Exit panics in the place of the end of the process.
	Exit(code int)
	// Overflow panics because the stack of the calling goroutine exceeds limit bytes.
	Overflow(limit int)
	// Room panics if an allocation does not fit into memory.
	Room(bytes int)
	// Scarce panics if memory is used up, and the calling goroutine belongs to a cell of the session, or otherwise belongs returns true.
	Scarce(belongs func() bool)
	// Uncaught reports a panic that is about to end the calling goroutine.
	Uncaught(value any)
}

// Guard makes errors that code of a session causes panics, until release is called. An error says why they still end the process.
func Guard(k Keeper) (release func(), err error) {
	change(func(list []Keeper) []Keeper { return append(list, k) })
	return func() {
		change(func(list []Keeper) []Keeper {
			return slices.DeleteFunc(list, func(other Keeper) bool { return other == k })
		})
	}, replaced()
}

// keepers are the sessions of the process. Goroutines read the list in the middle of an allocation.
var keepers atomic.Pointer[[]Keeper]

var changing sync.Mutex

func change(f func([]Keeper) []Keeper) {
	changing.Lock()
	defer changing.Unlock()
	var list []Keeper
	if old := keepers.Load(); old != nil {
		list = slices.Clone(*old)
	}
	list = f(list)
	keepers.Store(&list)
}

// Names of functions of the program.
const (
	mapsFatal   = "internal/runtime/maps.fatal"
	locksFatal  = "internal/sync.fatal"
	syncFatal   = "sync.fatal"
	beforeExit  = "os.runtime_beforeExit"
	uncaught    = "runtime.preprintpanics"
	alloc       = "runtime.mallocgc"
	allocLarge  = "runtime.mallocgcLarge"
	assist      = "runtime.gcAssistAlloc"
	leastLarge  = 16 << 20 // bytes of allocations after which there is a look at the memory
	interpreted = "github.com/traefik/yaegi/interp."
)

// originals are the functions that have been replaced, as far as they are still needed.
var originals struct {
	fatal    func() func(text string)
	exit     func() func(code int)
	uncaught func() func(*panicking)
	large    func(size uintptr, typ unsafe.Pointer, needzero bool) (unsafe.Pointer, uintptr)
	assist   func(goroutine unsafe.Pointer)
}

var replaced = sync.OnceValue(func() error {
	f, err := loader.Functions(append([]string{mapsFatal, locksFatal, syncFatal, beforeExit, uncaught, alloc, allocLarge, assist}, assists...)...)
	if err != nil {
		return err
	}
	for _, name := range []string{mapsFatal, locksFatal, syncFatal} { // all do the same
		if originals.fatal, err = loader.Replace(f[name], onFatal); err != nil {
			return err
		}
	}
	if originals.exit, err = loader.Replace(f[beforeExit], onExit); err != nil {
		return err
	}
	if originals.uncaught, err = loader.Replace(f[uncaught], onUncaught); err != nil {
		return err
	}
	if !goid.Fast() { // an allocation cannot find out whose it is
		return nil
	}
	originals.large = loader.Of[func(uintptr, unsafe.Pointer, bool) (unsafe.Pointer, uintptr)](f[allocLarge])
	if err := loader.ReplaceCalls(f[allocLarge], f[alloc], onLarge); err != nil {
		return err
	}
	originals.assist = loader.Of[func(unsafe.Pointer)](f[assist])
	for _, name := range assists {
		if err := loader.ReplaceCalls(f[assist], f[name], onAssist); err != nil {
			return err
		}
	}
	return loader.CatchOverflows(stackLimit, 4*stackLimit, onOverflow)
})

// stackLimit is the size of a stack at which its goroutine panics. Go's own limit is 512 MiB. A process whose addresses are limited
// (ulimit -v) has a sixteenth of what is left, but at least 32 MiB: a stack that grows is copied to one of twice its size.
var stackLimit = func() int {
	limit := 128 << 20
	if left := loader.AddressesLeft(); left > 0 {
		limit = max(32<<20, min(limit, left/16))
	}
	return limit
}()

// AddressesLeft returns how many bytes of addresses the system leaves to the process, or 0 if it does not limit them.
func AddressesLeft() int { return loader.AddressesLeft() }

// LimitStacks makes goroutines panic whose stacks would exceed so many bytes, as far as that is less than they may have anyway: a stack that grows must find as much
// memory in one piece. It is at least 8 MiB, which the kernel's own goroutines do not need.
func LimitStacks(bytes int64) {
	const least = 8 << 20
	loader.LimitStacks(int(max(least, min(bytes, int64(stackLimit)))))
}

// onOverflow is called in the place of a function for which the stack has no room.
func onOverflow() {
	limit := loader.StackLimit()
	loader.ResetOverflow()
	if k := owner(); k != nil {
		k.Overflow(limit)
	}
	panic("stack overflow")
}

// onFatal stands in for the functions by which packages of the run-time system end the process. They hold no locks, and a map is as
// before its last change.
func onFatal(text string) {
	if k := owner(); k != nil {
		k.Fatal(text)
	}
	originals.fatal()(text)
}

// onExit stands in for the function that os.Exit calls first.
func onExit(code int) {
	if k := owner(); k != nil {
		k.Exit(code)
	}
	originals.exit()(code)
}

// panicking is the beginning of the run-time system's _panic.
type panicking struct{ value any }

// onUncaught stands in for the function that is called when a panic has passed all deferred functions of a goroutine.
func onUncaught(p *panicking) {
	if k := owner(); k != nil {
		k.Uncaught(p.value)
		end()
	}
	originals.uncaught()(p)
}

// unseen is the number of bytes of large objects that have been allocated since the last look.
var unseen atomic.Int64

// onLarge stands in for the function that allocates memory for objects of more than 32 KiB.
func onLarge(size uintptr, typ unsafe.Pointer, needzero bool) (unsafe.Pointer, uintptr) {
	if unseen.Add(int64(min(size, leastLarge))) >= leastLarge && goid.Current() != 0 && forProgram() { // the run-time system's own goroutines have no number
		unseen.Store(0)
		if k := owner(); k != nil {
			k.Room(int(min(max(size, leastLarge), math.MaxInt)))
		}
	}
	return originals.large(size, typ, needzero)
}

// unasked is the number of times that goroutines have helped the collector since the last look at the memory. Each time they have allocated 64 KiB or more.
var unasked atomic.Int32

// onAssist stands in for the function by which a goroutine helps the collector before it allocates. Where memory is short the collector runs all the time, so a
// goroutine that allocates small objects and does not poll comes here.
func onAssist(goroutine unsafe.Pointer) {
	const every = 32
	if unasked.Add(1)%every == 0 && goid.Current() != 0 && loader.Preemptible() && forProgram() && !inside() {
		ask()
	}
	originals.assist(goroutine)
}

// asking is set while a goroutine asks: others help the collector meanwhile.
var asking atomic.Bool

// ask panics if the calling goroutine is one of a session's that must not allocate more.
func ask() {
	list := keepers.Load()
	if list == nil || !asking.CompareAndSwap(false, true) {
		return
	}
	defer asking.Store(false)
	for i, k := range *list {
		k.Scarce(func() bool { return i == len(*list)-1 && foreign() })
	}
}

// forProgram reports whether a function of the program has asked for the memory that is being allocated, and not the run-time system or one of the lockers.
func forProgram() bool {
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		f, more := frames.Next()
		name, ofRuntime := strings.CutPrefix(f.Function, "runtime.")
		switch {
		case !ofRuntime:
			return !slices.ContainsFunc(lockers, func(prefix string) bool { return strings.HasPrefix(f.Function, prefix) })
		case !more || !slices.ContainsFunc(allocators, func(prefix string) bool { return strings.HasPrefix(name, prefix) }):
			return false
		}
	}
}

// allocators are how names of functions of package runtime begin that compiled code calls for memory.
var allocators = []string{
	"mallocgc", "deductAssistCredit", "make", "grow", "new", "raw", "concat", "slice", "string", "reflect_", "intstring",
}

// lockers are how names of functions begin that may allocate while they hold a lock, without which later cells do not run. A panic would leave it locked.
var lockers = []string{"sync.", "internal/sync.", "halfnote/interp/internal/live."}

// inside reports whether the code of a cell has called a function of this module that has asked for memory, itself or through others. It may be in the
// middle of something: the next allocation of the cell itself comes soon.
func inside() bool {
	var pcs [64]uintptr
	for frames, more := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])]), true; more; {
		var f runtime.Frame
		if f, more = frames.Next(); loader.InUnits(f.PC) || strings.HasPrefix(f.Function, interpreted) {
			return false
		}
		if strings.HasPrefix(f.Function, "halfnote/") && !strings.HasPrefix(f.Function, "halfnote/interp/internal/fatal.") {
			return true
		}
	}
	return false
}

// owner returns the session of whose cells the calling goroutine runs code, or nil if it is the program's own.
func owner() Keeper {
	list := keepers.Load()
	if list == nil || len(*list) == 0 {
		return nil
	}
	for _, k := range *list {
		if k.Owns() {
			return k
		}
	}
	if last := (*list)[len(*list)-1]; foreign() {
		return last
	}
	return nil
}

// foreign reports whether the calling goroutine runs code of a cell, was started by a package of the standard
// library, or waits for a cell in package live.
func foreign() bool {
	pcs := make([]uintptr, 256)
	n := runtime.Callers(3, pcs)
	for n == len(pcs) && n < 1<<16 { // deeper calls are those of endless recursion
		pcs = make([]uintptr, 4*n)
		n = runtime.Callers(3, pcs)
	}
	entry := ""
	for frames, more := runtime.CallersFrames(pcs[:n]), n > 0; more; {
		var f runtime.Frame
		if f, more = frames.Next(); loader.InUnits(f.PC) || strings.HasPrefix(f.Function, interpreted) {
			return true
		}
		if f.Function != "runtime.goexit" {
			entry = f.Function
		}
	}
	return standard(entry) || strings.HasPrefix(entry, "halfnote/interp/internal/live.")
}

// standard reports whether a function is of a package of the standard library that programs import.
func standard(function string) bool {
	first, _, below := strings.Cut(function, "/")
	if !below {
		first, _, _ = strings.Cut(function, ".")
	}
	return first != "" && first != "main" && first != "runtime" && first != "testing" && first != "halfnote" && !strings.Contains(first, ".")
}
