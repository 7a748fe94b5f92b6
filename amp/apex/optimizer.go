package apex

import (
	"fmt"

	"halfnote/amp"
	"halfnote/tensor"
)

// Optimizer is an optimizer prepared by [Initialize]: its Step updates master weights if
// the level keeps them, and is skipped after an overflow. Optimizer is the original passed to
// Initialize.
type Optimizer struct {
	amp.Optimizer

	group   *group
	slots   []*slot
	delayed bool           // gradients are still scaled
	skip    *lossScaler    // scaler whose overflow skips the next step
	scaled  *lossScaler    // scaler of the gradients since the last step, and
	result  amp.StepResult // its result
	updates []*update      // scale updates to report after the step
	last    amp.StepResult
}

// slot is a parameter of the model with the tensor that the optimizer updates: the parameter
// itself or its float32 master.
type slot struct {
	model, master *tensor.Tensor
	stash         *tensor.Tensor // gradient from before the current loss
	version       int            // version of model whose values master has
}

func (s *slot) mastered() bool { return s.model != s.master }

// follow copies the model's values to the master if they have changed since the last step, such as by [nn.LoadStateDict].
// The next step would undo the change otherwise.
func (s *slot) follow() {
	if s.mastered() && s.model.Version() != s.version {
		tensor.NoGrad(func() { s.master.Assign(s.model.Detach()) })
		s.version = s.model.Version()
	}
}

// replacer is an optimizer whose parameters can be replaced.
type replacer interface {
	ReplaceParams(with func(p *tensor.Tensor) *tensor.Tensor)
}

// sync makes slots for the optimizer's parameters, initially and when a group has been added, and lets masters follow changes of
// the model.
func (o *Optimizer) sync() {
	for _, s := range o.slots {
		s.follow()
	}
	params := o.Optimizer.Params()
	if len(params) == len(o.slots) {
		return
	}
	known := map[*tensor.Tensor]*slot{}
	for _, s := range o.slots {
		known[s.master] = s
	}
	exchange := false
	for _, p := range params {
		if known[p] != nil {
			continue
		}
		s := &slot{model: p, master: p, version: p.Version()}
		if o.group.level.masters == yes && (p.DType() == tensor.Float16 || p.DType() == tensor.BFloat16) {
			s.master = p.Detach().Float().RequireGrad()
			exchange = true
		}
		known[p] = s
	}
	if exchange {
		r, ok := o.Optimizer.(replacer)
		if !ok {
			panic(&amp.Error{Code: "masters", Call: "apex.Initialize", Why: fmt.Sprintf("an optimizer of type %T has no ReplaceParams method, which master weights need", o.Optimizer), Cure: "use an optimizer from package optim, or apex.O2.MasterWeights(false)"})
		}
		r.ReplaceParams(func(p *tensor.Tensor) *tensor.Tensor { return known[p].master })
	}
	o.slots = o.slots[:0]
	for _, p := range params {
		o.slots = append(o.slots, known[p])
	}
}

// MasterParams returns the parameters that opt updates: float32 masters where they exist. Clip
// the gradients of these after [ScaleLoss], because those of float16 parameters stay scaled. It
// is apex.amp.master_params.
func MasterParams(opt *Optimizer) []*tensor.Tensor {
	if opt == nil {
		panic(&amp.Error{Code: "nil_argument", Call: "apex.MasterParams", Why: "opt is nil", Cure: "pass an optimizer that apex.Initialize returned"})
	}
	return opt.Params()
}

// Params returns the parameters as [MasterParams] does.
func (o *Optimizer) Params() []*tensor.Tensor {
	if !o.group.level.off {
		o.sync()
	}
	return o.Optimizer.Params()
}

// ZeroGrad drops the gradients of the model's parameters and of their masters.
func (o *Optimizer) ZeroGrad() {
	o.Optimizer.ZeroGrad()
	if o.group.level.off {
		return
	}
	o.sync()
	for _, s := range o.slots {
		s.model.ZeroGrad()
		s.master.ZeroGrad()
	}
}

// Step updates the parameters with autocast off and copies masters to the model; after an
// overflow it does neither, prints a line, and counts as done. It panics with an *[amp.Error] if the
// gradients have not been unscaled.
func (o *Optimizer) Step() {
	if o.group.level.off {
		o.Optimizer.Step()
		return
	}
	if o.delayed {
		panic(&amp.Error{Code: "delayed_unscale", Call: "apex.Step", Why: "the gradients are still scaled, because the last ScaleLoss delayed unscaling", Cure: "do not set DelayUnscale in the last ScaleLoss before a step"})
	}
	o.sync()
	if o.last = o.result; o.scaled == nil {
		o.last = amp.StepResult{Scale: 1, FirstBadParam: -1}
	}
	if s := o.skip; s != nil {
		o.skip = nil
		o.last.Skipped = true
		if !o.group.level.silent {
			fmt.Printf("Gradient overflow: step skipped, loss scaler %d reduces the loss scale to %g\n", s.id, s.CurrentScale())
		}
	} else {
		casting.With(nil, o.Optimizer.Step)
	}
	tensor.NoGrad(func() {
		for _, s := range o.slots {
			if s.mastered() {
				if !o.last.Skipped {
					s.model.Assign(s.master)
					s.version = s.model.Version()
				}
				s.master.ZeroGrad()
			}
		}
	})
	o.tell()
}

// tell reports the step, and any scale updates that waited for it.
func (o *Optimizer) tell() {
	if o.scaled == nil {
		return
	}
	o.last.Step = o.group.steps
	o.group.steps++
	autocast.Notify(amp.ScalerEvent{
		Kind: amp.EventStep, Scaler: o.scaled.GradScaler, Step: o.last.Step, Optimizer: o, Key: o, Result: o.last,
		Before: o.last.Scale, After: o.last.Scale, Tracker: o.scaled.GrowthTracker(),
	})
	for _, u := range o.updates {
		if u.waits--; u.waits == 0 {
			autocast.Notify(amp.ScalerEvent{Kind: amp.EventUpdate, Scaler: u.by.GradScaler, Step: o.last.Step, Before: u.before, After: u.after, Tracker: u.tracker})
		}
	}
	o.updates, o.scaled, o.result = nil, nil, amp.StepResult{}
}

// LastStep returns the result of the last Step.
func (o *Optimizer) LastStep() amp.StepResult { return o.last }
