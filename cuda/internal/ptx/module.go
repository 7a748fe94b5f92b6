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
	"syscall"
	"unsafe"
)

// Module is a text that has been read. It is safe for concurrent use.
type Module struct {
	Version string // "7.0"
	Target  string // "sm_80"

	functions map[string]*function
	vars      map[string]*variable
	order     []*variable
	memory    []byte // of .global and .const variables, outside the Go heap

	mu      sync.Mutex
	kernels map[string]*Kernel
}

// Parse returns the module of a text, or an error that names the line. Bodies
// of functions are decoded when [Module.Kernel] asks for them.
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
		return nil, errors.New("ptx: text has no .version or no .target")
	}
	return m, m.place()
}

// caught runs f and returns the syntax error that it stopped with.
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

// Check decodes all kernels. Its error joins what is wrong with each.
func (m *Module) Check() error {
	var list []error
	for _, name := range m.Names() {
		_, err := m.Kernel(name)
		list = append(list, err)
	}
	return errors.Join(list...)
}

// place gives .global and .const variables their memory and first values.
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
	mem, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return fmt.Errorf("ptx: %d bytes for the module's variables: %w", size, err)
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
			return fmt.Errorf("ptx: %s: %d initial values of %d bytes, but its size is %d", v.name, len(v.init), n, v.size)
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

// Release gives the memory of the module's variables back. No kernel of it may
// run any more.
func (m *Module) Release() {
	if m.memory != nil {
		_ = syscall.Munmap(m.memory)
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

// ErrNoKernel is the error of a name that no kernel of a module has.
var ErrNoKernel = errors.New("the module has no kernel of that name")

// Param is an argument of a kernel.
type Param struct {
	Offset, Size, Align int
}

// Kernel is an entry of a module. It is safe for concurrent use.
type Kernel struct {
	Name       string
	Params     []Param
	ParamBytes int // size of all parameters
	Shared     int // bytes of static shared memory
	Local      int // bytes of local memory of a thread
	MaxThreads int // in a block
	Registers  int // 32-bit registers that were declared, as far as that says anything

	module     *Module
	code       []op
	size       int // of the register file
	constants  []constant
	specials   []special
	dynamicAt  int // where dynamic shared memory starts
	workplaces sync.Pool
}

// Kernel returns an entry by its name, or an error that says what in it cannot be
// run, with its line.
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
