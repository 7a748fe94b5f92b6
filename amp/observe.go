package amp

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"halfnote/tensor"
	"halfnote/tensor/driver"
)

// EventKind is the kind of a [ScalerEvent].
type EventKind uint8

// The kinds of events, in the order of a step.
const (
	EventScale   EventKind = iota // Scale multiplied a loss
	EventUnscale                  // Unscale, or Step in its place, divided an optimizer's gradients
	EventStep                     // Step stepped or skipped
	EventUpdate                   // Update set the scale
)

// String returns the kind's name, "stepped".
func (k EventKind) String() string {
	if int(k) < len(kinds) {
		return kinds[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

var kinds = []string{EventScale: "scaled", EventUnscale: "unscaled", EventStep: "stepped", EventUpdate: "updated"}

// ScalerEvent is an action of an enabled scaler. A rejected call emits no event.
type ScalerEvent struct {
	Kind   EventKind
	Scaler *GradScaler
	Source string // line of the calling cell: "In[3], line 5"; "" outside cells
	Step   int    // number of the step, from 0; for EventScale and EventUnscale, the upcoming step

	// Loss is the argument of Scale. Observers must not keep it, so that its graph can be
	// freed.
	Loss *tensor.Tensor

	// For EventUnscale and EventStep. Key identifies the optimizer and can be a map key; Optimizer
	// may not be comparable.
	Optimizer Optimizer
	Key       any
	Implicit  bool       // EventUnscale: done by Step because Unscale was not called
	Result    StepResult // EventUnscale: the result of Step if the gradients do not change

	Before, After float64 // the scale
	Tracker       int     // consecutive clean steps after the event
}

// observers is copied on change, so that notify reads it without a lock; nil without observers.
var observers struct {
	sync.Mutex
	list atomic.Pointer[[]*func(ScalerEvent)]
}

// ObserveScalers calls f for each event of any scaler, on the goroutine that caused it,
// until stop is called.
func ObserveScalers(f func(ScalerEvent)) (stop func()) {
	need("ObserveScalers", "f", f != nil, "a func(amp.ScalerEvent)")
	change(func(list []*func(ScalerEvent)) []*func(ScalerEvent) { return append(list, &f) })
	return func() {
		change(func(list []*func(ScalerEvent)) []*func(ScalerEvent) {
			return slices.DeleteFunc(list, func(g *func(ScalerEvent)) bool { return g == &f })
		})
	}
}

func change(edit func([]*func(ScalerEvent)) []*func(ScalerEvent)) {
	observers.Lock()
	defer observers.Unlock()
	var list []*func(ScalerEvent)
	if old := observers.list.Load(); old != nil {
		list = slices.Clone(*old)
	}
	before := len(list)
	if list = edit(list); len(list) != before {
		driver.SetTracing(len(list) > before)
	}
	if len(list) == 0 {
		observers.list.Store(nil)
		return
	}
	observers.list.Store(&list)
}

// observed reports whether there are observers.
func observed() bool { return observers.list.Load() != nil }

func notify(e ScalerEvent) {
	if list := observers.list.Load(); list != nil {
		e.Source = driver.Source()
		for _, f := range *list {
			(*f)(e)
		}
	}
}
