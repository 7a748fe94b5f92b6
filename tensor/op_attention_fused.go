package tensor

import (
	"cmp"
	"slices"
	"sync/atomic"

	"halfnote/tensor/driver"
)

// A backend with fused attention kernels does not store the scores.

// rowSums holds what the forward kernel saves for the gradient kernel. An operation keeps
// the rowSums of its first result.
type rowSums struct {
	of   *storage // result's storage
	sums *Tensor
	bits *Tensor // dropout mask, or nil
}

type keptSums = atomic.Pointer[rowSums]

// left returns the rowSums of y, or nil if there are none.
func (a attention) left(y *Tensor) *rowSums {
	if a.kept == nil {
		return nil
	}
	if s := a.kept.Load(); s != nil && s.of == y.mem {
		return s
	}
	return nil
}

// fused reports whether the backend has kernels for the operands in.
func (a attention) fused(in []*Tensor) bool {
	q, k, v := in[0], in[1], in[2]
	if a.first != 0 || max(q.shape[len(q.shape)-1], v.shape[len(v.shape)-1]) > driver.MaxHead || min(q.Numel(), k.Numel(), v.Numel()) == 0 ||
		a.shared && k.shape[len(k.shape)-3] != v.shape[len(v.shape)-3] {
		return false
	}
	var room [6]DType
	dtypes := append(room[:0], Float32)
	for _, t := range in {
		dtypes = append(dtypes, t.dtype)
	}
	if a.drawn != nil {
		dtypes = append(dtypes, Int32)
	}
	return q.mem.backend.Offers(driver.Attention, q.dtype, dtypes...)
}

// kernel returns the parameters of the backend's kernel.
func (a attention) kernel(c driver.Code) driver.Kernel {
	p := driver.AttentionParams{Scale: a.scale, Causal: a.causal, Masked: a.masked, Dropout: a.drawn != nil}
	if a.dropout < 1 {
		p.Kept = 1 / (1 - a.dropout)
	}
	return driver.Kernel{Code: c, Params: p}
}

// lead returns the sizes of a result before the last two.
func (a attention) lead(in []*Tensor) (lead []int) {
	for i, t := range in[:3] {
		shape := slices.Clone(t.shape[:len(t.shape)-2])
		if i > 0 && a.shared {
			shape[len(shape)-1] = in[0].shape[len(in[0].shape)-3]
		}
		lead, _ = broadcastShapes(lead, shape)
	}
	return lead
}

// scores returns the shape of the softmax's input.
func (a attention) scores(in []*Tensor) []int {
	q, k := in[0].shape, in[1].shape
	return slices.Concat(a.lead(in), []int{q[len(q)-2], k[len(k)-2]})
}

// grouped returns lead with shared heads split into groups and heads per group.
func (a attention) grouped(in []*Tensor, lead []int) []int {
	if !a.shared {
		return lead
	}
	last, groups := len(lead)-1, in[1].shape[len(in[1].shape)-3]
	return append(slices.Clone(lead[:last]), groups, lead[last]/groups)
}

// matrices returns a view of t, which broadcasts to (lead…, rows, columns), with its heads in
// groups.
func (a attention) matrices(in []*Tensor, lead []int, t *Tensor, rows, columns int) *Tensor {
	shape := slices.Concat(lead, []int{rows, columns})
	stride := expandStride(t, shape)
	if a.shared {
		shape = slices.Concat(a.grouped(in, lead), []int{rows, columns})
		last := len(lead) - 1
		stride = slices.Insert(slices.Clone(stride), last, stride[last]*shape[last+1])
	}
	return t.alias(t.offset, shape, stride)
}

// operands returns the views that a kernel reads. bits comes last, if it is not nil.
func (a attention) operands(in []*Tensor, bits *Tensor) (list []*Tensor) {
	lead := a.lead(in)
	queries, keys := in[0].shape[len(in[0].shape)-2], in[1].shape[len(in[1].shape)-2]
	for i, t := range in {
		if i < 3 {
			t = rowsBeside(t)
		}
		n := len(t.shape)
		switch {
		case i == 0:
			t = a.matrices(in, lead, t, queries, t.shape[n-1])
		case i > 2:
			t = a.matrices(in, lead, t, queries, keys)
		case a.shared: // the heads of a group repeat
			shape := slices.Concat(a.grouped(in, lead), t.shape[n-2:])
			one := t.alias(t.offset, slices.Insert(slices.Clone(t.shape), n-2, 1), slices.Insert(slices.Clone(t.stride), n-2, 0))
			t = one.alias(one.offset, shape, expandStride(one, shape))
		default:
			t = a.matrices(in, lead, t, keys, t.shape[n-1])
		}
		list = append(list, t)
	}
	if bits != nil {
		list = append(list, a.matrices(in, lead, bits, queries, bits.shape[len(bits.shape)-1]))
	}
	return list
}

// rowsBeside returns t with the elements of each row contiguous.
func rowsBeside(t *Tensor) *Tensor {
	if n := len(t.shape); t.shape[n-1] > 1 && t.stride[n-1] != 1 {
		return duplicate(t)
	}
	return t
}

