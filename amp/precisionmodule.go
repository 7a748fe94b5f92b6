package amp

import (
	"fmt"
	"strings"

	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// PrecisionModule is a module with a [Precision] of its own. Its parameters have the
// names that they had.
type PrecisionModule struct {
	nn.Module
	precision Precision
}

// WithPrecision returns m as a module that casts its input and its parameters to
// p.Compute, computes, and casts its result to p.Output, all differentiably; the
// parameters stay leaves, of p.Param, to which they are converted at once. Buffers, as
// running statistics, keep their dtype. A module inside that has a precision of its own
// follows that. Autocast has no effect inside. It is the way that Haiku uses jmp.Policy,
// and Keras' dtype policy of a layer:
//
//	net := nn.Sequential(
//		amp.WithPrecision(body, amp.MixedFloat16),
//		amp.WithPrecision(head, amp.ParsePrecision("float32")),
//	)
func WithPrecision(m nn.Module, p Precision) *PrecisionModule {
	if m == nil {
		panic(&Error{Code: "model", Call: "WithPrecision", Why: "the module is nil", Cure: "give one"})
	}
	for _, d := range []tensor.DType{p.Param, p.Compute, p.Output} {
		if d == 0 || !d.IsFloat() || d.IsStorage() {
			panic(&Error{Code: "precision", Call: "WithPrecision", Why: fmt.Sprintf("%v is among the precision's dtypes", d), Cure: "expected floating-point dtypes of 16 bits or more, as from amp.ParsePrecision"})
		}
	}
	w := &PrecisionModule{m, p}
	var params []*tensor.Tensor
	for _, n := range w.own() {
		params = append(params, n.Tensor)
	}
	nn.ToDType(params, p.Param)
	return w
}

// Precision returns what the module computes in.
func (m *PrecisionModule) Precision() Precision { return m.precision }

// own returns the parameters that are in no module inside with a precision of its own.
func (m *PrecisionModule) own() (own []nn.Named) {
	var others []string
	for _, in := range nn.NamedModules(m.Module) {
		if _, ok := in.Module.(*PrecisionModule); ok {
			others = append(others, in.Name+".")
		}
	}
params:
	for _, n := range nn.NamedParameters(m.Module) {
		for _, other := range others {
			if other == "." || strings.HasPrefix(n.Name, other) {
				continue params
			}
		}
		own = append(own, n)
	}
	return own
}

// Forward casts, runs the module and casts.
func (m *PrecisionModule) Forward(x *tensor.Tensor) *tensor.Tensor {
	p := m.precision
	var y *tensor.Tensor
	tensor.WithCaster(nil, func() {
		cast := map[string]*tensor.Tensor{}
		for _, n := range m.own() {
			if n.Tensor.DType() != p.Compute {
				cast[n.Name] = n.Tensor.To(p.Compute)
			}
		}
		nn.FunctionalCall(m.Module, cast, func() { y = m.Module.Forward(castFloat(x, p.Compute)) })
		y = castFloat(y, p.Output)
	})
	return y
}

// String returns the module's text and the precision.
func (m *PrecisionModule) String() string {
	return fmt.Sprintf("%s  # %v", nn.Print(m.Module), m.precision)
}
