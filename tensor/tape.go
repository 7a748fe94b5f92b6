package tensor

import (
	"fmt"
	"slices"
)

// vertex is a tensor's place on the tape. Its operands' vertices are older, so the creation
// numbers are a topological order.
type vertex struct {
	seq      uint64
	op       Op // nil for leaves
	in       []*Tensor
	out      *Tensor
	versions []int64  // versions of the tensors when they were recorded
	room     [3]int64 // storage for versions
	of       string
	module   string
	source   string
	freed    bool

	leaf   *Tensor // leaf that accumulates the gradient
	retain *Tensor // tensor whose gradient is retained
	hooks  hooks
}

func newVertex(op Op, in []*Tensor, y *Tensor, s state) *vertex {
	info := op.Info()
	v := &vertex{seq: ids.Add(1), op: op, of: info.Name, module: s.module, source: s.source}
	reads := info.Saved
	v.in = make([]*Tensor, len(in))
	for i, t := range in {
		v.in[i] = kept(t, reads == SavesAll || reads == SavesOperands || reads == SavesIndices && !t.dtype.IsFloat())
	}
	y.v = v
	v.out = kept(y, reads == SavesAll || reads == SavesResult)
	v.versions = v.room[:0]
	for t := range v.values {
		v.versions = append(v.versions, t.mem.version.Load())
	}
	return v
}

// kept returns t, or a copy of t without its values.
func kept(t *Tensor, values bool) *Tensor {
	if values {
		t.share()
		return t
	}
	if t.v != nil && t.v.out != nil && t.v.out.mem == nil && t.v.out.id == t.id {
		return t.v.out
	}
	return &Tensor{dtype: t.dtype, shape: t.shape, v: t.v, id: t.id}
}

// values returns the tensors whose values v keeps, operands first.
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

// unchanged panics if a tensor that the derivative needs has been changed in place since it was
// recorded.
func (v *vertex) unchanged(op string) {
	i := 0
	for t := range v.values {
		now := t.mem.version.Load()
		if now != v.versions[i] {
			what := "the result"
			if j := slices.Index(v.in, t); j >= 0 {
				what = fmt.Sprintf("operand %d", j)
			}
			fail(op, []*Tensor{t}, "%s of %s has been changed in place, but the derivative needs its old values: version is %d, want %d; change it after Backward, or change a Clone", what, v.of, now, v.versions[i])
		}
		i++
	}
}

// free releases the data that only a derivative needs.
func (v *vertex) free() { v.in, v.out, v.versions, v.freed = nil, nil, nil, true }

// RequireGrad makes t a leaf that accumulates a gradient, and returns t. It panics if t is the
// recorded result of an operation.
func (t *Tensor) RequireGrad() *Tensor {
	t.given("require_grad")
	switch {
	case !t.dtype.IsFloat():
		fail("require_grad", []*Tensor{t}, "the dtype is %v; only floating-point tensors have gradients", t.dtype)
	case t.v == nil:
		t.v = &vertex{seq: ids.Add(1), leaf: t}
	case t.v.leaf == nil:
		fail("require_grad", []*Tensor{t}, "the tensor is the result of %s and already requires a gradient; call Detach first to make it a leaf", t.v.of)
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

// RetainGrad makes Backward store t's gradient even though t is not a leaf, and returns t.
func (t *Tensor) RetainGrad() *Tensor {
	t.given("retain_grad")
	if t.v == nil {
		fail("retain_grad", []*Tensor{t}, "the tensor does not require a gradient; want one that depends on a leaf with RequireGrad")
	}
	if t.v.leaf == nil {
		t.v.retain = t
	}
	return t
}

// Grad returns the gradient that Backward has accumulated, or nil.
func (t *Tensor) Grad() *Tensor {
	t.given("grad")
	return asShared(t.grad)
}

// SetGrad replaces the gradient; nil removes it. A gradient has the tensor's shape, dtype and device. It is assignment to
// torch.Tensor.grad.
func (t *Tensor) SetGrad(g *Tensor) {
	t.given("set_grad")
	switch {
	case g == nil:
	case !slices.Equal(g.shape, t.shape):
		fail("set_grad", []*Tensor{t, g}, "the gradient must have the tensor's shape")
	case g.dtype != t.dtype:
		failDType("set_grad", []*Tensor{t, g}, "the gradient is %v; want the tensor's dtype, %v: convert it with To", g.dtype, t.dtype)
	case g.Device() != t.Device():
		fail("set_grad", []*Tensor{t, g}, "the gradient is on %v; want the tensor's device, %v: copy it with ToDevice", g.Device(), t.Device())
	}
	t.replaceGrad(asShared(g))
}

// ZeroGrad sets the gradient to nil, and releases its memory unless Grad has returned it. It is torch's zero_grad, which sets it to None.
func (t *Tensor) ZeroGrad() {
	t.given("zero_grad")
	t.replaceGrad(nil)
}

// NoGrad runs body without recording operations. It is torch.no_grad.
func NoGrad(body func()) {
	s := current()
	s.nograd, s.strict = true, false
	s.do(body)
}

// EnableGrad runs body with recording on, even inside NoGrad. It is torch.enable_grad.
func EnableGrad(body func()) {
	s := current()
	s.nograd = false
	s.do(body)
}

// IsGradEnabled reports whether this goroutine's operations are recorded.
func IsGradEnabled() bool { return !current().nograd }
