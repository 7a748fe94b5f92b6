package tensor

import (
	"fmt"
	"slices"
)

// vertex is a tensor's place on the tape. Its operands' vertices are older, so
// numbers in the order of making are a topological order.
type vertex struct {
	seq      uint64
	op       Op // nil for leaves
	in       []*Tensor
	out      *Tensor
	versions []int64  // of values when it was recorded
	room     [3]int64 // for versions
	of       string
	module   string
	source   string
	freed    bool

	leaf   *Tensor // collects a gradient
	retain *Tensor // wants to see its gradient
	hooks  hooks
}

func newVertex(op Op, in []*Tensor, y *Tensor, s state) *vertex {
	info := op.Info()
	v := &vertex{seq: ids.Add(1), op: op, of: info.Name, module: s.module, source: s.source}
	reads := info.Reads
	v.in = make([]*Tensor, len(in))
	for i, t := range in {
		v.in[i] = kept(t, reads == ReadsAll || reads == ReadsOperands || reads == ReadsIndices && !t.dtype.IsFloat())
	}
	y.v = v
	v.out = kept(y, reads == ReadsAll || reads == ReadsResult)
	v.versions = v.room[:0]
	for t := range v.values {
		v.versions = append(v.versions, t.mem.version.Load())
	}
	return v
}

// kept returns t, or what is left of it without its values.
func kept(t *Tensor, values bool) *Tensor {
	if values {
		return t
	}
	if t.v != nil && t.v.out != nil && t.v.out.mem == nil && t.v.out.id == t.id {
		return t.v.out
	}
	return &Tensor{dtype: t.dtype, shape: t.shape, v: t.v, id: t.id}
}

// values are the tensors whose values v holds, the operands first.
func (v *vertex) values(yield func(t *Tensor) bool) {
	for _, t := range v.in {
		if t.mem != nil && !yield(t) {
			return
		}
	}
	if v.out.mem != nil {
		yield(v.out)
	}
}

// unchanged panics if a tensor that the derivative needs has been changed in place
// since it was recorded.
func (v *vertex) unchanged(op string) {
	i := 0
	for t := range v.values {
		now := t.mem.version.Load()
		if now != v.versions[i] {
			what := "the result"
			if j := slices.Index(v.in, t); j >= 0 {
				what = fmt.Sprintf("operand %d", j)
			}
			fail(op, []*Tensor{t}, "it is %s of %s, whose derivative needs its values, and has been changed in place since: version %d, expected %d; change it after Backward, or a Clone of it", what, v.of, now, v.versions[i])
		}
		i++
	}
}

// free lets go of what only a derivative needs.
func (v *vertex) free() { v.in, v.out, v.versions, v.freed = nil, nil, nil, true }

// RequireGrad makes t a leaf that collects a gradient, and returns it. It panics
// if t is a result that has a history already.
func (t *Tensor) RequireGrad() *Tensor {
	t.given("require_grad")
	switch {
	case !t.dtype.IsFloat():
		fail("require_grad", []*Tensor{t}, "it is %v; expected a floating-point dtype, which alone has gradients", t.dtype)
	case t.v == nil:
		t.v = &vertex{seq: ids.Add(1), leaf: t}
	case t.v.leaf == nil:
		fail("require_grad", []*Tensor{t}, "it is the result of %s and requires a gradient already; expected a leaf: call Detach first", t.v.of)
	}
	return t
}

// RequiresGrad reports whether t is a leaf with a gradient or depends on one.
func (t *Tensor) RequiresGrad() bool {
	t.given("requires_grad")
	return t.v != nil
}

// IsLeaf reports whether t is not the recorded result of an operation.
func (t *Tensor) IsLeaf() bool {
	t.given("is_leaf")
	return t.v == nil || t.v.leaf != nil
}

// Detach returns t without its history. They share memory.
func (t *Tensor) Detach() *Tensor {
	t.given("detach")
	return t.alias(t.offset, t.shape, t.stride)
}

// RetainGrad makes Backward set t's gradient though t is no leaf, and returns t.
func (t *Tensor) RetainGrad() *Tensor {
	t.given("retain_grad")
	if t.v == nil {
		fail("retain_grad", []*Tensor{t}, "it does not require a gradient; expected one that depends on a leaf that does")
	}
	if t.v.leaf == nil {
		t.v.retain = t
	}
	return t
}

// Grad returns the gradient that Backward has collected, or nil.
func (t *Tensor) Grad() *Tensor {
	t.given("grad")
	return t.grad
}

// SetGrad replaces the gradient; nil drops it.
func (t *Tensor) SetGrad(g *Tensor) {
	t.given("set_grad")
	if g != nil && !slices.Equal(g.shape, t.shape) {
		fail("set_grad", []*Tensor{t, g}, "a gradient has its tensor's shape")
	}
	t.grad = g
}

// ZeroGrad drops the gradient. It is torch's zero_grad, which sets it to None.
func (t *Tensor) ZeroGrad() {
	t.given("zero_grad")
	t.grad = nil
}

// NoGrad runs body without recording operations. It is torch.no_grad.
func NoGrad(body func()) {
	s := current()
	s.nograd, s.strict = true, false
	s.do(body)
}

// EnableGrad runs body with recording on, inside NoGrad too. It is
// torch.enable_grad.
func EnableGrad(body func()) {
	s := current()
	s.nograd = false
	s.do(body)
}

// IsGradEnabled reports whether operations of this goroutine are recorded.
func IsGradEnabled() bool { return !current().nograd }
