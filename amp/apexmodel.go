package amp

import (
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// ApexModel is a module that [Initialize] has prepared. Its parameters have the names
// that they had.
type ApexModel struct {
	nn.Module

	in, out tensor.DType
	// under runs body as the level wants it. It is a function so that nobody takes the
	// casts that it keeps for parameters.
	under func(body func())
}

func (a *apex) model(m nn.Module) *ApexModel {
	l := a.level
	w := &ApexModel{Module: m, under: func(body func()) { body() }}
	if l.off {
		return w
	}
	w.in, w.out = l.modelType, l.outputType
	if w.out == 0 && (l.modelType != 0 || l.patch) && !l.asGiven {
		w.out = tensor.Float32
	}
	if l.patch {
		w.under = func(body func()) {
			c := newCaster(l.policy)
			c.cache = a.cache
			tensor.WithCaster(c, body)
		}
	}
	return w
}

// Forward runs the module as its level says: with x cast to the model's dtype, or under
// O1's lists. The result is float32 unless [OptLevel.CastModelOutputs] says otherwise.
func (m *ApexModel) Forward(x *tensor.Tensor) *tensor.Tensor {
	var y *tensor.Tensor
	m.under(func() { y = m.Module.Forward(castFloat(x, m.in)) })
	return castFloat(y, m.out)
}

// Autocast runs body under O1's lists, sharing the casts of weights with Forward, as for
// a loss of several operations that Apex would patch too. At other levels it only calls
// body.
func (m *ApexModel) Autocast(body func()) { m.under(body) }

// StateDict returns the tensors of the model by name, in float32 where they are of
// floating point, so that a checkpoint serves every level. [nn.StateDict] returns it too,
// and [nn.LoadStateDict] takes it.
func (m *ApexModel) StateDict() map[string]*tensor.Tensor {
	state := nn.StateDict(m.Module)
	tensor.NoGrad(func() {
		for name, t := range state {
			state[name] = castFloat(t, tensor.Float32)
		}
	})
	return state
}

// String returns the module's text.
func (m *ApexModel) String() string { return nn.Print(m.Module) }
