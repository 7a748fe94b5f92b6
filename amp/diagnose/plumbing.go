package diagnose

import (
	"slices"

	"halfnote/amp"
	"halfnote/dist"
	"halfnote/internal/goid"
	"halfnote/internal/plumbing"
	"halfnote/tensor"
)

var (
	casting = tensor.Internal(plumbing.Token{}).Casting
	calls   = tensor.Internal(plumbing.Token{}).Calls
)

type call = plumbing.Call[*tensor.Tensor]

// observer holds the functions by which a diagnosis observes a run; nil ones observe nothing.
type observer struct {
	operation func(tensor.Event)
	call      func(call)
	scaler    func(amp.ScalerEvent)
	transfer  func(dist.Transfer)
}

// watch observes all goroutines, except for those that have begun a recording or a diagnosis themselves, until stop is called.
func (o observer) watch() (stop func()) {
	family := goid.Begin()
	stops := []func(){family.End}
	if o.operation != nil {
		stops = append(stops, tensor.Observe(goid.Only(family, o.operation)))
	}
	if o.call != nil {
		stops = append(stops, calls.Observe(goid.Only(family, o.call)))
	}
	if o.scaler != nil {
		stops = append(stops, amp.ObserveScalers(goid.Only(family, o.scaler)))
	}
	if o.transfer != nil {
		stops = append(stops, dist.Observe(goid.Only(family, o.transfer)))
	}
	return func() {
		for _, f := range slices.Backward(stops) { // the family ends last: with one that has ended, calls of others would count
			f()
		}
	}
}
