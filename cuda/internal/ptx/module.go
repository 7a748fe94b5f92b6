package ptx

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"
)

// Module is a parsed PTX module. It is safe for concurrent use.
type Module struct {
	Version string // for example "7.0"
	Target  string // for example "sm_80"

	functions map[string]*function
	vars      map[string]*variable
	order     []*variable
	memory    []byte // memory of .global and .const variables, outside the Go heap

	mu      sync.Mutex
	kernels map[string]*Kernel
}

// Parse parses the text of a module. The error names the line. Function bodies are decoded by
// [Module.Kernel].
func Parse(text string) (m *Module, err error) {
	list, err := lex(text)
	if err != nil {
		return nil, err
	}
	m = &Module{functions: map[string]*function{}, vars: map[string]*variable{}, kernels: map[string]*Kernel{}}
	err = caught(func() { (&parser{list: list, m: m}).module() })
	switch {
	case err != nil:
		return nil, err
	case m.Version == "" || m.Target == "":
		return nil, errors.New("ptx: the text lacks .version or .target")
	}
	return m, m.place()
}

// caught runs f and returns the syntax error that it panicked with, or nil.
func caught(f func()) (err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *syntaxError:
			err = e
		default:
			panic(e)
		}
	}()
	f()
	return nil
}

// Capability returns the number in the module's target, 80 for sm_80.
func (m *Module) Capability() int {
	s := strings.TrimRight(strings.TrimPrefix(m.Target, "sm_"), "af")
	n, _ := strconv.Atoi(s)
	return n
}

// version returns the module's version as a number, 70 for 7.0.
func (m *Module) version() int {
	major, minor, _ := strings.Cut(m.Version, ".")
	a, _ := strconv.Atoi(major)
	b, _ := strconv.Atoi(minor)
	return 10*a + b
}

// Names returns the names of the kernels, sorted.
func (m *Module) Names() (list []string) {
	for name, f := range m.functions {
		if f.entry {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// Check decodes all kernels. It returns the joined errors.
func (m *Module) Check() error {
	var list []error
	for _, name := range m.Names() {
		_, err := m.Kernel(name)
		list = append(list, err)
	}
	return errors.Join(list...)
}

// place allocates and initialises .global and .const variables.
func (m *Module) place() error {
	size := 0
	for _, v := range m.order {
		if v.space == "shared" || v.extern {
			continue
		}
		size = round(size, max(16, v.align))
		v.at = uint64(size)
		size += v.size
	}
	if size == 0 {
		return nil
	}
	mem, err := allocate(size)
	if err != nil {
		return fmt.Errorf("ptx: cannot allocate %d bytes for the module's variables: %w", size, err)
	}
	m.memory = mem
	base := uint64(uintptr(unsafe.Pointer(&mem[0])))
	for _, v := range m.order {
		if v.space != "shared" && !v.extern {
			v.at += base
		}
	}
	for _, v := range m.order {
		at, n := int(v.at-base), max(1, v.typ.bytes())
		if len(v.init)*n > v.size {
			return fmt.Errorf("ptx: %s: %d initial values of %d bytes exceed its size of %d bytes", v.name, len(v.init), n, v.size)
		}
		for i, x := range v.init {
			number := x.number
			if x.name != "" {
				to := m.vars[x.name]
				if to == nil {
					return fmt.Errorf("ptx: %s: initial value %s is not a variable", v.name, x.name)
				}
				number += to.at
			}
			var b [8]byte
			binary.LittleEndian.PutUint64(b[:], number)
			copy(mem[at+i*n:], b[:n])
		}
	}
	return nil
}

// Release releases the memory of the module's variables. Its kernels must not run afterwards.
func (m *Module) Release() {
	if m.memory != nil {
		release(m.memory)
		m.memory = nil
	}
}

// Global returns the address and the size of a .global or .const variable.
func (m *Module) Global(name string) (r Range, ok bool) {
	v := m.vars[name]
	if v == nil || v.space == "shared" {
		return r, false
	}
	return Range{v.at, uint64(v.size)}, true
}

// HasVariables reports whether the module has .global or .const variables.
func (m *Module) HasVariables() bool { return m.memory != nil }

// ErrNoKernel is the error for a name that is not that of a kernel of the module.
var ErrNoKernel = errors.New("the module has no kernel with this name")

// Param is the position of a kernel parameter.
type Param struct {
	Offset, Size, Align int
}

// Kernel is an entry function of a module. It is safe for concurrent use.
type Kernel struct {
	Name       string
	Params     []Param
	ParamBytes int // total size of the parameters
	Shared     int // bytes of static shared memory
	Local      int // bytes of local memory per thread
	MaxThreads int // maximum number of threads in a block
	Registers  int // number of declared registers, in units of 32 bits; assemblers use fewer

	module     *Module
	code       []op
	size       int // number of registers of the interpreter
	constants  []constant
	specials   []special
	dynamicAt  int // offset of dynamic shared memory
	workplaces sync.Pool
}

// Kernel returns the entry function with this name. The error names the line of an instruction that
// is not supported.
func (m *Module) Kernel(name string) (*Kernel, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k := m.kernels[name]; k != nil {
		return k, nil
	}
	f := m.functions[name]
	if f == nil || !f.entry || f.body == nil {
		return nil, fmt.Errorf("ptx: kernel %s: %w", name, ErrNoKernel)
	}
	k := &Kernel{Name: name, module: m, MaxThreads: cmp.Or(f.maxThreads, 1024)}
	for _, v := range f.params {
		k.ParamBytes = round(k.ParamBytes, v.align)
		k.Params = append(k.Params, Param{k.ParamBytes, v.size, v.align})
		k.ParamBytes += v.size
	}
	if err := caught(func() { decode(k, f) }); err != nil {
		return nil, fmt.Errorf("%w (kernel %s)", err, name)
	}
	m.kernels[name] = k
	return k, nil
}

// round returns n rounded up to a multiple of align.
func round(n, align int) int { return (n + align - 1) / align * align }
