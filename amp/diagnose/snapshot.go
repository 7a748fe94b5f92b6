package diagnose

import (
	"fmt"
	"maps"
	"slices"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// part is a part of a run's state: a function that saves it, and one that restores the saved state in
// place.
type part struct {
	save func(c *copier) any
	load func(saved any)
}

// parts returns the parts of a net and of the objects trained with it.
func parts(net any, others []any) []part {
	list := []part{generatorPart(tensor.DefaultGenerator()), netPart(net)}
	for i, other := range others {
		p, ok := partOf(other)
		if !ok {
			panic(&amp.Error{
				Code: "no_state", Call: "NewRewind", Why: fmt.Sprintf("argument %d after the net is a %T", i+1, other),
				Cure: "give optimizers, schedulers, scalers, generators, epochs of a loader, or other values with StateDict and LoadStateDict",
			})
		}
		list = append(list, p)
	}
	return list
}

func partOf(other any) (p part, ok bool) {
	switch o := other.(type) {
	case *tensor.Generator:
		return generatorPart(o), true
	case interface { // an optimizer
		StateDict() map[string]any
		LoadStateDict(map[string]any) error
	}:
		return part{
			save: func(c *copier) any { return c.dict(o.StateDict()) },
			load: func(saved any) { must(o.LoadStateDict(saved.(map[string]any))) },
		}, true
	case interface { // a scheduler
		StateDict() map[string]float64
		LoadStateDict(map[string]float64) error
	}:
		return part{
			save: func(*copier) any { return maps.Clone(o.StateDict()) },
			load: func(saved any) { must(o.LoadStateDict(saved.(map[string]float64))) },
		}, true
	case interface { // a scaler
		StateDict() map[string]float64
		LoadStateDict(map[string]float64)
	}:
		return part{
			save: func(*copier) any { return maps.Clone(o.StateDict()) },
			load: func(saved any) { o.LoadStateDict(saved.(map[string]float64)) },
		}, true
	case interface { // an epoch
		Position() int
		Seek(batch int)
	}:
		return part{save: func(*copier) any { return o.Position() }, load: func(saved any) { o.Seek(saved.(int)) }}, true
	}
	return part{}, false
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func generatorPart(g *tensor.Generator) part {
	return part{
		save: func(*copier) any { return g.State() },
		load: func(saved any) { g.SetState(saved.(*tensor.Tensor)) },
	}
}

// netState holds the tensors of a net, and their gradients.
type netState struct {
	values, grads map[*tensor.Tensor]*tensor.Tensor
}

func netPart(net any) part {
	all := func() []nn.Named { return slices.Concat(nn.NamedParameters(net), nn.NamedBuffers(net)) }
	return part{
		save: func(c *copier) any {
			s := netState{map[*tensor.Tensor]*tensor.Tensor{}, map[*tensor.Tensor]*tensor.Tensor{}}
			for _, n := range all() {
				s.values[n.Tensor] = c.copy(n.Tensor)
				if g := n.Tensor.Grad(); g != nil {
					s.grads[n.Tensor] = c.copy(g)
					c.gradient(g)
				}
			}
			return s
		},
		load: func(saved any) {
			s := saved.(netState)
			tensor.NoGrad(func() {
				for _, t := range slices.SortedFunc(maps.Keys(s.values), func(a, b *tensor.Tensor) int { return a.ID() - b.ID() }) { // one order in every run
					value := s.values[t]
					if t.DType() == value.DType() && t.Device() == value.Device() {
						t.Assign(value)
					} else { // converted since
						t.SetData(value.Clone())
					}
					t.SetGrad(nil)
					if g := s.grads[t]; g != nil {
						t.SetGrad(g.Clone())
					}
				}
			})
		},
	}
}

// copier copies tensors, except for those unchanged since the last copy.
type copier struct {
	before, now map[*tensor.Tensor]copied
}

type copied struct {
	version  int
	copy     *tensor.Tensor
	gradient bool
}

func (c *copier) copy(t *tensor.Tensor) *tensor.Tensor {
	old, ok := c.before[t]
	if !ok || old.version != t.Version() || old.copy.DType() != t.DType() {
		old = copied{version: t.Version()}
		tensor.NoGrad(func() { old.copy = t.Detach().Clone() })
	}
	c.now[t] = old
	return old.copy
}

// gradient records that the copied tensor t is a gradient, which may be non-finite.
func (c *copier) gradient(t *tensor.Tensor) {
	g := c.now[t]
	g.gradient = true
	c.now[t] = g
}

// dict copies the tensors of a state dict.
func (c *copier) dict(state map[string]any) map[string]any {
	out := maps.Clone(state)
	for _, name := range slices.Sorted(maps.Keys(state)) {
		if t, ok := state[name].(*tensor.Tensor); ok {
			out[name] = c.copy(t)
		}
	}
	return out
}

// snapshot is the state of a run before one of its steps.
type snapshot struct {
	step   int
	saved  []any // saved state of each part
	copies map[*tensor.Tensor]copied
}

// take takes a snapshot; before is the last one, or nil.
func take(parts []part, step int, before *snapshot) *snapshot {
	c := &copier{now: map[*tensor.Tensor]copied{}}
	if before != nil {
		c.before = before.copies
	}
	s := &snapshot{step: step, copies: c.now}
	for _, p := range parts {
		s.saved = append(s.saved, p.save(c))
	}
	return s
}

func (s *snapshot) restore(parts []part) {
	for i, p := range parts {
		p.load(s.saved[i])
	}
}

// finite reports whether all numbers of the snapshot, except for gradients, are finite.
func (s *snapshot) finite() bool {
	for _, c := range s.copies {
		if c.gradient || !c.copy.DType().IsFloat() {
			continue
		}
		if stats := c.copy.Stats(); stats.Infs+stats.NaNs > 0 {
			return false
		}
	}
	return true
}
