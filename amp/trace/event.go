package trace

import (
	"time"

	"halfnote/amp"
	"halfnote/tensor"
)

// noted is an operation that has run, with the data that must be collected immediately.
type noted struct {
	tensor.EventInfo
	step     int
	reason   *reason // decision of the policy in force
	counts   tensor.Counts
	counted  bool
	rounded  bool
	rounding Rounding
	shadow   *Shadowed
	hash     *hashed
}

// batch is the number of operations that are noted before they are processed. An operation evicts
// the recording's data from the processor's caches, so processing many at once is cheaper.
const batch = 512

// event notes an operation.
func (r *Recorder) event(e tensor.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended.IsZero() || !r.turn(&e) {
		return
	}
	r.sampling.ops++
	ask := e.InPlace && !r.names.knows(e.In[0].ID) // find the parameter while this is its gradient
	if ask {
		r.settle()
	}
	if r.waiting == nil {
		r.waiting = make([]noted, 0, batch)
	}
	r.waiting = r.waiting[:len(r.waiting)+1]
	n := &r.waiting[len(r.waiting)-1]
	n.EventInfo, n.counted, n.rounded, n.rounding, n.shadow, n.hash = e.EventInfo, false, false, Rounding{}, nil, nil
	if r.shadow != nil {
		n.shadow, n.rounding = r.shadow.event(e)
		n.rounded = n.shadow != nil
	}
	if !e.View {
		r.look(&e, n)
	}
	if r.hasher != nil {
		n.hash = r.hasher.event(&e)
	}
	n.step = r.clock.step
	if ask || len(r.waiting) == batch {
		r.settle()
	}
}

// look collects the policy and the counts of e's result.
func (r *Recorder) look(e *tensor.Event, n *noted) {
	step := r.clock.step
	r.history.pass(step, e.Start.Add(e.Duration))
	r.live.event(e.Start)
	n.reason = r.reasons.in(amp.Active())
	if r.meter.ready(step); !r.meter.on || e.InPlace {
		return
	}
	switch cast := rounds(e); {
	case cast:
		n.counts, n.rounding = r.meter.cast(e.Operands[0], e.Result)
		n.counted, n.rounded = true, true
	case !e.InCast:
		n.counts = r.meter.count(e.Result)
		n.counted = true
	}
}

// read locks the recording for reading until the returned function is called.
func (r *Recorder) read() (done func()) {
	r.mu.Lock()
	r.settle()
	return r.mu.Unlock
}

// settle processes the noted operations.
func (r *Recorder) settle() {
	for i := range r.waiting {
		r.take(&r.waiting[i])
	}
	r.waiting = r.waiting[:0]
}

// take processes an operation. Views compute nothing, and a cast by autocast belongs to the
// operation that needs it.
func (r *Recorder) take(n *noted) {
	if n.step != r.step { // forget tensors of the step before last
		r.step = n.step
		r.names.turn()
		r.bases.turn()
		r.casts.turn()
	}
	place := r.names.place(&n.EventInfo)
	switch {
	case n.View:
		r.bases.put(n.Out.ID, r.base(n.In[0].ID))
		return
	case n.InCast:
		r.casts.put(n.Out.ID, CastRecord{Start: n.Start.Sub(r.begun), Duration: n.Duration, Rounding: n.rounding, Rounded: n.counted})
		return
	}
	op := &r.op
	op.describe(&n.EventInfo, place)
	op.Start = n.Start.Sub(r.begun)
	op.Step, op.Policy, op.Why = n.step, n.reason.name, n.reason.decided(&n.EventInfo)
	op.Counts, op.Counted, op.Rounding, op.Rounded, op.Shadow = n.counts, n.counted, n.rounding, n.rounded, n.shadow
	op.hashed = n.hash
	for i := range n.In {
		op.InIDs = append(op.InIDs, n.In[i].ID)
	}
	for _, c := range n.Casts {
		op.InIDs[c.Operand] = c.ID
		cast, _ := r.casts.get(c.ID)
		if c.Cached {
			cast.Start, cast.Duration = 0, 0
		}
		cast.Operand, cast.From, cast.To, cast.Cached, cast.Promotion = c.Operand, c.From, c.To, c.Cached, c.Promotion
		cast.ID, cast.Elements = r.base(n.In[c.Operand].ID), elements(n.In[c.Operand].Shape)
		op.Cast = append(op.Cast, cast)
	}
	for i, id := range op.InIDs {
		op.InIDs[i] = r.base(id)
	}
	r.sums.add(op, r.ops.add(op))
}

// rounds reports whether e is a cast from one floating-point dtype to another.
func rounds(e *tensor.Event) bool {
	return e.Op.Name == "cast" && e.Operands[0].DType().IsFloat() && e.Out.DType.IsFloat()
}

// base returns the ID of the tensor that the view with this ID shares memory with.
func (r *Recorder) base(id int) int {
	if b, ok := r.bases.get(id); ok {
		return b
	}
	return id
}

// restart merges all steps so far into one.
func (r *Recorder) restart() {
	r.ops.restart()
	r.history.restart()
	for i := range r.steps {
		r.steps[i].Of = 0
	}
	r.sums.restart()
}

// scaler records a scaler event.
func (r *Recorder) scaler(e amp.ScalerEvent) {
	defer r.read()()
	switch e.Kind {
	case amp.EventScale:
		r.lost(time.Now())
		r.history.scaler(e, r.clock.step)
	case amp.EventStep:
		r.stepped(time.Now())
		r.history.scaler(e, r.clock.step)
		r.steps = append(r.steps, StepRecord{StepResult: e.Result, Of: r.clock.step})
	case amp.EventUpdate:
		for i := len(r.steps) - 1; i >= 0 && r.steps[i].After == 0; i-- {
			r.steps[i].After = e.After
		}
	}
}
