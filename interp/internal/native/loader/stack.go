//go:build linux && (amd64 || arm64) && go1.26 && !go1.28

//lint:file-ignore U1000 the runtime uses all fields

package loader

import (
	"errors"
	"reflect"
	"runtime"
	"runtime/debug"
	"sort"
	"strings"
	"sync/atomic"
	"unsafe"

	"halfnote/internal/goid"
)

// The types of this file are the beginnings of types of the same names in package runtime. Pointers that the collector need not see are
// addresses.

type gobuf struct{ sp, pc, g, ctxt, lr, bp uintptr }

type g struct {
	stack       struct{ lo, hi uintptr }
	stackguard0 uintptr
	stackguard1 uintptr
	_panic      uintptr
	_defer      uintptr
	m           *m
	sched       gobuf
}

type m struct {
	g0         uintptr
	morebuf    gobuf
	divmod     uint32
	_          uint32
	procid     uint64
	gsignal    uintptr
	goSigStack struct {
		stack                              struct{ lo, hi uintptr }
		stackguard0, stackguard1, stktopsp uintptr
	}
	sigmask  [2]uint32
	tls      [6]uintptr
	mstartfn uintptr
	curg     *g

	caughtsig    uintptr
	signalSecret uint32 // or a bool
	p            uintptr
	nextp        uintptr
	oldp         uintptr
	id           int64
	mallocing    int32
	throwing     uint32
	preemptoff   string
	locks        int32
}

// Functions of the runtime by which stacks grow.
const (
	growStack = "runtime.newstack"
	printLock = "runtime.printlock" // the first function that growStack calls when a stack exceeds the limit
	resume    = "runtime.gogo"
)

// overflow is what stacks that exceed the limit need.
var overflow struct {
	most      int          // the size that a stack may have while it is unwound
	base      atomic.Int64 // the limit
	limit     atomic.Int64 // the limit at the moment: it is raised for a stack that exceeds it
	raise     uintptr      // code of the function that panics
	printLock func()
	resume    uintptr // code of gogo
}

// CatchOverflows limits the stacks of goroutines to base bytes. A goroutine with a larger stack calls raise, which panics; for that, and for
// deferred functions, it may use most bytes. If it exceeds those, the process ends.
func CatchOverflows(base, most int, raise func()) error {
	if !goid.Fast() {
		return errors.New("the description of a goroutine cannot be read")
	}
	f, err := Functions(growStack, printLock, resume)
	if err != nil {
		return err
	}
	o := &overflow
	o.most, o.raise = most, reflect.ValueOf(raise).Pointer()
	o.base.Store(int64(base))
	o.printLock, o.resume = Of[func()](f[printLock]), f[resume].entry
	if err := ReplaceCalls(f[printLock], f[growStack], beforePrint); err != nil {
		return err
	}
	ResetOverflow()
	return nil
}

// ResetOverflow sets the limit of stacks again, after it was raised for one that exceeded it.
func ResetOverflow() {
	base := overflow.base.Load()
	overflow.limit.Store(base)
	debug.SetMaxStack(int(base))
}

// LimitStacks changes the limit of stacks, if CatchOverflows has set one.
func LimitStacks(base int) {
	if overflow.base.Load() != 0 && overflow.base.Swap(int64(base)) != int64(base) {
		ResetOverflow()
	}
}

// StackLimit returns the limit of stacks.
func StackLimit() int { return int(overflow.base.Load()) }

// beforePrint is called before the runtime prints why a stack cannot grow. It runs on the stack of the thread. If the stack is too large, the
// goroutine calls raise in the place of the function that it is about to enter.
func beforePrint() {
	o := &overflow
	gp := (*g)(at(goid.Address())).m.curg
	size := max(int(gp.stack.hi-gp.stack.lo), int(o.limit.Load())/2+1) // more than half of the limit: or a function has a large frame
	if 2*size > o.most {
		o.printLock()
		return
	}
	o.limit.Store(int64(2 * size))
	debug.SetMaxStack(2 * size)
	if !gp.busy() {
		gp.sched.pc, gp.sched.ctxt = o.raise, 0
	}
	callOld(o.resume, unsafe.Pointer(&gp.sched))
}

// caller returns the address in the function that calls the one that needs a larger stack.
func (gp *g) caller() uintptr {
	if runtime.GOARCH == "arm64" {
		return gp.sched.lr
	}
	return *(*uintptr)(at(gp.sched.sp))
}

// busy reports whether a panic where gp enters a function would find the program in the middle of something: an allocation, a change of a map, a lock that is
// about to be released, another panic. The goroutine then continues, and the next function that needs a larger stack panics.
func (gp *g) busy() bool {
	if gp.m.locks != 0 || gp.m.mallocing != 0 || gp.m.preemptoff != "" {
		return true
	}
	name, entered := nameAt(gp.caller()), nameAt(gp.sched.pc)
	return strings.HasPrefix(name, "internal/runtime/maps.") || strings.HasPrefix(entered, "sync.") || strings.HasPrefix(entered, "internal/sync.") ||
		gp._panic != 0 && strings.HasPrefix(name, "runtime.")
}

// Preemptible reports whether the calling goroutine is in no section of the runtime that must not be interrupted. It must not be called unless goid.Fast
// reports true.
func Preemptible() bool {
	gp := (*g)(at(goid.Address()))
	return gp.m.curg == gp && gp.m.locks == 0 && gp.m.mallocing == 0 && gp.m.preemptoff == ""
}

// nameAt returns the name of the function of the program at an address, or "". It allocates no memory.
func nameAt(pc uintptr) string {
	if pc < mainModule.text || pc >= mainModule.etext {
		return ""
	}
	off := uint32(pc - mainModule.text)
	i := sort.Search(len(mainModule.ftab), func(i int) bool { return mainModule.ftab[i].entryoff > off }) - 1
	if i < 0 {
		return ""
	}
	return stringIn(mainModule.funcnametab, int(funcIn(mainModule.pclntable, mainModule.ftab[i].funcoff).nameOff))
}