// atOnce returns the result of the backend's kernel. In memory the heads of a position are
// adjacent, which is the layout that joining them needs.
func (a attention) atOnce(in []*Tensor) *Tensor {
	var bits *Tensor
	lead, b := a.lead(in), in[0].mem.backend
	if a.drawn != nil {
		bits = a.drawn.bits(b, 1-a.dropout, a.scores(in))
	}
	rows, columns := in[0].shape[len(in[0].shape)-2], in[2].shape[len(in[2].shape)-1]
	shape := slices.Concat(lead, []int{rows, columns})
	order := seq(len(shape))
	if n := len(lead); n > 0 {
		order[n-1], order[n] = n, n-1
	}
	y := unsetTensor(b, in[0].dtype, shape)
	y.stride = strideInOrder(shape, order)
	sums := unsetTensor(b, Float32, slices.Concat(lead, []int{rows, 1}))
	run(a.kernel(driver.Attention), a.matrices(in, lead, y, rows, columns), append([]*Tensor{a.matrices(in, lead, sums, rows, 1)}, a.operands(in, bits)...)...)
	if a.kept != nil {
		a.kept.CompareAndSwap(nil, &rowSums{y.mem, sums, bits})
	}
	return y
}

// strideInOrder returns the strides of a contiguous shape whose axes lie in memory in the
// given order, the last one fastest.
func strideInOrder(shape, order []int) []int {
	stride, n := make([]int, len(shape)), 1
	for _, axis := range slices.Backward(order) {
		stride[axis] = n
		n *= max(shape[axis], 1)
	}
	return stride
}

// attentionGrad is the gradients of queries, keys and values in one vector (see parts); where
// these broadcast it holds the gradient of each use. Its operands are dy, y, and those of the
// attention.
type attentionGrad struct {
	attention
	orders [3][]int // order in memory of the axes of each gradient
}

func (attentionGrad) Info() Info {
	return info("scaled_dot_product_attention_backward", "torch.ops.aten._scaled_dot_product_flash_attention_backward", NoDerivative)
}

func (g attentionGrad) products(in []*Tensor, _ *Tensor) int {
	q, v := in[2].shape, in[4].shape
	return size(g.scores(in[2:])) * (3*q[len(q)-1] + 2*v[len(v)-1])
}

func (g attentionGrad) Forward(in []*Tensor) *Tensor {
	dy, y, in := in[0], in[1], in[2:]
	left := g.left(y)
	all, parts := g.parts(in, nil)
	if left == nil || !g.fused(in) {
		g.written(dy, in, parts)
		return all
	}
	lead := g.lead(in)
	n := len(y.shape)
	rows, columns := y.shape[n-2], y.shape[n-1]
	for i, t := range parts {
		if i == 0 || !g.shared {
			parts[i] = g.matrices(in, lead, t, t.shape[n-2], t.shape[n-1])
		}
	}
	src := []*Tensor{parts[1], parts[2]}
	for _, t := range []*Tensor{dy, y} {
		src = append(src, g.matrices(in, lead, rowsBeside(t), rows, columns))
	}
	src = append(src, g.matrices(in, lead, left.sums, rows, 1))
	run(g.kernel(driver.AttentionGrad), parts[0], append(src, g.operands(in, left.bits)...)...)
	return all
}

// written computes the gradients by other operations, for results that no kernel computed.
func (g attentionGrad) written(dy *Tensor, in []*Tensor, parts [3]*Tensor) {
	s := current()
	s.caster, s.nograd, s.hidden = nil, true, true
	s.do(func() {
		x := g.operands(in, nil)
		for i := range 3 {
			x[i] = duplicate(x[i]).RequireGrad()
		}
		a := g.attention
		a.shared = false
		dy = g.matrices(in, g.lead(in), dy, dy.shape[len(dy.shape)-2], dy.shape[len(dy.shape)-1])
		for i, d := range a.composed(dy, x)[:3] {
			run(driver.Kernel{Code: driver.Copy}, parts[i], shaped(compact(d), parts[i].shape))
		}
	})
}

func (attentionGrad) VJP(_, _ *Tensor, in []*Tensor) []*Tensor { return make([]*Tensor, len(in)) }

// gradients returns the gradients of the operands in, computed by kernels.
func (a attention) gradients(dy, y *Tensor, in []*Tensor) []*Tensor {
	g := attentionGrad{attention: a}
	for i, t := range in[:3] { // in the operands' layouts
		n := len(t.shape)
		g.orders[i] = seq(n)
		slices.SortStableFunc(g.orders[i][:n-1], func(x, y int) int { return cmp.Compare(t.stride[y], t.stride[x]) })
	}
	all := apply(g, slices.Concat([]*Tensor{dy.To(y.dtype), y}, in)...)
	_, parts := g.parts(in, all)
	out := make([]*Tensor, len(in))
	for i, part := range parts {
		if i > 0 && a.shared {
			part = part.Sum(len(part.shape) - 3)
		}
		out[i] = part.sumTo(in[i])
	}
	return out
}

// parts returns the gradients of queries, keys and values as views of all, or of a new vector
// if all is nil. Gradients of broadcast operands stay float32, because they are summed next.
func (g attentionGrad) parts(in []*Tensor, all *Tensor) (_ *Tensor, parts [3]*Tensor) {
	lead := g.lead(in)
	d, offset := in[0].dtype, 0
	for i, t := range in[:3] {
		tail := t.shape[len(t.shape)-2:]
		shape := slices.Concat(lead, tail)
		if i > 0 && g.shared {
			shape = slices.Concat(g.grouped(in, lead), tail)
		}
		order := g.orders[i]
		if !slices.Equal(shape, t.shape) {
			order, d = seq(len(shape)), wideOf(d)
		}
		parts[i] = &Tensor{offset: offset, shape: shape, stride: strideInOrder(shape, order)}
		offset += size(shape)
	}
	if all == nil {
		all = unsetTensor(in[0].mem.backend, d, []int{offset})
	}
	for i, p := range parts {
		parts[i] = all.alias(p.offset, p.shape, p.stride)
	}
	return all, parts
}
