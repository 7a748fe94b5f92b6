package diagnose

import (
	"fmt"
	"slices"

	"halfnote/amp"
	"halfnote/tensor"
)

// Rewind keeps the state of a run after each of its steps, goes back to any of them,
// and runs alternatives from there:
//
//	rw := diagnose.NewRewind(net, opt, scaler)
//	train := func(until int) {
//		for rw.Step() < until {
//			b := batches[rw.Step()%len(batches)]
//			…
//			rw.Record(loss)
//		}
//	}
//	train(200)
//	at := rw.BeforeNaN()
//	rw.Fork("lr/10", at, func() { opt.SetLR(opt.LR() / 10); train(200) })
//	rw.Fork("bfloat16", at, func() { policy = amp.BFloat16; train(200) })
//	rw.Loss() // compares the branches
//
// The state comprises parameters, buffers and gradients of the net, the state and settings of
// optimizers, schedulers and scalers, and the random number generators, always including the
// default one: after going back, a run continues bit for bit as before. The program must
// restore its own variables, such as an epoch number; choosing the batch by Step avoids this.
//
// The newest states are all kept and older ones ever more sparsely; tensors that a step does
// not change are stored once. A Rewind must be used by one goroutine only.
type Rewind struct {
	parts   []part
	scalers []*amp.GradScaler
	kept    []*snapshot // states in order of steps
	newest  int         // number of newest states that are all kept
	stride  int         // stride between older states
	trunk   *Branch
	now     *Branch // branch being recorded: the trunk or a fork
	forks   []*Branch
	skipped bool
	scale   float64                  // loss scale of the current step; 0 if no loss was scaled
	open    map[*amp.GradScaler]bool // scalers with unscaled gradients since their last Update
	stop    func()
}

// Branch is the record of a run, or of a fork of it.
type Branch struct {
	Name string
	From int // the step that it begins with
	// Losses, Scales and Skipped have one entry per step: the loss, the loss scale, 1 without a
	// scaler, and whether the scaler skipped an optimizer's step.
	Losses, Scales []float64
	Skipped        []bool
	Broken         bool // a panic ended the fork
}

// NewRewind starts keeping the states of a run, beginning with the current one. others are the
// optimizers, schedulers, scalers, generators other than the default one, loader epochs, and
// any other values with StateDict and LoadStateDict that take part in training. They share no
// interface, because the types of their states differ, as in torch. It panics with an *[amp.Error]
// on anything else.
func NewRewind(net any, others ...any) *Rewind {
	needLayers("NewRewind", net, "")
	trunk := &Branch{Name: "run"}
	r := &Rewind{parts: parts(net, others), newest: 50, stride: 1, trunk: trunk, now: trunk, open: map[*amp.GradScaler]bool{}}
	for _, o := range others {
		if s, ok := o.(*amp.GradScaler); ok {
			r.scalers = append(r.scalers, s)
		}
	}
	r.stop = amp.ObserveScalers(r.scaler)
	r.kept = []*snapshot{take(r.parts, 0, nil)}
	return r
}

// KeepLast sets the number of newest states that are all kept, 50 by default, and the maximum
// number of older ones. It returns r, and panics unless n is positive.
func (r *Rewind) KeepLast(n int) *Rewind {
	if n < 1 {
		panic(&amp.Error{Code: "bad_count", Call: "Rewind.KeepLast", Why: fmt.Sprintf("n is %d", n), Cure: "pass at least 1"})
	}
	r.newest = n
	r.thin()
	return r
}

// Stop ends the observation of scalers; states and records are kept.
func (r *Rewind) Stop() { r.stop() }

func (r *Rewind) scaler(e amp.ScalerEvent) {
	if !slices.Contains(r.scalers, e.Scaler) {
		return
	}
	switch e.Kind {
	case amp.EventScale:
		r.scale = e.Before
	case amp.EventUnscale:
		r.open[e.Scaler] = true
	case amp.EventStep:
		r.open[e.Scaler] = true
		r.skipped = r.skipped || e.Result.Skipped
	case amp.EventUpdate:
		delete(r.open, e.Scaler)
	}
}

// restore restores a state. A scaler that lacks an Update, because a step was interrupted, is
// made ready for the next step.
func (r *Rewind) restore(s *snapshot) {
	for scaler := range r.open {
		scaler.UpdateTo(scaler.CurrentScale())
	}
	s.restore(r.parts)
}

// Step returns the number of the next step, from 0.
func (r *Rewind) Step() int { return r.now.From + len(r.now.Losses) }

// Record marks the end of a step with its loss, a tensor of one element. Call it after the
// scaler's Update. It keeps the state, except in a fork.
func (r *Rewind) Record(loss *tensor.Tensor) {
	value, scale := loss.Item(), r.scale
	if scale == 0 {
		scale = 1
	}
	b := r.now
	b.Losses, b.Scales, b.Skipped = append(b.Losses, value), append(b.Scales, scale), append(b.Skipped, r.skipped)
	r.skipped, r.scale = false, 0
	if b == r.trunk {
		r.kept = append(r.kept, take(r.parts, r.Step(), r.kept[len(r.kept)-1]))
		r.thin()
	}
}

