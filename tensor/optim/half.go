package optim

import (
	"halfnote/tensor"
	"halfnote/tensor/quant"
)

// Parameters of 16 bits lose updates below half a unit in their last place. With one of these options a step is computed in float32, with running means in
// float32, and what its rounding loses is kept in the mean or in a second number.

// StochasticRounding rounds the new values of parameters in bfloat16 or float16 stochastically, so that small updates are kept in the mean. The random
// numbers are those of tensor.DefaultGenerator. All optimizers but LBFGS take it; it does not go with KahanSum or Fused. It is bf16_stochastic_round of
// torchao's optimizers.
func StochasticRounding() Option {
	return Option{"bf16_stochastic_round", func(g *Group) { g.stochastic = true }}
}

// KahanSum keeps what rounding takes from the new values of parameters in bfloat16 or float16 and adds it to the next update: W. Kahan, "Further remarks on
// reducing truncation errors" (1965). All optimizers but LBFGS take it; it does not go with StochasticRounding or Fused. It is kahan_sum of the package
// optimi, but weight decay is compensated too: there it is lost where it is below half a unit in the last place.
func KahanSum() Option { return Option{"kahan_sum", func(g *Group) { g.kahan = true }} }

// compensation is the name of the record of what rounding has taken.
const compensation = "kahan_comp"

// isWide reports whether the group's steps on p are computed in float32 and rounded by one of the options.
func (g *Group) isWide(p *tensor.Tensor) bool {
	return (g.stochastic || g.kahan) && p.DType().Size() == 2
}

// stateDType returns the dtype of the record called name of p, which is in group g.
func (o *Optimizer) stateDType(name string, p *tensor.Tensor, g *Group) tensor.DType {
	if of, ok := o.rule.(typer); ok {
		if d, ok := of.stateDType(name); ok {
			return d
		}
	}
	if g.isWide(p) && name != compensation {
		return tensor.Float32
	}
	return p.DType()
}

// moveWide is move for a parameter of 16 bits and one of the options.
func (o *Optimizer) moveWide(p, g *tensor.Tensor, group *Group, r record) {
	capture.NotInGraph("optimizer", "a step in float32 of parameters of 16 bits allocates and draws random numbers, which replays do not repeat")
	outer := group.steps
	group.steps = fused.NewSteps()
	q := p.Float()
	o.rule.step(q, g.Float(), group, r)
	group.steps.Run()
	group.steps = outer
	if group.stochastic {
		p.Assign(quant.Round(q, p.DType(), quant.Stochastic(uint64(tensor.DefaultGenerator().Int63()))))
		return
	}
	c, old := r.tensor(compensation, p), p.Clone()
	c.Assign(c.Float().Add(q.Sub(p.Float())))
	p.AddAssign(c)
	c.AddAssign(old.Sub(p))
}
