package optim

import (
	"strings"

	"halfnote/tensor"
)

// stepCounted takes a step that the device counts, if it is part of a graph, whose replays
// the CPU does not see, and reports whether it did: of an optimizer whose steps depend on
// their number.
func (o *Optimizer) stepCounted() bool {
	o.captured = o.captured || tensor.Capturing()
	rule, ok := o.rule.(guarding)
	if !ok || !o.captured || !o.away && rule.betas(o.groups[0]) == [2]float64{} {
		return false
	}
	for _, p := range o.Params() {
		if p.Grad() == nil {
			continue
		}
		var none *tensor.Tensor
		tensor.OnDevice(p.Device(), func() { none = tensor.Zeros(1) })
		if !o.guarded(rule, none) {
			return false
		}
		o.stepGuarded(rule, none)
		return true
	}
	return false
}

// remember makes a record of p's steps, if there is none.
func (o *Optimizer) remember(p *tensor.Tensor) {
	if o.records[p] == nil {
		tensor.NotInGraph(strings.ToLower(o.name), "a parameter takes its first step, and each replay would begin anew with what the optimizer remembers of it; expected a step before the capture")
		o.records[p] = record{}
	}
}

// keepsSettings has replays of a graph that is being captured panic when settings are others
// than now, which the graph has.
func (o *Optimizer) keepsSettings() {
	if !tensor.Capturing() {
		return
	}
	groups, replaced := o.Groups(), o.replaced
	var was [][len(kept)]float64
	for _, g := range groups {
		was = append(was, g.numbers())
	}
	tensor.OnReplay(func() {
		if o.replaced != replaced {
			o.fail("a replay steps what there was when the graph was captured, and groups, parameters or a state dict have been given to the optimizer since; expected another capture")
		}
		for i, g := range groups {
			for k, now := range g.numbers() {
				if now != was[i][k] {
					o.fail("a replay has %s %v of group %d, as when the graph was captured, and it has been set to %v since; expected another capture", kept[k], was[i][k], i, now)
				}
			}
		}
	})
}

// kept are the settings that a graph has, in the order of numbers.
var kept = [...]string{"lr", "momentum", "dampening", "weight_decay", "beta1", "beta2", "eps", "alpha", "rho"}

func (g *Group) numbers() [len(kept)]float64 {
	return [...]float64{g.LR, g.Momentum, g.Dampening, g.WeightDecay, g.Beta1, g.Beta2, g.Eps, g.Alpha, g.Rho}
}
