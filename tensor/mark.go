package tensor

import (
	"slices"
	"sync"
	"sync/atomic"

	"halfnote/tensor/driver"
)

// Mark is a call other than an operation whose order matters to diagnostics.
type Mark struct {
	// Name is torch's name of the call: "backward", "grad", "item", "zero_grad",
	// "optimizer.step", "lr_scheduler.step", "clip_grad_norm_", "clip_grad_value_", or another
	// name that a package chooses.
	Name    string
	Module  string    // path of the running module, set by Note
	Source  string    // calling cell line: "In[3], line 5", set by Note
	By      any       // object of the call, for example an *optim.Optimizer; may be nil
	Tensors []*Tensor // tensors involved, for example parameters; must not be kept
	Number  float64   // argument: the norm to clip to; 1 for a Backward that keeps the graph
}

var marks listeners[Mark]

// Note notifies the mark observers, on the calling goroutine. Without observers it does
// nothing.
func Note(m Mark) {
	list := marks.load()
	if list == nil {
		return
	}
	m.Module, m.Source = current().module, driver.Source()
	for _, f := range *list {
		(*f)(m)
	}
}

// ObserveMarks calls f for each mark on any goroutine, on the goroutine that made it, before
// the marked call takes effect, until stop is called.
func ObserveMarks(f func(Mark)) (stop func()) {
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
