package amp

import (
	"fmt"
	"strings"

	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// PrecisionModule is a module with its own [Precision]. Its parameters keep their names.
type PrecisionModule struct {
	nn.Module
	precision Precision
}

// WithPrecision returns m as a module that casts its input and its parameters to p.Compute,
// computes, and casts its result to p.Output, all differentiably. The parameters are converted
// to p.Param at once and stay leaves. Buffers, such as running statistics, keep their dtype. A
// module inside m with its own precision keeps it. Autocast has no effect inside m. It
// corresponds to Haiku's use of jmp.Policy, and to the dtype policy of a Keras layer:
//
//	net := nn.NewSequential(
//		amp.WithPrecision(body, amp.MixedFloat16),
//		amp.WithPrecision(head, amp.ParsePrecision("float32")),
//	)
func WithPrecision(m nn.Module, p Precision) *PrecisionModule {
	if m == nil {
		panic(&Error{Code: "model", Call: "WithPrecision", Why: "the module is nil", Cure: "pass a module"})
	}
	for _, d := range []tensor.DType{p.Param, p.Compute, p.Output} {
		if d == 0 || !d.IsFloat() || d.IsStorage() {
			panic(&Error{Code: "precision", Call: "WithPrecision", Why: fmt.Sprintf("%v is among the precision's dtypes", d), Cure: "want floating-point dtypes of at least 16 bits; amp.ParsePrecision returns such a precision"})
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

// own returns the parameters outside inner modules with their own precision.
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

// Forward casts the input and the parameters, runs the module, and casts the result.
func (m *PrecisionModule) Forward(x *tensor.Tensor) *tensor.Tensor {
	p := m.precision
	var y *tensor.Tensor
	casting.With(nil, func() {
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

// String returns the module and the precision as text.
func (m *PrecisionModule) String() string {
	return fmt.Sprintf("%s  # %v", nn.Print(m.Module), m.precision)
}
