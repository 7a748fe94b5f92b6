package driver

import (
	"fmt"
	"slices"
	"sync"
)

var registry struct {
	sync.RWMutex
	backends map[string]Backend
}

// Register makes a backend available under its name. It panics if the name is
// taken. Backends call it from init.
func Register(b Backend) {
	registry.Lock()
	defer registry.Unlock()
	if registry.backends[b.Name()] != nil {
		panic(fmt.Sprintf("driver: register: backend %q is registered twice", b.Name()))
	}
	if registry.backends == nil {
		registry.backends = map[string]Backend{}
	}
	registry.backends[b.Name()] = b
}

// Lookup returns the backend of that name, or nil.
func Lookup(name string) Backend {
	registry.RLock()
	defer registry.RUnlock()
	return registry.backends[name]
}

// Names returns the names of all backends, sorted.
func Names() []string {
	registry.RLock()
	defer registry.RUnlock()
	var names []string
	for name := range registry.backends {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
