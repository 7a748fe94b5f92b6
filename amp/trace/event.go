package trace

import (
	"halfnote/amp"
	"halfnote/tensor"
)

// event notes an operation. Views compute nothing, and a cast that autocast asks for
// belongs to the operation that it is made for.
func (r *Recorder) event(e tensor.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended.IsZero() {
		return
	}
	place := r.names.place(&e)
	var said *Shadowed
	var own Rounding
	if r.shadow != nil {
		said, own = r.shadow.event(e)
	}
	if e.View {
		r.bases.put(e.Out.ID, r.base(e.In[0].ID))
		return
	}
	before := r.clock.step
	step, restart := r.clock.tick(&e)
	if restart {
		r.restart()
	}
	if step != before { // what is known of tensors of the step before last is not asked for
		r.names.turn()
		r.meter.turn()
		r.bases.turn()
		if r.shadow != nil {
			r.shadow.turn()
		}
	}
	r.meter.ready(step)
	if e.InCast {
		r.meter.casts.put(e.Out.ID, r.cast(&e))
		return
	}
	op := newOp(&e, place, &r.last)
	op.Step = step
	op.Policy, op.Why = r.reasons.decided(&e)
	for _, t := range e.Operands {
		op.InIDs = append(op.InIDs, r.base(t.ID()))
	}
	for _, c := range e.Casts {
		cast, _ := r.meter.casts.get(e.Operands[c.Operand].ID())
		if c.Cached {
			cast.Duration = 0
		}
		cast.Operand, cast.From, cast.To, cast.Cached, cast.Promotion = c.Operand, c.From, c.To, c.Cached, c.Promotion
		cast.Elements = e.Operands[c.Operand].Numel()
		op.Cast = append(op.Cast, cast)
	}
	if r.meter.on && !e.InPlace {
		op.Counted = true
		if op.Rounded = rounds(&e); op.Rounded {
			op.Counts, op.Rounding = r.meter.cast(e.Operands[0], e.Result)
		} else {
			op.Counts = r.meter.count(e.Result)
		}
	}
	if op.Shadow = said; said != nil && !op.Rounded {
		op.Rounding, op.Rounded = own, true
	}
	if len(r.ops.list) < MaxOps {
		r.ops.add(&op)
	}
	r.sums.add(&op)
	r.last = op
}

// cast describes a cast that autocast made.
func (r *Recorder) cast(e *tensor.Event) Cast {
	c := Cast{Duration: e.Duration}
	if r.meter.on && rounds(e) {
		_, c.Rounding = r.meter.cast(e.Operands[0], e.Result)
		c.Rounded = true
	}
	return c
}

// rounds reports whether e is a cast from one floating-point dtype to another.
func rounds(e *tensor.Event) bool {
	return e.Op.Name == "cast" && e.Operands[0].DType().IsFloat() && e.Out.DType.IsFloat()
}

// base returns the ID of the tensor whose memory the one of this ID shows.
func (r *Recorder) base(id int) int {
	if b, ok := r.bases.get(id); ok {
		return b
	}
	return id
}

// restart takes all steps so far for one.
func (r *Recorder) restart() {
	r.ops.restart()
	for i := range r.steps {
		r.steps[i].Of = 0
	}
	r.sums.restart()
}

// scaler notes what a gradient scaler did.
func (r *Recorder) scaler(e amp.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e.Kind {
	case amp.Stepped:
		if r.clock.optimized() {
			r.restart()
		}
		r.steps = append(r.steps, Step{StepResult: e.Result, Of: r.clock.step})
	case amp.Updated:
		for i := len(r.steps) - 1; i >= 0 && r.steps[i].After == 0; i-- {
			r.steps[i].After = e.After
		}
	}
}
