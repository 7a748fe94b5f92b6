package optim

import (
	"strings"

	"halfnote/tensor"
)

// stepCounted takes a step that the device counts, if the step is part of a graph and
// depends on its number, and reports whether it did. The CPU does not see replays.
func (o *Optimizer) stepCounted() bool {
	o.captured = o.captured || capture.Capturing()
	rule, ok := o.rule.(guarding)
	if !ok || !o.captured || !o.away && rule.betas(o.groups[0]) == [2]float64{} {
		return false
	}
	for _, p := range o.Params() {
		if gradients.Peek(p) == nil {
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

// remember creates p's record if there is none.
func (o *Optimizer) remember(p *tensor.Tensor) {
	if o.records[p] == nil {
		capture.NotInGraph(strings.ToLower(o.name), "a captured step is a parameter's first, so each replay would reset its optimizer state; take a step before the capture")
		o.records[p] = record{}
	}
}

// keepsSettings makes replays of a graph being captured panic if the settings have changed
// since the capture.
func (o *Optimizer) keepsSettings() {
	if !capture.Capturing() {
		return
	}
	groups, replaced := o.Groups(), o.replaced
	var was [][len(kept)]float64
	for _, g := range groups {
		was = append(was, g.numbers())
	}
	capture.OnReplay(func() {
		if o.replaced != replaced {
			o.fail("groups, parameters or the state dict changed after the graph was captured; capture it again")
		}
		for i, g := range groups {
			for k, now := range g.numbers() {
				if now != was[i][k] {
					o.fail("%s was %v in group %d when the graph was captured and is now %v; capture it again", kept[k], was[i][k], i, now)
				}
			}
		}
	})
}

// kept lists the names of the settings that a graph records, in the order of numbers.
var kept = [...]string{"lr", "momentum", "dampening", "weight_decay", "beta1", "beta2", "eps", "alpha", "rho"}

func (g *Group) numbers() [len(kept)]float64 {
	return [...]float64{g.LR, g.Momentum, g.Dampening, g.WeightDecay, g.Beta1, g.Beta2, g.Eps, g.Alpha, g.Rho}
}
