package ixgo

import (
	"go/types"
	"reflect"
	"sync"

	"github.com/goplus/ixgo"
	"golang.org/x/tools/go/ssa"
)

// units holds the declarations of the units so far.
type units struct {
	mu      sync.Mutex // slots are requested while code runs
	objects map[string]types.Object
	slots   map[string]reflect.Value
	names   map[*types.Package]int // number of objects of each unit
	ended   map[*types.Package]bool
}

func newUnits() units {
	return units{
		objects: map[string]types.Object{}, slots: map[string]reflect.Value{},
		names: map[*types.Package]int{}, ended: map[*types.Package]bool{},
	}
}

// harvest makes the declarations of a unit available to later units.
func (e *Engine) harvest(in *ixgo.Interp, unit *ssa.Package) {
	pkg := unit.Pkg
	e.units.mu.Lock()
	for _, name := range pkg.Scope().Names() {
		o := pkg.Scope().Lookup(name)
		if o.Pkg() != pkg || name == reached {
			continue
		}
		e.units.objects[name] = o
		e.units.names[pkg]++
		if p, ok := in.GetVarAddr(name); ok {
			e.loader.vars[name] = reflect.ValueOf(p)
			e.units.slots[name] = reflect.ValueOf(p).Elem()
		}
	}
	e.units.mu.Unlock()
	all, fresh := e.loader.learn(in)
	e.live.add(in, all, fresh)
}

// Slot implements engine.Engine.
func (e *Engine) Slot(name string) (reflect.Value, bool) {
	e.units.mu.Lock()
	defer e.units.mu.Unlock()
	v, ok := e.units.slots[name]
	return v, ok
}

// Remove implements engine.Engine.
func (e *Engine) Remove(names ...string) {
	e.units.mu.Lock()
	defer e.units.mu.Unlock()
	for _, name := range names {
		o := e.units.objects[name]
		if o == nil {
			continue
		}
		delete(e.units.objects, name)
		delete(e.units.slots, name)
		delete(e.loader.vars, name)
		e.units.names[o.Pkg()]--
		e.settle(o.Pkg())
	}
}

// end records that no code of a unit runs any longer.
func (e *Engine) end(pkg *types.Package) {
	e.units.mu.Lock()
	defer e.units.mu.Unlock()
	e.units.ended[pkg] = true
	e.settle(pkg)
}

// settle forgets a unit that has ended and whose declarations no later unit can use.
func (e *Engine) settle(pkg *types.Package) {
	if e.units.names[pkg] > 0 || !e.units.ended[pkg] {
		return
	}
	delete(e.units.names, pkg)
	delete(e.units.ended, pkg)
	if unit := e.prog.Package(pkg); unit != nil {
		e.discard(unit)
	}
}
