package tensor

import (
	"slices"
	"sync"
	"sync/atomic"

	"halfnote/internal/plumbing"
	"halfnote/tensor/driver"
)

type mark = plumbing.Mark[*Tensor]

var marks listeners[mark]

// note is Note of plumbing.Marks.
func note(m mark) {
	list := marks.load()
	if list == nil {
		return
	}
	for _, t := range m.Tensors {
		asShared(t)
	}
	m.Module, m.Source = current().module, driver.Source()
	for _, f := range *list {
		(*f)(m)
	}
}

// observeMarks is Observe of plumbing.Marks.
func observeMarks(f func(mark)) (stop func()) {
	need("observe_marks", "f", f != nil, "a function of a mark")
	return marks.add(f)
}

// listeners is a copy-on-write list of functions, read without a lock; nil if empty.
type listeners[T any] struct {
	mu   sync.Mutex
	list atomic.Pointer[[]*func(T)]
}

func (l *listeners[T]) load() *[]*func(T) { return l.list.Load() }

func (l *listeners[T]) add(f func(T)) (remove func()) {
	l.change(func(list []*func(T)) []*func(T) { return append(list, &f) })
	return func() {
		l.change(func(list []*func(T)) []*func(T) {
			return slices.DeleteFunc(list, func(g *func(T)) bool { return g == &f })
		})
	}
}

func (l *listeners[T]) change(edit func([]*func(T)) []*func(T)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []*func(T)
	if old := l.list.Load(); old != nil {
		list = slices.Clone(*old)
	}
	before := len(list)
	if list = edit(list); len(list) != before {
		driver.SetTracing(len(list) > before) // events and marks need source lines
	}
	if len(list) == 0 {
		l.list.Store(nil)
		return
	}
	l.list.Store(&list)
}
