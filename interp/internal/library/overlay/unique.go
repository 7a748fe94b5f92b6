//go:build ignore

package unique

import (
	"reflect"
	"sync"
)

// handles holds a map[T]*T for each type T, guarded by mu. Values stay for the life of
// the session.
var handles map[reflect.Type]any

var mu sync.Mutex

// Handle points to the canonical copy of a value.
type Handle[T comparable] struct {
	value *T
}

func (h Handle[T]) Value() T { return *h.value }

func Make[T comparable](value T) Handle[T] {
	mu.Lock()
	defer mu.Unlock()
	if handles == nil {
		handles = map[reflect.Type]any{}
	}
	var p *T
	t := reflect.TypeOf(p)
	m, ok := handles[t].(map[T]*T)
	if !ok {
		m = map[T]*T{}
		handles[t] = m
	}
	if m[value] == nil {
		m[value] = &value
	}
	return Handle[T]{m[value]}
}
