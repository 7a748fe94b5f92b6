package apex

import (
	"fmt"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// ScaleLoss calls body with the loss, as float32, times the loss scale; body calls Backward. Then
// ScaleLoss divides the gradients of opt's parameters by the scale, writing to their masters if
// there are any, adds the gradients from before, and updates the scale. If a gradient is not
// finite and the scale is dynamic, the scale is halved and the next Step of opt is skipped; a
// static scale never skips. It clears O1's cache of casts. It is apex.amp.scale_loss.
func ScaleLoss(loss *tensor.Tensor, opt *Optimizer, body func(scaled *tensor.Tensor)) {
	ScaleLossWith(loss, []*Optimizer{opt}, ScaleLossOptions{}, body)
}

// ScaleLossOptions are options of ScaleLossWith. The zero value is the default.
type ScaleLossOptions struct {
	// LossID is the index of the loss scale, less than the level's NumLosses.
	LossID int
	// DelayUnscale leaves the gradients scaled, to add those of another loss: the last
	// ScaleLoss before the step unscales them.
	DelayUnscale bool
	// DelayOverflowCheck leaves the scale unchanged and does not skip a step.
	DelayOverflowCheck bool
}

// ScaleLossWith is ScaleLoss with options and with all optimizers whose parameters get
// gradients from the loss.
func ScaleLossWith(loss *tensor.Tensor, opts []*Optimizer, o ScaleLossOptions, body func(scaled *tensor.Tensor)) {
	a := groupOf(opts)
	if a.level.off {
		body(loss)
		return
	}
	if loss == nil {
		panic(&amp.Error{Code: "bad_outputs", Call: "apex.ScaleLoss", Why: "the loss is nil", Cure: "pass the loss tensor"})
	}
	if o.LossID < 0 || o.LossID >= len(a.scalers) {
		panic(&amp.Error{Code: "loss_id", Call: "apex.ScaleLoss", Why: fmt.Sprintf("the loss id is %d, but the number of loss scales is %d", o.LossID, len(a.scalers)), Cure: "pass one less than the level's NumLosses, which is 1 by default"})
	}
	defer a.clearCache()
	s := a.scalers[o.LossID]
	scale := s.CurrentScale()
	for _, opt := range opts {
		opt.sync()
		opt.scaled = s
	}
	autocast.Notify(amp.ScalerEvent{Kind: amp.EventScale, Scaler: s.GradScaler, Step: a.steps, Loss: loss, Before: scale, After: scale, Tracker: s.GrowthTracker()})
	if a.level.masters != yes && !s.dynamic && scale == 1 {
		body(loss.Float())
		for _, opt := range opts {
			opt.result = amp.StepResult{Scale: 1, FirstBadParam: -1}
		}
		s.changed(opts, scale)
		return
	}
	if !o.DelayUnscale {
		for _, opt := range opts {
			opt.set()
		}
	}
	body(loss.Float().MulScalar(scale))
	if o.DelayUnscale {
		for _, opt := range opts {
			opt.delayed = true
		}
		return
	}
	found := false
	for _, opt := range opts {
		found = opt.unscale(s) || found
		autocast.Notify(amp.ScalerEvent{
			Kind: amp.EventUnscale, Scaler: s.GradScaler, Step: a.steps, Optimizer: opt, Key: opt, Result: opt.result,
			Before: scale, After: scale, Tracker: s.GrowthTracker(),
		})
	}
	if o.DelayOverflowCheck {
		return
	}
	if s.update(found) {
		for _, opt := range opts {
			if opt.skip == nil {
				opt.skip = s
			}
		}
	}
	s.changed(opts, scale)
}

// groupOf returns the state that the optimizers share.
func groupOf(opts []*Optimizer) *group {
	for _, opt := range opts {
		switch {
		case opt == nil || opt.group == nil:
			panic(&amp.Error{Code: "not_initialised", Call: "apex.ScaleLoss", Why: "an optimizer has not been initialized", Cure: "pass the optimizers that apex.Initialize returned"})
		case opt.group != opts[0].group:
			panic(&amp.Error{Code: "not_initialised", Call: "apex.ScaleLoss", Why: "the optimizers were initialized separately", Cure: "initialize them together, with apex.InitializeAll"})
		}
	}
	if len(opts) == 0 {
		panic(&amp.Error{Code: "not_initialised", Call: "apex.ScaleLoss", Why: "no optimizers given", Cure: "pass the optimizers that apex.Initialize returned"})
	}
	return opts[0].group
}

// lossScaler is the scale of one loss: that of an [amp.GradScaler], updated without its steps.
type lossScaler struct {
	*amp.GradScaler
	id      int
	dynamic bool
}

func newLossScaler(id int, l OptLevel, models []nn.Module) *lossScaler {
	var named []any
	for _, m := range models {
		named = append(named, m)
	}
	options := []amp.ScalerOption{amp.ParamNames(named...)}
	dynamic := l.scale == 0
	if dynamic {
		options = append(options, amp.InitScale(min(65536, l.maxScale)), amp.MinScale(l.minScale), amp.MaxScale(l.maxScale))
	} else {
		options = append(options, amp.StaticScale(l.scale))
	}
	return &lossScaler{amp.NewGradScaler(options...), id, dynamic}
}

// update adjusts the scale and reports whether to skip the step.
func (s *lossScaler) update(found bool) (skip bool) {
	if autocast.AdjustScale(s.GradScaler, found); !s.dynamic {
		autocast.SetScale(s.GradScaler, s.CurrentScale(), s.GrowthTracker()+1) // as Apex counts
	}
	return found && s.dynamic
}

// update is a change of a scale. Observers learn of it after the steps of the optimizers
// concerned, as with an [amp.GradScaler], although it is made before them.
type update struct {
	by            *lossScaler
	before, after float64
	tracker       int
	waits         int
}

func (s *lossScaler) changed(opts []*Optimizer, before float64) {
	u := &update{s, before, s.CurrentScale(), s.GrowthTracker(), len(opts)}
	for _, opt := range opts {
		opt.updates = append(opt.updates, u)
	}
}

// set stashes the existing gradients, so that those of one loss can be checked.
func (o *Optimizer) set() {
	if o.delayed {
		return // the gradients belong to the loss
	}
	for _, s := range o.slots {
		if !s.mastered() {
			s.stash = s.model.Grad()
		}
		s.model.ZeroGrad()
	}
}

// unscale divides the gradients of the loss by the scale and adds the stashed ones, in float32
// and rounded once. It reports whether one is not finite.
func (o *Optimizer) unscale(by *lossScaler) (found bool) {
	o.delayed = false
	var grads []*tensor.Tensor
	var owners []int
	for i, s := range o.slots {
		g := s.model.Grad()
		if g == nil {
			if s.stash != nil {
				s.model.SetGrad(s.stash)
			}
			s.stash = nil
			continue
		}
		if g = g.Detach(); s.mastered() || s.stash != nil {
			g = g.Float()
		}
		grads, owners = append(grads, g), append(owners, i)
	}
	scale := by.CurrentScale()
	first := -1
	for i, bad := range fused.Unscale(grads, float64(float32(1/scale))) {
		if bad && first < 0 {
			first = owners[i]
		}
	}
	tensor.NoGrad(func() {
		for i, g := range grads {
			s := o.slots[owners[i]]
			before := s.stash
			if s.mastered() {
				before = s.master.Grad()
			}
			if before != nil {
				g.AddAssign(before.Detach().Float())
			}
			s.master.SetGrad(g.To(s.master.DType()))
			s.stash = nil
		}
	})
	if !o.result.FoundInf {
		o.result = amp.StepResult{Scale: scale, FirstBadParam: first, FoundInf: first >= 0}
		if first >= 0 {
			o.result.Param = autocast.Describe(by.GradScaler, o.slots[first].model, first)
		}
	}
	return first >= 0
}