// thin drops old states whose steps are not multiples of a stride, which doubles when there are
// too many.
func (r *Rewind) thin() {
	for {
		old := len(r.kept) - r.newest
		var list []*snapshot
		for i, s := range r.kept {
			if i >= old || s.step%r.stride == 0 {
				list = append(list, s)
			}
		}
		r.kept = list
		if len(list)-r.newest <= r.newest {
			return
		}
		r.stride *= 2
	}
}

// Kept returns the steps before which the state is kept.
func (r *Rewind) Kept() []int {
	var list []int
	for _, s := range r.kept {
		list = append(list, s.step)
	}
	return list
}

// Near returns the last step up to this one before which the state is kept.
func (r *Rewind) Near(step int) int {
	at := r.kept[0].step
	for _, s := range r.kept {
		if s.step <= step {
			at = s.step
		}
	}
	return at
}

// Bytes returns the memory of all kept states, counting an unchanged tensor once.
func (r *Rewind) Bytes() int {
	total, seen := 0, map[*tensor.Tensor]bool{}
	for _, s := range r.kept {
		for _, c := range s.copies {
			if !seen[c.copy] {
				seen[c.copy] = true
				total += c.copy.Bytes()
			}
		}
	}
	return total
}

// To restores the state before a step, in place, and the run continues from there: later states
// are dropped, and the records after it become a branch. It panics with an *[amp.Error] if the
// state is not kept, or in a fork.
func (r *Rewind) To(step int) {
	if r.now != r.trunk {
		panic(&amp.Error{Code: "in_fork", Call: "Rewind.To", Why: "a fork is running", Cure: "call To outside the fork, or call Fork with the step to start at"})
	}
	s := r.find("Rewind.To", step)
	r.restore(s)
	r.skipped, r.scale = false, 0
	t := r.trunk
	if step < len(t.Losses) {
		r.forks = append(r.forks, &Branch{
			Name: fmt.Sprintf("before going back to %d", step), From: step,
			Losses: slices.Clone(t.Losses[step:]), Scales: slices.Clone(t.Scales[step:]), Skipped: slices.Clone(t.Skipped[step:]),
		})
	}
	t.Losses, t.Scales, t.Skipped = t.Losses[:step], t.Scales[:step], t.Skipped[:step]
	r.kept = slices.DeleteFunc(r.kept, func(s *snapshot) bool { return s.step > step })
}

// find returns the state before a step.
func (r *Rewind) find(call string, step int) *snapshot {
	for _, s := range r.kept {
		if s.step == step {
			return s
		}
	}
	why := fmt.Sprintf("the state before step %d is not kept", step)
	if step < 0 || step > len(r.trunk.Losses) {
		why = fmt.Sprintf("step %d does not exist", step)
	}
	panic(&amp.Error{Code: "not_kept", Call: call, Why: why, Cure: fmt.Sprintf("pass %d, the nearest kept step, or another step in Kept; KeepLast keeps more", r.Near(step))})
}

// Fork restores the state before a step and calls body, which changes something, continues
// training and calls Record. Fork then restores the current state, even if body panics, and
// returns the record. It panics with an *[amp.Error] if the state is not kept, or in another
// fork.
func (r *Rewind) Fork(name string, step int, body func()) *Branch {
	if r.now != r.trunk {
		panic(&amp.Error{Code: "in_fork", Call: "Rewind.Fork", Why: fmt.Sprintf("the fork %q is running", r.now.Name), Cure: "call Fork outside other forks"})
	}
	from := r.find("Rewind.Fork", step)
	present := take(r.parts, r.Step(), r.kept[len(r.kept)-1])
	skipped, scale := r.skipped, r.scale
	b := &Branch{Name: name, From: step}
	r.forks = append(r.forks, b)
	b.Broken = true
	defer func() {
		r.now, r.skipped, r.scale = r.trunk, skipped, scale
		r.restore(present)
	}()
	r.restore(from)
	r.now, r.skipped, r.scale = b, false, 0
	body()
	b.Broken = false
	return b
}

// BeforeFirst returns the last kept step not after the first recorded step for which bad
// returns true, or -1 if there is none.
func (r *Rewind) BeforeFirst(bad func(step int, loss float64) bool) int {
	for i, loss := range r.trunk.Losses {
		if bad(i, loss) {
			return r.Near(i)
		}
	}
	return -1
}

// BeforeNaN returns the last kept step up to the first one with a loss that is not
// finite, before which no parameter, buffer or optimizer held an inf or NaN; -1 if
// there is neither such a loss nor such a state, or no clean state is kept.
func (r *Rewind) BeforeNaN() int {
	first := r.BeforeFirst(func(_ int, loss float64) bool { return loss-loss != 0 })
	if first < 0 {
		if r.kept[len(r.kept)-1].finite() {
			return -1
		}
		first = len(r.trunk.Losses)
	}
	for _, s := range slices.Backward(r.kept) {
		if s.step <= first && s.finite() {
			return s.step
		}
	}
	return -1
}

// Branches returns the records of the run and of its forks.
func (r *Rewind) Branches() []*Branch { return append([]*Branch{r.trunk}, r.forks...) }
