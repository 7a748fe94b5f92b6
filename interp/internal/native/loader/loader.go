//go:build linux && (amd64 || arm64) && go1.26 && !go1.28

package loader

import (
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"halfnote/interp/internal/native/object"
)

// Loader links the units of one session. It is not safe for concurrent use.
type Loader struct {
	names   func(path string) (object.Names, error)
	globals map[string]uintptr      // functions and variables of units, and what Define adds
	types   map[string]reflect.Type // types of units, by the compiler's names
	named   map[reflect.Type]string // these names of types with a name
	fault   func(step string) error // of tests: called before each step
	loaded  int                     // bytes of text and data
}

// Options configures a loader.
type Options struct {
	// Symbols holds what units can import by path and name, as packages of symbols do: a
	// function by value, a variable by an addressable value, a type by a nil pointer.
	Symbols map[string]map[string]reflect.Value
	// Addresses are those that the linker gave to the variables of the program, by name, and to
	// the instances of its generic functions.
	Addresses map[string]uintptr
	// Names returns the names of the symbols of a package of the program, which other objects
	// refer to by number.
	Names func(path string) (object.Names, error)
}

// process is what all loaders of the process share.
var process struct {
	sync.Mutex
	once   sync.Once
	err    error
	host   *host
	arena  *arena
	names  map[string]object.Names // by package
	module *module
	kept   []any // memory that the runtime refers to, and the collector does not see
}

// Supported says why objects cannot be loaded into this process; it does not try.
func Supported() error { return Check(runtime.Version()) }

// New returns a loader without units. An error says why objects cannot be loaded into this
// process.
func New(o Options) (*Loader, error) {
	if err := Supported(); err != nil {
		return nil, err
	}
	process.once.Do(func() {
		process.names = map[string]object.Names{}
		if process.host, process.err = newHost(o); process.err == nil {
			process.arena, process.err = newArena(afterProgram(process.host.md), textRoom, dataRoom)
		}
		if process.err == nil {
			process.module, process.err = newModule(process.arena, process.host, archs[runtime.GOARCH].quantum)
		}
		if process.err == nil {
			unitText.Store(addressOf(process.arena.text))
		}
		addReflectOff(unsafe.Pointer(&process)) // the runtime does not look up the first number, -1
	})
	if process.err != nil {
		return nil, process.err
	}
	return &Loader{names: o.Names, globals: map[string]uintptr{}, types: map[string]reflect.Type{}, named: map[reflect.Type]string{}}, nil
}

// afterProgram returns an address not far after the program.
func afterProgram(md *moduledata) uintptr {
	const gap = 256 << 20 // for the C library's heap
	return (md.end + gap) &^ (1<<21 - 1)
}

// Define gives units a variable by a name of theirs.
func (l *Loader) Define(name string, p unsafe.Pointer) {
	process.Lock()
	defer process.Unlock()
	process.kept = append(process.kept, p)
	l.globals[name] = uintptr(p)
}

// Forget makes the names of functions and variables free for later units.
func (l *Loader) Forget(names ...string) {
	for _, name := range names {
		delete(l.globals, name)
	}
}

// Types returns the types that units have made, in the order of their names, without those
// that functions declare.
func (l *Loader) Types() (list []reflect.Type) {
	for _, name := range slices.Sorted(maps.Keys(l.types)) {
		list = append(list, l.types[name])
	}
	return list
}

// Name returns the compiler's name of a type that a unit has made, with its package; "" if a function declares it.
func (l *Loader) Name(t reflect.Type) string { return l.named[t] }

// Size returns the number of bytes of code and data of the loaded units.
func (l *Loader) Size() int { return l.loaded }

// Module is a unit that is part of the program.
type Module struct {
	u *unit
}

// Func returns a function without parameters and results; ok is false if the unit has no
// function of that name.
func (m *Module) Func(name string) (f func(), ok bool) {
	s := m.u.defined(name, object.Text)
	if s == nil {
		return nil, false
	}
	return function(m.u.addr[s]), true
}

// Var is a variable of a unit. Its reflect.Value is made on demand: reflect keeps the type of
// each pointer that it makes, and few variables are looked up.
type Var struct {
	t    reflect.Type
	addr unsafe.Pointer
}

// Value returns the variable, addressable.
func (v Var) Value() reflect.Value { return reflect.NewAt(v.t, v.addr).Elem() }

// Var returns a variable; ok is false if the unit has no variable of that name.
func (m *Module) Var(name string) (v Var, ok bool) {
	s := m.u.defined(name, object.Data, object.BSS, object.NoPtrData, object.NoPtrBSS)
	if s == nil {
		return Var{}, false
	}
	t := m.u.varTypes[s]
	if t == nil {
		return Var{}, false
	}
	return Var{t, at(m.u.addr[s])}, true
}

// Init initializes the variables of the unit.
func (m *Module) Init() {
	task := m.u.defined(m.u.name+"..inittask", object.NoPtrData, object.Data)
	if task == nil {
		return
	}
	const funcs = 8 // offset in the task
	for _, r := range task.Relocs {
		if s := m.u.o.Def(r.Sym); r.Off >= funcs && r.Type == object.Addr && s != nil {
			function(m.u.addr[s])()
		}
	}
}

// step is a part of loading a unit. Before the step "types" a failure leaves nothing behind;
// after it, memory that package reflect may refer to stays allocated, and after "register" the unit does. Names and types
// of a unit are known to later ones only after the last step.
type step struct {
	name string
	run  func(*unit) error
}

var steps = []step{
	{"choose", (*unit).choose},
	{"resolve", (*unit).resolve},
	{"place", (*unit).place},
	{"types", (*unit).completeTypes},
	{"relocate", (*unit).relocate},
	{"lines", (*unit).lineTable},
	{"masks", (*unit).pointerMasks},
	{"verify", (*unit).verify},
	{"register", (*unit).register},
	{"methods", (*unit).giveMethods},
	{"tables", (*unit).fillLate},
	{"publish", (*unit).publish},
}

// Load makes the package name of an object part of the program. Init has to be called before
// its functions. The functions wrappers call another function in their place: recover works in
// that function if they are deferred, and tracebacks leave them out. Line returns the file and the line that the runtime shows for those of the
// object, or "" for a line that stands for none; nil means that they are the same.
func (l *Loader) Load(o *object.Object, name string, wrappers map[string]bool, line func(string, int) (string, int)) (*Module, error) {
	process.Lock()
	defer process.Unlock()
	u := newUnit(l, o, name)
	u.wrappers, u.line = wrappers, line
	for _, s := range steps {
		if err := l.run(u, s); err != nil {
			if u.exposed && !u.registered {
				process.arena.keep(u.textAt+u.textLen, u.dataAt+u.dataLen)
			}
			return nil, fmt.Errorf("cannot load the cell: %s: %w", s.name, err)
		}
	}
	return &Module{u}, nil
}

// run runs a step. An object that is not what the compiler writes may make it panic.
func (l *Loader) run(u *unit, s step) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the object is not as expected: %v", r)
		}
	}()
	if l.fault != nil {
		if err := l.fault(s.name); err != nil {
			return err
		}
	}
	return s.run(u)
}
