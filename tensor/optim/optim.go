// Package optim updates parameters from their gradients: torch.optim.
//
//	opt := optim.NewSGD(nn.Parameters(net), 0.1, optim.Momentum(0.9))
//	loss.Backward()
//	opt.Step()
//	opt.ZeroGrad()
//
// Groups of parameters may have their own settings:
//
//	opt := optim.NewAdamW(nn.Parameters(body), 1e-4)
//	opt.AddGroup(nn.Parameters(head), optim.LR(1e-3), optim.WeightDecay(0))
//
// A [Scheduler] changes learning rates at each step.
//
// An optimizer does arithmetic in the dtype of its parameters, so float16
// parameters round at every step; keep them float32 and let autocast cast, or use
// [StochasticRounding] or [KahanSum].
package optim

import (
	"fmt"
	"slices"
	"strings"

	"halfnote/internal/plumbing"
	"halfnote/internal/text"
	"halfnote/tensor"
)

// Optimizer updates parameters, in groups, from their gradients. It is not safe for
// use by several goroutines at once. It is torch.optim.Optimizer.
type Optimizer struct {
	name     string // torch's name, for example "AdamW"
	rule     rule
	takes    []string // settings that the rule reads, by torch's names
	defaults Group
	groups   []*Group
	records  map[*tensor.Tensor]record
	carried  float64                             // divisor of a fused step's gradients besides a scaler's; 0 means 1
	taken    int                                 // number of steps
	counts   plumbing.StepCounts[*tensor.Tensor] // counts of the parameters on their device; nil without a guarded step
	away     bool                                // the device counts steps; records are not up to date
	captured bool                                // a step is part of a graph
	replaced int                                 // number of replacements of parameters and records
}

// rule is the part that differs between optimizers. It updates the parameter p in place by
// its gradient g, which it does not change. Updates that it adds to the group's steps run
// after those of all parameters.
type rule interface {
	step(p, g *tensor.Tensor, o *Group, r record)
}

// shaper is a rule whose state differs from the parameter in shape.
type shaper interface {
	// stateShape returns the shape of the state called name of p.
	stateShape(name string, p *tensor.Tensor) []int
}

// typer is a rule whose state differs from the parameter in dtype.
type typer interface {
	// stateDType returns the dtype of the state with a name, if it is not the parameter's.
	stateDType(name string) (d tensor.DType, ok bool)
}

// checker is a rule that some parameters or settings do not suit.
type checker interface {
	// check returns what is wrong with a group.
	check(g *Group) error
}

// newOptimizer returns an optimizer with one group.
func newOptimizer(name string, r rule, takes string, params []*tensor.Tensor, defaults Group, options []Option) *Optimizer {
	o := &Optimizer{name: name, rule: r, takes: append(strings.Fields(takes), "lr", "bf16_stochastic_round", "kahan_sum"), records: map[*tensor.Tensor]record{}}
	o.defaults = o.configured(defaults, options)
	return o.AddGroup(params)
}

// AddGroup adds parameters with their own settings: the constructor's, changed by options.
// It returns o. It panics if there are no parameters, if one is not a leaf that requires a
// gradient or is already in a group, or if an option is out of range. It is
// torch.optim.Optimizer.add_param_group.
func (o *Optimizer) AddGroup(params []*tensor.Tensor, options ...Option) *Optimizer {
	if len(params) == 0 {
		o.fail("the list of parameters is empty; want at least one, for example from nn.Parameters(net)")
	}
	known := map[*tensor.Tensor]bool{}
	for _, p := range o.Params() {
		known[p] = true
	}
	for i, p := range params {
		switch {
		case p == nil || !p.IsLeaf() || !p.RequiresGrad():
			o.fail("parameter %d is not a leaf that requires a gradient", i)
		case known[p]:
			o.fail("parameter %d is given twice; want each once, in one group", i)
		}
		known[p] = true
	}
	g := o.configured(o.defaults, options)
	if g.fused != o.defaults.fused {
		o.fail("Fused cannot apply to one group; give it to the constructor, for all groups")
	}
	g.params = params
	if c, ok := o.rule.(checker); ok {
		if err := c.check(&g); err != nil {
			o.fail("%v", err)
		}
	}
	o.takeBack()
	o.counts = nil
	o.replaced++
	o.groups = append(o.groups, &g)
	return o
}

// fail panics with an error of the optimizer.
func (o *Optimizer) fail(format string, args ...any) {
	panic(&tensor.Error{Op: strings.ToLower(o.name), Why: fmt.Sprintf(format, args...)})
}

// Step updates the parameters that have a gradient, in place. In a captured graph the
// settings are those of the capture; a replay panics if they have changed since. It is
// torch.optim.Optimizer.step.
func (o *Optimizer) Step() {
	if o.stepCounted() {
		return
	}
	if o.carried == 0 {
		o.step(nil)
	} else {
		o.step(tensor.Scalar(o.carried))
	}
}

// step is Step with gradients that a fused optimizer divides by the scalar by; nil means 1.
func (o *Optimizer) step(by *tensor.Tensor) {
	calls.Note(plumbing.Call[*tensor.Tensor]{Name: "optimizer.step", By: o, Tensors: o.Params()})
	defer calls.Note(plumbing.Call[*tensor.Tensor]{Name: "optimizer.stepped", By: o})
	o.taken++
	o.keepsSettings()
	o.takeBack()
	tensor.NoGrad(func() {
		steps := fused.NewSteps()
		for _, group := range o.groups {
			group.steps = steps
			for _, p := range group.params {
				g := gradients.Peek(p)
				if g == nil {
					continue
				}
				o.remember(p)
				if o.Fused() {
					o.fused(p, g, by, group)
				} else {
					o.move(p, g.Detach(), group, o.records[p])
				}
			}
			group.steps = nil
		}
		steps.Run()
	})
}

