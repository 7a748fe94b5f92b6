package nn

import (
	"slices"

	"halfnote/tensor"
)

// Hooked is a module with hooks. Put it in the place of the module; the names of
// parameters stay the same.
//
//	h := nn.NewHooked(net.Modules[2])
//	net.Modules[2] = h
//	remove := h.OnForward(func(m nn.Module, x, y *tensor.Tensor) *tensor.Tensor {
//		fmt.Println(m, y.Stats())
//		return nil
//	})
//
// Unlike torch's, hooks run only when the module is called through its Hooked.
type Hooked struct {
	Module
	pre      []*func(m Module, x *tensor.Tensor) *tensor.Tensor
	post     []*func(m Module, x, y *tensor.Tensor) *tensor.Tensor
	backward []*func(m Module, dx, dy *tensor.Tensor) *tensor.Tensor
}

// NewHooked returns m with hooks. It panics if m is nil.
func NewHooked(m Module) *Hooked {
	if m == nil {
		panic(&tensor.Error{Op: "hook", Why: "module is nil; want a module"})
	}
	return &Hooked{Module: m}
}

// OnForwardPre calls f with the input before the module runs; a non-nil result of f
// replaces the input. It returns a function that removes the hook. It is
// torch.nn.Module.register_forward_pre_hook.
func (h *Hooked) OnForwardPre(f func(m Module, x *tensor.Tensor) *tensor.Tensor) (remove func()) {
	h.pre = append(h.pre, &f)
	return func() { h.pre = without(h.pre, &f) }
}

// OnForward calls f with the input and the output after the module has run; a non-nil
// result of f replaces the output. It returns a function that removes the hook. It is
// torch.nn.Module.register_forward_hook.
func (h *Hooked) OnForward(f func(m Module, x, y *tensor.Tensor) *tensor.Tensor) (remove func()) {
	h.post = append(h.post, &f)
	return func() { h.post = without(h.post, &f) }
}

// OnBackward calls f with the gradients dx of the input and dy of the output once both are
// known; a non-nil result of f replaces dx. If the input does not require a gradient, dx is nil and
// f is called before the module's derivative runs. OnBackward returns a function that
// removes the hook. It is torch.nn.Module.register_full_backward_hook.
func (h *Hooked) OnBackward(f func(m Module, dx, dy *tensor.Tensor) *tensor.Tensor) (remove func()) {
	h.backward = append(h.backward, &f)
	return func() { h.backward = without(h.backward, &f) }
}

// without returns list without p. It copies: a list being iterated does not change.
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
	// The module lies between two tensors whose gradients are its own.
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

// passing gives its input a new place on the tape.
type passing struct{}

func (passing) Info() tensor.Info {
	return tensor.Info{Name: "hook", Torch: "torch.nn.modules._functions.BackwardHook", Saved: tensor.SavesNothing}
}
func (passing) Forward(in []*tensor.Tensor) *tensor.Tensor { return in[0] }
func (passing) VJP(dy, _ *tensor.Tensor, _ []*tensor.Tensor) []*tensor.Tensor {
	return []*tensor.Tensor{dy}
}
