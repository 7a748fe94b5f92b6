package tensor

import "slices"

// hooks are what is called with the gradients of a tensor.
type hooks struct {
	grad        []*func(g *Tensor) *Tensor
	accumulated []*func(t *Tensor)
}

// RegisterHook has f called with t's gradient, once it is complete and before it goes
// on to what t was made of, or into t's Grad if it is a leaf. What f returns replaces
// the gradient, unless it is nil. It returns a function that takes the hook away, and
// panics if t does not require a gradient. It is torch.Tensor.register_hook.
func (t *Tensor) RegisterHook(f func(g *Tensor) *Tensor) (remove func()) {
	t.given("register_hook")
	if t.v == nil {
		fail("register_hook", []*Tensor{t}, "it does not require a gradient; expected one that is a leaf that does, or depends on one")
	}
	list, p := &t.v.hooks.grad, &f
	*list = append(*list, p)
	return func() {
		*list = slices.DeleteFunc(slices.Clone(*list), func(q *func(*Tensor) *Tensor) bool { return q == p })
	}
}

// RegisterPostAccumulateGradHook has f called with the leaf t after Backward has added
// to its gradient. It returns a function that takes the hook away, and panics if t is
// no leaf that requires a gradient. It is
// torch.Tensor.register_post_accumulate_grad_hook.
func (t *Tensor) RegisterPostAccumulateGradHook(f func(t *Tensor)) (remove func()) {
	t.given("register_post_accumulate_grad_hook")
	if t.v == nil || t.v.leaf == nil {
		fail("register_post_accumulate_grad_hook", []*Tensor{t}, "it is no leaf that requires a gradient; expected one")
	}
	list, p := &t.v.hooks.accumulated, &f
	*list = append(*list, p)
	return func() { *list = slices.DeleteFunc(slices.Clone(*list), func(q *func(*Tensor)) bool { return q == p }) }
}

// through returns the gradient dy after v's hooks.
func (h *hooks) through(dy *Tensor) *Tensor {
	for _, f := range h.grad {
		g := (*f)(dy)
		if g == nil {
			continue
		}
		if !slices.Equal(g.shape, dy.shape) {
			fail("hook", []*Tensor{g, dy}, "a hook returned a gradient of the first shape for one of the second")
		}
		dy = g.To(dy.dtype)
	}
	return dy
}
