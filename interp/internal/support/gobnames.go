package support

import (
	"encoding/gob"
	"fmt"
	"reflect"
	"sync"
)

// gobNames names the types of cells for package gob, whose registry belongs to the process. A type that is declared
// again with other fields gets a new name, where gob.Register would panic.
type gobNames struct {
	mu    sync.Mutex
	named map[string]bool
	types map[reflect.Type]bool // without pointers
}

// registered holds the types of all sessions.
var registered = gobNames{named: map[string]bool{}, types: map[reflect.Type]bool{}}

// register is gob.Register. It does nothing for a type of a cell that is registered.
func (g *gobNames) register(v any) {
	t := reflect.TypeOf(v)
	for t != nil && t.Kind() == reflect.Pointer && t.Name() == "" {
		t = t.Elem()
	}
	if t == nil || t.PkgPath() != "main" {
		gob.Register(v)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.types[t] {
		return
	}
	name := reflect.TypeOf(v).String()
	for n := 2; g.named[name]; n++ {
		name = fmt.Sprintf("%v %d", reflect.TypeOf(v), n)
	}
	gob.RegisterName(name, v)
	g.types[t], g.named[name] = true, true
}
