package nn

import (
	"slices"

	"halfnote/tensor"
)

// Hooked is a module with functions that are called when it runs: put it in the place
// of the module, whose names of parameters stay.
//
//	h := nn.Hook(net.Modules[2])
//	net.Modules[2] = h
//	remove := h.OnForward(func(m nn.Module, x, y *tensor.Tensor) *tensor.Tensor {
//		fmt.Println(m, y.Stats())
//		return nil
//	})
//
// Unlike torch's, hooks do not see a module that is called by another way than its
// Hooked.
type Hooked struct {
	Module
	pre      []*func(m Module, x *tensor.Tensor) *tensor.Tensor
	post     []*func(m Module, x, y *tensor.Tensor) *tensor.Tensor
	backward []*func(m Module, dx, dy *tensor.Tensor) *tensor.Tensor
}

// Hook returns m with room for hooks. It panics if m is nil.
func Hook(m Module) *Hooked {
	if m == nil {
		panic(&tensor.Error{Op: "hook", Why: "the module is nil; expected one"})
	}
	return &Hooked{Module: m}
}

// OnForwardPre has f called with the operand before the module runs; what f returns
// replaces it, unless it is nil. It returns a function that takes the hook away. It is
// torch.nn.Module.register_forward_pre_hook.
func (h *Hooked) OnForwardPre(f func(m Module, x *tensor.Tensor) *tensor.Tensor) (remove func()) {
	h.pre = append(h.pre, &f)
	return func() { h.pre = without(h.pre, &f) }
}

// OnForward has f called with operand and result after the module has run; what f
// returns replaces the result, unless it is nil. It returns a function that takes the
// hook away. It is torch.nn.Module.register_forward_hook.
func (h *Hooked) OnForward(f func(m Module, x, y *tensor.Tensor) *tensor.Tensor) (remove func()) {
	h.post = append(h.post, &f)
	return func() { h.post = without(h.post, &f) }
}

// OnBackward has f called with the gradients dx of the operand and dy of the result,
// once both are known; what f returns replaces dx, unless it is nil. dx is nil, and f
// is called before the module's derivative runs, if the operand requires no gradient.
// It returns a function that takes the hook away. It is
// torch.nn.Module.register_full_backward_hook.
func (h *Hooked) OnBackward(f func(m Module, dx, dy *tensor.Tensor) *tensor.Tensor) (remove func()) {
	h.backward = append(h.backward, &f)
	return func() { h.backward = without(h.backward, &f) }
}

// without returns list without p. The list that is being run through stays as it was.
func without[T comparable](list []T, p T) []T {
	return slices.DeleteFunc(slices.Clone(list), func(q T) bool { return q == p })
}

// Forward runs the module and its hooks.
func (h *Hooked) Forward(x *tensor.Tensor) *tensor.Tensor {
	m := h.Module
	for _, f := range h.pre {
		if z := (*f)(m, x); z != nil {
			x = z
		}
	}
	list := h.backward
	if len(list) == 0 || !tensor.IsGradEnabled() {
		return h.forwarded(x, m.Forward(x))
	}
	// Two tensors between which the module is: their gradients are its own.
	var dy *tensor.Tensor
	if x.RequiresGrad() {
		x = tensor.Apply(passing{}, x)
		x.RegisterHook(func(dx *tensor.Tensor) *tensor.Tensor {
			for _, f := range list {
				if z := (*f)(m, dx, dy); z != nil {
					dx = z
				}
			}
			return dx
		})
	}
	y := h.forwarded(x, m.Forward(x))
	if y.RequiresGrad() {
		y = tensor.Apply(passing{}, y)
		y.RegisterHook(func(g *tensor.Tensor) *tensor.Tensor {
			dy = g
			if !x.RequiresGrad() {
				for _, f := range list {
					(*f)(m, nil, dy)
				}
			}
			return nil
		})
	}
	return y
}

func (h *Hooked) forwarded(x, y *tensor.Tensor) *tensor.Tensor {
	for _, f := range h.post {
		if z := (*f)(h.Module, x, y); z != nil {
			y = z
		}
	}
	return y
}

// String returns the module's text.
func (h *Hooked) String() string { return describe(h.Module) }

// passing gives its operand another place on the tape.
type passing struct{}

func (passing) Info() tensor.Info {
	return tensor.Info{Name: "hook", Torch: "torch.nn.modules._functions.BackwardHook", Reads: tensor.ReadsNothing}
}
func (passing) Forward(in []*tensor.Tensor) *tensor.Tensor { return in[0] }
func (passing) VJP(dy, _ *tensor.Tensor, _ []*tensor.Tensor) []*tensor.Tensor {
	return []*tensor.Tensor{dy}
}
