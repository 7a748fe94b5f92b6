package driver

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

var registry struct {
	sync.RWMutex
	backends  map[string]Backend
	providers map[string]func(device string) (Backend, error)
	opened    map[string]*opened
}

// opened is the result of opening a device: a backend, or an error.
type opened struct {
	once    sync.Once
	backend Backend
	err     error
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

// RegisterFamily makes backends available that are slow to open or may be missing. open is called
// when a device of the family is first looked up, once for each name, such as "cuda" or
// "cuda:1". Its error states why the device is unavailable. RegisterFamily panics if the family is
// already registered.
func RegisterFamily(family string, open func(device string) (Backend, error)) {
	registry.Lock()
	defer registry.Unlock()
	if registry.providers[family] != nil {
		panic(fmt.Sprintf("driver: register: device family %q is registered twice", family))
	}
	if registry.providers == nil {
		registry.providers = map[string]func(string) (Backend, error){}
		registry.opened = map[string]*opened{}
	}
	registry.providers[family] = open
}

// Lookup returns the backend with the given name, or nil.
func Lookup(name string) Backend {
	b, _ := Open(name)
	return b
}

// Open returns the backend with the given name, or an error that states why it is unavailable.
func Open(name string) (Backend, error) {
	registry.RLock()
	b := registry.backends[name]
	o := registry.opened[name]
	registry.RUnlock()
	if b != nil {
		return b, nil
	}
	if o == nil {
		family, _, _ := strings.Cut(name, ":")
		registry.Lock()
		open := registry.providers[family]
		if open == nil {
			registry.Unlock()
			return nil, errors.New("no backend registered")
		}
		if o = registry.opened[name]; o == nil {
			o = &opened{}
			registry.opened[name] = o
		}
		registry.Unlock()
		o.once.Do(func() {
			o.err = errors.New("opening the device panicked")
			o.backend, o.err = open(name)
		})
	}
	o.once.Do(func() {}) // waits if another goroutine is opening the device
	return o.backend, o.err
}

// Names returns the sorted names of all available backends: the registered ones, and the first of each
// registered family.
func Names() []string {
	registry.RLock()
	var names, families []string
	for name := range registry.backends {
		names = append(names, name)
	}
	for family := range registry.providers {
		families = append(families, family)
	}
	registry.RUnlock()
	for _, family := range families {
		if Lookup(family) != nil {
			names = append(names, family)
		}
	}
	slices.Sort(names)
	return names
}
