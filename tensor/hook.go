package tensor

import "slices"

// hooks are the functions to call with the gradients of a tensor.
type hooks struct {
	grad        []*func(g *Tensor) *Tensor
	accumulated []*func(t *Tensor)
	ready       []*func(g *Tensor, after func(func()))
}

// RegisterHook calls f with t's gradient once it is complete, before it is propagated or, for a
// leaf, stored in Grad. A non-nil result of f replaces the gradient. RegisterHook returns a
// function that removes the hook. It panics if t does not require a gradient. It is
// torch.Tensor.register_hook.
func (t *Tensor) RegisterHook(f func(g *Tensor) *Tensor) (remove func()) {
	t.given("register_hook")
	if t.v == nil {
		fail("register_hook", []*Tensor{t}, "the tensor does not require a gradient; want a leaf with RequireGrad or a result that depends on one")
	}
	list, p := &t.v.hooks.grad, &f
	*list = append(*list, p)
	return func() {
		*list = slices.DeleteFunc(slices.Clone(*list), func(q *func(*Tensor) *Tensor) bool { return q == p })
	}
}

// RegisterPostAccumulateGradHook calls f with the leaf t after Backward has added to its
// gradient. It returns a function that removes the hook. It panics if t is not a leaf that
// requires a gradient. It is torch.Tensor.register_post_accumulate_grad_hook.
func (t *Tensor) RegisterPostAccumulateGradHook(f func(t *Tensor)) (remove func()) {
	t.given("register_post_accumulate_grad_hook")
	if t.v == nil || t.v.leaf == nil {
		fail("register_post_accumulate_grad_hook", []*Tensor{t}, "want a leaf with RequireGrad")
	}
	list, p := &t.v.hooks.accumulated, &f
	*list = append(*list, p)
	return func() { *list = slices.DeleteFunc(slices.Clone(*list), func(q *func(*Tensor)) bool { return q == p }) }
}

// OnReady calls f during Backward as soon as the gradient g of the leaf t is complete, before it is added to the leaf's Grad. f must not
// change g. Functions that f passes to after run at the end of Backward, when all gradients have been added. OnReady returns a
// function that removes the hook. torch's gradient accumulators run at the same time.
func (gradients) OnReady(t *Tensor, f func(g *Tensor, after func(func()))) (remove func()) {
	t.given("on_ready")
	if t.v == nil || t.v.leaf == nil {
		fail("on_ready", []*Tensor{t}, "want a leaf with RequireGrad")
	}
	list, p := &t.v.hooks.ready, &f
	*list = append(*list, p)
	return func() {
		*list = slices.DeleteFunc(slices.Clone(*list), func(q *func(*Tensor, func(func()))) bool { return q == p })
	}
}

// through returns the gradient dy after v's hooks.
func (h *hooks) through(dy *Tensor) *Tensor {
	for _, f := range h.grad {
		g := (*f)(dy)
		if g == nil {
			continue
		}
		if !slices.Equal(g.shape, dy.shape) {
			fail("hook", []*Tensor{g, dy}, "a hook returned a gradient of another shape; want the shape of the gradient it was given")
		}
		dy = g.To(dy.dtype)
	}
	return dy
}
