package amp

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Kind says what an [Event] reports.
type Kind uint8

// The kinds of events.
const (
	Stepped Kind = iota // Step has stepped or skipped
	Updated             // Update has set the scale
)

// Event is something a scaler did.
type Event struct {
	Kind          Kind
	Step          int        // number of the step, from 0
	Result        StepResult // of Stepped
	Before, After float64    // the scale
	Tracker       int        // clean steps in a row, after the event
}

// observers is copied on change, so that notify reads it without a lock.
var observers struct {
	sync.Mutex
	list atomic.Pointer[[]*func(Event)]
}

// Observe calls f for each event of any scaler, on the goroutine that caused it,
// until stop is called.
func Observe(f func(Event)) (stop func()) {
	change(func(list []*func(Event)) []*func(Event) { return append(list, &f) })
	return func() {
		change(func(list []*func(Event)) []*func(Event) {
			return slices.DeleteFunc(list, func(g *func(Event)) bool { return g == &f })
		})
	}
}

func change(edit func([]*func(Event)) []*func(Event)) {
	observers.Lock()
	defer observers.Unlock()
	var list []*func(Event)
	if old := observers.list.Load(); old != nil {
		list = slices.Clone(*old)
	}
	list = edit(list)
	observers.list.Store(&list)
}

func notify(e Event) {
	if list := observers.list.Load(); list != nil {
		for _, f := range *list {
			(*f)(e)
		}
	}
}