// move updates p by its gradient g.
func (o *Optimizer) move(p, g *tensor.Tensor, group *Group, r record) {
	if group.Maximize {
		g = g.Neg()
	}
	if group.isWide(p) {
		o.moveWide(p, g, group, r)
		return
	}
	o.rule.step(p, g, group, r)
}

// StepWith calls closure, which computes the loss and its gradients, takes a step
// and returns the loss. It is torch.optim.Optimizer.step with a closure.
func (o *Optimizer) StepWith(closure func() *tensor.Tensor) *tensor.Tensor {
	var loss *tensor.Tensor
	tensor.EnableGrad(func() { loss = closure() })
	o.Step()
	return loss
}

// ZeroGrad drops the gradients of all parameters: Grad returns nil until the next Backward. It
// is torch.optim.Optimizer.zero_grad.
func (o *Optimizer) ZeroGrad() {
	calls.Note(plumbing.Call[*tensor.Tensor]{Name: "zero_grad", By: o, Tensors: o.Params()})
	for _, p := range o.Params() {
		p.ZeroGrad()
	}
}

// Params returns the parameters of all groups, including those without a gradient.
func (o *Optimizer) Params() []*tensor.Tensor {
	var all []*tensor.Tensor
	for _, g := range o.groups {
		all = append(all, g.params...)
	}
	return all
}

// ReplaceParams replaces each parameter p by with(p) in its group and converts its state to
// the new parameter's dtype and device: float32 masters replace float16 parameters in this
// way. with may return p itself. If it returns a tensor that is not a leaf that requires a
// gradient, or has another shape, ReplaceParams panics and changes nothing.
func (o *Optimizer) ReplaceParams(with func(p *tensor.Tensor) *tensor.Tensor) {
	old := o.Params()
	params := make([]*tensor.Tensor, len(old))
	for i, p := range old {
		q := with(p)
		if q == nil || !q.IsLeaf() || !q.RequiresGrad() || !slices.Equal(q.Shape(), p.Shape()) {
			o.fail("the replacement of parameter %d is %v; want a leaf of shape %s that requires a gradient", i, describe(q), text.Shape(p.Shape()))
		}
		params[i] = q
	}
	o.takeBack()
	o.counts = nil
	o.replaced++
	records := map[*tensor.Tensor]record{}
	tensor.NoGrad(func() {
		for i, p := range old {
			if r := o.records[p]; r != nil {
				records[params[i]] = r.like(params[i], func(name string) tensor.DType { return o.stateDType(name, params[i], o.groupOf(p)) })
			}
		}
	})
	o.records = records
	for _, g := range o.groups {
		n := len(g.params)
		g.params, params = params[:n:n], params[n:]
	}
}

func describe(t *tensor.Tensor) string {
	if t == nil {
		return "nil"
	}
	return fmt.Sprintf("a tensor of shape %s", text.Shape(t.Shape()))
}

// groupOf returns the group of p.
func (o *Optimizer) groupOf(p *tensor.Tensor) *Group {
	for _, g := range o.groups {
		if slices.Contains(g.params, p) {
			return g
		}
	}
	return nil
}

// Groups returns the groups, whose settings may be changed between steps.
func (o *Optimizer) Groups() []*Group { return append([]*Group(nil), o.groups...) }

// LR returns the learning rate of the first group.
func (o *Optimizer) LR() float64 { return o.groups[0].LR }

// SetLR sets the learning rate of all groups from the next Step on.
func (o *Optimizer) SetLR(lr float64) {
	for _, g := range o.groups {
		g.LR = lr
	}
}

// String returns the settings of all groups, as torch prints them.
func (o *Optimizer) String() string {
	var b strings.Builder
	b.WriteString(o.name + " (\n")
	for i, g := range o.groups {
		fmt.Fprintf(&b, "Parameter Group %d\n", i)
		for _, s := range o.settings() {
			fmt.Fprintf(&b, "    %s: %s\n", s.name, s.text(g))
		}
	}
	return b.String() + ")"
}

// record is the optimizer state of a parameter under torch's names: tensors, and numbers as
// float64.
type record map[string]any

// tensor returns the named tensor, initially zeros like p.
func (r record) tensor(name string, p *tensor.Tensor) *tensor.Tensor {
	t, ok := r[name].(*tensor.Tensor)
	if !ok {
		t = tensor.ZerosLike(p)
		r[name] = t
	}
	return t
}

// shaped is tensor with zeros of the given dtype and shape.
func (r record) shaped(name string, p *tensor.Tensor, d tensor.DType, shape []int) *tensor.Tensor {
	t, ok := r[name].(*tensor.Tensor)
	if !ok {
		t = tensor.ZerosAs(d, shape...).ToDevice(p.Device())
		r[name] = t
	}
	return t
}

// number returns the named number, or 0.
func (r record) number(name string) float64 {
	x, _ := r[name].(float64)
	return x
}

// count is counted for a step that depends on the count and so cannot be captured.
func (r record) count() float64 {
	capture.NotInGraph("optimizer", "a step depends on the step count, which replays do not advance; use Adam or AdamW without AMSGrad, or an optimizer that does not count, such as SGD")
	return r.counted()
}

// counted increments the step count and returns it.
func (r record) counted() float64 {
	r["step"] = r.number("step") + 1
	return r.number("step")
}

// like returns r with its tensors in the dtypes of states of p, and on its device.
func (r record) like(p *tensor.Tensor, dtype func(name string) tensor.DType) record {
	out := record{}
	for name, value := range r {
		if t, ok := value.(*tensor.Tensor); ok {
			value = t.To(dtype(name)).ToDevice(p.Device())
		}
		out[name] = value
	}
	return out
}
