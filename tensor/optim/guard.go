package optim

import (
	"maps"

	"halfnote/internal/plumbing"
	"halfnote/tensor"
)

// StepUnless is Step if all elements of found, a float32 tensor on the parameters' device, are
// 0; otherwise parameters and optimizer state stay unchanged. For SGD, and for Adam and
// AdamW without AMSGrad, a capable device takes or skips the step itself, so that the host need
// not wait; otherwise found is read. Schedulers count the step in any case. amp.GradScaler calls
// it. It is a step of torch's fused optimizers with found_inf.
func (o *Optimizer) StepUnless(found *tensor.Tensor) {
	if rule, ok := o.rule.(guarding); ok && o.guarded(rule, found) {
		o.stepGuarded(rule, found)
		return
	}
	for _, x := range found.Float64s() {
		if x != 0 {
			o.taken++
			return
		}
	}
	o.Step()
}

// guarding is a rule whose steps a device can skip.
type guarding interface {
	rule
	// guards reports whether p's device can itself take or skip p's next step, given p's record r.
	guards(p *tensor.Tensor, o *Group, r record) bool
	// betas returns the decay rates of the bias corrections.
	betas(o *Group) [2]float64
	// known returns the number of steps in r. setKnown sets it to n, at least 1.
	known(r record) (n float64)
	setKnown(r record, n float64)
}

// guards is false if momentum was turned on late: the count then shows earlier steps, but
// the velocity does not exist yet.
func (sgd) guards(p *tensor.Tensor, o *Group, r record) bool {
	_, moving := r["momentum_buffer"]
	late := r != nil && o.Momentum != 0 && !moving
	return !late && fused.GuardsSGD(p, o.Momentum != 0)
}

func (sgd) betas(*Group) [2]float64 { return [2]float64{} }

// A velocity shows that at least one step was taken; the number does not matter.
func (sgd) known(r record) float64 {
	if _, moving := r["momentum_buffer"]; moving {
		return 1
	}
	return 0
}

func (sgd) setKnown(record, float64) {}

func (adam) guards(p *tensor.Tensor, o *Group, _ record) bool {
	return !o.AMSGrad && fused.GuardsAdam(p)
}

func (adam) betas(o *Group) [2]float64 { return [2]float64{o.Beta1, o.Beta2} }

func (adam) known(r record) float64 {
	n, _ := r["step"].(float64)
	return n
}

func (adam) setKnown(r record, n float64) { r["step"] = n }

// guarded reports whether the device itself takes or skips the step.
func (o *Optimizer) guarded(rule guarding, found *tensor.Tensor) bool {
	if o.carried != 0 || found.DType() != tensor.Float32 {
		return false
	}
	for _, group := range o.groups {
		for _, p := range group.params {
			if gradients.Peek(p) == nil {
				continue
			}
			halves := o.Fused() && p.DType() != p.DType().Wide()
			if halves || p.Device() != found.Device() || !rule.guards(p, group, o.records[p]) {
				return false
			}
		}
	}
	return true
}

// stepGuarded is step, but the device takes or skips the step itself.
func (o *Optimizer) stepGuarded(rule guarding, found *tensor.Tensor) {
	calls.Note(plumbing.Call[*tensor.Tensor]{Name: "optimizer.step", By: o, Tensors: o.Params()})
	defer calls.Note(plumbing.Call[*tensor.Tensor]{Name: "optimizer.stepped", By: o})
	o.taken++
	o.keepsSettings()
	o.handOver(rule, found.Device())
	tensor.NoGrad(func() {
		steps := fused.NewSteps()
		row := 0
		for _, group := range o.groups {
			group.steps = steps
			first := row // first of consecutive parameters that have gradients
			advance := func(last int) {
				if first < last {
					o.counts.Advance(first, last, found, group.LR, rule.betas(group))
				}
				first = last + 1
			}
			for i, p := range group.params {
				if gradients.Peek(p) == nil {
					advance(row + i)
				}
			}
			advance(row + len(group.params))
			for i, p := range group.params {
				if g := gradients.Peek(p); g != nil {
					o.remember(p)
					group.guard = o.counts.Row(row + i)
					o.move(p, g.Detach(), group, o.records[p])
				}
			}
			row += len(group.params)
			group.steps, group.guard = nil, nil
		}
		steps.Run()
	})
}

// handOver makes the device count the steps from now on, in fixed memory.
func (o *Optimizer) handOver(rule guarding, d tensor.Device) {
	if o.counts != nil && o.counts.Row(0).Device() != d {
		o.takeBack()
		o.counts = nil
	}
	if o.away {
		return
	}
	params := o.Params()
	steps := make([]float64, len(params))
	for i, p := range params {
		steps[i] = rule.known(o.records[p])
	}
	if o.counts == nil {
		o.counts = fused.NewStepCounts(string(d), steps)
	} else {
		o.counts.Set(steps)
	}
	o.away = true
}

// takeBack makes the records count all steps again, after which they may be changed. It
// synchronises if the device has counted.
func (o *Optimizer) takeBack() {
	if o.away {
		o.records, o.away = o.remembered(), false
	}
}

// remembered returns the records, including steps counted by the device, without those of
// parameters that have taken no step.
func (o *Optimizer) remembered() map[*tensor.Tensor]record {
	rule, ok := o.rule.(guarding)
	if !ok || !o.away {
		return o.records
	}
	steps, all := o.counts.Counts(), map[*tensor.Tensor]record{}
	for i, p := range o.Params() {
		if r := o.records[p]; r != nil && steps[i] > 0 {
			all[p] = maps.Clone(r)
			rule.setKnown(all[p], steps[i])
		}
	}
	return all
}
