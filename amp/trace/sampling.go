package trace

import (
	"time"

	"halfnote/internal/goid"
	"halfnote/internal/plumbing"
	"halfnote/tensor"
)

// sampling is the choice of steps whose operations are recorded. With [Live], operations are left out
// of a step while their recording has taken more than a small fraction of the time; the loss, the
// scale, the time and the memory of such a step come from calls and from scalers.
type sampling struct {
	on     bool   // steps may be left out
	left   bool   // the operations of this step are left out
	marked bool   // an optimizer or a scaler has marked the end of this step
	ops    int    // number of recorded operations
	ignore func() // stops observing operations; nil if they are not observed
}

// Recording operations may take this fraction of the time, or the free allowance if that is more. The
// time of an operation is that of BenchmarkRecording, including the cache misses that it causes.
const (
	sampleShare = 0.005
	sampleFree  = time.Millisecond
	opTime      = 2500 * time.Nanosecond
)

var calls = tensor.Internal(plumbing.Token{}).Calls

// affords reports whether the operations of another step may be recorded.
func (r *Recorder) affords() bool {
	spent := time.Duration(r.sampling.ops)*opTime + r.meter.spent
	return spent <= max(sampleFree, time.Duration(sampleShare*float64(time.Since(r.meter.begun))))
}

// turn advances to e's step and reports whether e is recorded.
func (r *Recorder) turn(e *tensor.Event) bool {
	s := &r.sampling
	if e.View {
		return !s.left
	}
	before := r.clock.step
	step, restart := r.clock.tick(e)
	if restart {
		for i := range r.waiting {
			r.waiting[i].step = 0
		}
		r.restart()
	}
	if step != before {
		if r.shadow != nil {
			r.shadow.turn()
		}
		if s.left = s.on && (s.left || s.marked) && !r.affords(); s.left {
			r.leave()
		}
		s.marked = false
	}
	return !s.left
}

// leave stops observing operations.
func (r *Recorder) leave() {
	r.settle()
	r.reach()
	if stop := r.sampling.ignore; stop != nil {
		r.sampling.ignore = nil
		stop()
	}
}

// watch observes operations again.
func (r *Recorder) watch() {
	if r.sampling.ignore == nil {
		r.sampling.ignore = tensor.Observe(goid.Only(r.family, r.event))
	}
}

// reach adds a step whose operations are left out. It begins where the step before ended.
func (r *Recorder) reach() {
	r.sums.reach(r.clock.step, r.history.end().Sub(r.begun))
}

// call notes a call other than an operation.
func (r *Recorder) call(m plumbing.Call[*tensor.Tensor]) {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended.IsZero() {
		return
	}
	switch m.Name {
	case "backward", "grad":
		late := r.sampling.left && now.Sub(r.history.end()) > time.Second // perhaps the program changes parameters itself
		r.lost(now)
		r.clock.backward = true
		r.history.backward(m.Tensors[0], r.clock.step)
		if late {
			r.watch()
		}
	case "optimizer.step":
		r.stepped(now)
	}
}

// stepped notes that an optimizer steps or skips a step.
func (r *Recorder) stepped(now time.Time) {
	if r.clock.optimized() {
		r.settle()
		r.restart()
	}
	r.sampling.marked = true
	r.pass(now)
	if r.sampling.left && r.affords() {
		r.watch() // the next step begins with an operation
	}
}

// lost notes that there is a loss, which may begin a step whose operations are left out.
func (r *Recorder) lost(now time.Time) {
	if r.sampling.left && r.clock.lost() {
		r.reach()
	}
	r.pass(now)
}

// pass notes the time of a call in a step whose operations are left out.
func (r *Recorder) pass(now time.Time) {
	if r.sampling.left {
		r.history.pass(r.clock.step, now)
		r.live.event(now)
	}
}
