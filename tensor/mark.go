package tensor

import (
	"slices"
	"sync"
	"sync/atomic"

	"halfnote/tensor/driver"
)

// Mark is something that happened in a run besides operations: a call that a
// diagnosis must know of to judge their order.
type Mark struct {
	// Name is torch's name of the call: "backward", "grad", "item", "zero_grad",
	// "optimizer.step", "lr_scheduler.step", "clip_grad_norm_", "clip_grad_value_",
	// or another that a package chooses.
	Name    string
	Module  string    // path of the module that runs; Note fills it in
	Source  string    // line of a cell that called: "In[3], line 5"; Note fills it in
	By      any       // what was called, as an *optim.Optimizer; may be nil
	Tensors []*Tensor // what it is about, as parameters; not to be kept
	Number  float64   // its argument: the norm to clip to; 1 for a Backward that keeps the graph
}

var marks listeners[Mark]

// Note tells the observers of marks, on the calling goroutine. While there are none it
// does nothing.
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

// ObserveMarks calls f for each mark on any goroutine, on the goroutine that made it,
// before what it announces happens, until stop is called.
func ObserveMarks(f func(Mark)) (stop func()) {
	need("observe_marks", "f", f != nil, "a function of a mark")
	return marks.add(f)
}

// listeners is a list of functions that is copied on change, so that it is read without
// a lock; nil when there are none.
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
		driver.Watch(len(list) > before) // events and marks have sources
	}
	if len(list) == 0 {
		l.list.Store(nil)
		return
	}
	l.list.Store(&list)
}
