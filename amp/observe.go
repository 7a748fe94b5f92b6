package amp

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"halfnote/tensor"
	"halfnote/tensor/driver"
)

// Kind says what an [Event] reports.
type Kind uint8

// The kinds of events, in the order of a step.
const (
	Scaled   Kind = iota // Scale has multiplied a loss
	Unscaled             // Unscale, or Step in its place, has divided an optimizer's gradients
	Stepped              // Step has stepped or skipped
	Updated              // Update has set the scale
)

// String returns the kind's name, "stepped".
func (k Kind) String() string {
	if int(k) < len(kinds) {
		return kinds[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

var kinds = []string{Scaled: "scaled", Unscaled: "unscaled", Stepped: "stepped", Updated: "updated"}

// Event is something an enabled scaler did. A call that is refused gives none.
type Event struct {
	Kind   Kind
	Scaler *GradScaler
	Source string // line of a cell that called: "In[3], line 5"; "" outside cells
	Step   int    // number of the step, from 0; of Scaled and Unscaled that of the step to come

	// Loss is what Scale was given. It must not be kept, so that its graph can be
	// freed.
	Loss *tensor.Tensor

	// Of Unscaled and Stepped. Key tells one optimizer from another and can be a
	// key of a map; Optimizer need not.
	Optimizer Optimizer
	Key       any
	Implicit  bool       // Unscaled: Step did it, for Unscale was not called
	Result    StepResult // Unscaled: what Step will say unless the gradients change

	Before, After float64 // the scale
	Tracker       int     // clean steps in a row, after the event
}

// observers is copied on change, so that notify reads it without a lock; nil while
// nobody observes.
var observers struct {
	sync.Mutex
	list atomic.Pointer[[]*func(Event)]
}

// Observe calls f for each event of any scaler, on the goroutine that caused it,
// until stop is called.
func Observe(f func(Event)) (stop func()) {
	need("Observe", "f", f != nil, "a function of an event")
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
	before := len(list)
	if list = edit(list); len(list) != before {
		driver.Watch(len(list) > before)
	}
	if len(list) == 0 {
		observers.list.Store(nil)
		return
	}
	observers.list.Store(&list)
}

// observed reports whether anybody observes.
func observed() bool { return observers.list.Load() != nil }

func notify(e Event) {
	if list := observers.list.Load(); list != nil {
		e.Source = driver.Source()
		for _, f := range *list {
			(*f)(e)
		}
	}
}
