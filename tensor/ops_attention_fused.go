package tensor

import (
	"cmp"
	"slices"
	"sync/atomic"

	"halfnote/tensor/driver"
)

// Where a backend has kernels for all of an attention, scores are not in memory.

// rowSums is what the kernel of a result leaves for that of its gradients. An operation
// keeps that of its first result.
type rowSums struct {
	of   *storage // the result's
	sums *Tensor
}

type keptSums = atomic.Pointer[rowSums]

// sumsOf returns what was left with y, nil if there is nothing.
func (a attention) sumsOf(y *Tensor) *Tensor {
	if a.kept == nil {
		return nil
	}
	if s := a.kept.Load(); s != nil && s.of == y.mem {
		return s.sums
	}
	return nil
}

// fused reports whether the backend has kernels for operands in.
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
	return q.mem.backend.Offers(driver.Attention, q.dtype, dtypes...)
}

// kernel returns what the backend runs.
func (a attention) kernel(c driver.Code) driver.Kernel {
	number := func(b bool) float64 {
		if b {
			return 1
		}
		return 0
	}
	k := driver.Kernel{Code: c, Alpha: a.scale, More: [5]float64{number(a.causal), number(a.masked), number(a.dropout > 0)}}
	if a.dropout < 1 {
		k.Beta = 1 / (1 - a.dropout)
	}
	return k
}

// lead returns the sizes before the last two of a result.
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

// grouped returns lead with the heads, if they are shared, as groups and heads of one.
func (a attention) grouped(in []*Tensor, lead []int) []int {
	if !a.shared {
		return lead
	}
	last, groups := len(lead)-1, in[1].shape[len(in[1].shape)-3]
	return append(slices.Clone(lead[:last]), groups, lead[last]/groups)
}

// matrices returns a view of t, which repeats to (lead…, rows, columns), with heads in
// groups.
func (a attention) matrices(in []*Tensor, lead []int, t *Tensor, rows, columns int) driver.View {
	v := t.view()
	v.Shape = slices.Concat(lead, []int{rows, columns})
	v.Stride = expandStride(t, v.Shape)
	if a.shared {
		v.Shape = slices.Concat(a.grouped(in, lead), []int{rows, columns})
		last := len(lead) - 1
		v.Stride = slices.Insert(slices.Clone(v.Stride), last, v.Stride[last]*v.Shape[last+1])
	}
	return v
}

// operands returns the views that a kernel reads.
func (a attention) operands(in []*Tensor) (views []driver.View) {
	lead := a.lead(in)
	queries, keys := in[0].shape[len(in[0].shape)-2], in[1].shape[len(in[1].shape)-2]
	for i, t := range in {
		if i > 2 {
			views = append(views, a.matrices(in, lead, t, queries, keys))
			continue
		}
		t = rowsBeside(t)
		n := len(t.shape)
		switch {
		case i == 0:
			views = append(views, a.matrices(in, lead, t, queries, t.shape[n-1]))
		case a.shared: // a group's heads repeat
			v := t.view()
			v.Shape = slices.Concat(a.grouped(in, lead), t.shape[n-2:])
			one := t.alias(t.offset, slices.Insert(slices.Clone(t.shape), n-2, 1), slices.Insert(slices.Clone(t.stride), n-2, 0))
			v.Stride = expandStride(one, v.Shape)
			views = append(views, v)
		default:
			views = append(views, a.matrices(in, lead, t, keys, t.shape[n-1]))
		}
	}
	return views
}

// rowsBeside returns t with the elements of rows beside each other.
func rowsBeside(t *Tensor) *Tensor {
	if n := len(t.shape); t.shape[n-1] > 1 && t.stride[n-1] != 1 {
		return duplicate(t)
	}
	return t
}

// atOnce returns the result by the backend's kernel. In memory a position's heads lie
// side by side, as those who join them want it.
func (a attention) atOnce(in []*Tensor) *Tensor {
	views, lead, b := a.operands(in), a.lead(in), in[0].mem.backend
	n := len(views[0].Shape)
	rows, columns := views[0].Shape[n-2], views[2].Shape[n-1]
	shape := slices.Concat(lead, []int{rows, columns})
	order := seq(len(shape))
	if len(lead) > 0 {
		order[len(lead)-1], order[len(lead)] = len(lead), len(lead)-1
	}
	y := unsetTensor(b, in[0].dtype, shape)
	y.stride = strideInOrder(shape, order)
	sums := unsetTensor(b, Float32, slices.Concat(lead, []int{rows, 1}))
	b.Run(a.kernel(driver.Attention), a.matrices(in, lead, y, rows, columns), append([]driver.View{a.matrices(in, lead, sums, rows, 1)}, views...)...)
	if a.kept != nil {
		a.kept.CompareAndSwap(nil, &rowSums{y.mem, sums})
	}
	return y
}

// strideInOrder returns strides of a shape without gaps whose axes lie in memory in that
// order, the last of which runs fastest.
func strideInOrder(shape, order []int) []int {
	stride, n := make([]int, len(shape)), 1
	for _, axis := range slices.Backward(order) {
		stride[axis] = n
		n *= max(shape[axis], 1)
	}
	return stride
}

// attentionGrad is the gradients of queries, keys and values in one vector: see parts. Its
// operands are dy, y, and those of the attention.
type attentionGrad struct{ attention }

func (attentionGrad) Info() Info {
	return Info{"scaled_dot_product_attention_backward", "torch.ops.aten._scaled_dot_product_flash_attention_backward", Keep, NoDerivative}
}

func (g attentionGrad) products(in []*Tensor, _ *Tensor) int {
	q, v := in[2], in[4]
	keys := v.shape[len(v.shape)-2]
	scores := size(g.lead(in[2:])) * q.shape[len(q.shape)-2] * keys
	return scores * (3*q.shape[len(q.shape)-1] + 2*v.shape[len(v.shape)-1])
}

func (g attentionGrad) Forward(in []*Tensor) *Tensor {
	dy, y, in := in[0], in[1], in[2:]
	sums := g.sumsOf(y)
	all, parts := g.parts(in, nil)
	if sums == nil || !g.fused(in) {
		return g.written(dy, in, all, parts)
	}
	views, lead, b := g.operands(in), g.lead(in), y.mem.backend
	n := len(views[0].Shape)
	rows, columns := views[0].Shape[n-2], views[2].Shape[n-1]
	var to [3]driver.View
	for i, t := range parts {
		to[i] = t.view()
		if i == 0 || !g.shared {
			to[i] = g.matrices(in, lead, t, views[i].Shape[n-2], views[i].Shape[n-1])
		}
	}
	src := append([]driver.View{to[1], to[2], g.matrices(in, lead, rowsBeside(dy), rows, columns), g.matrices(in, lead, rowsBeside(y), rows, columns), g.matrices(in, lead, sums, rows, 1)}, views...)
	b.Run(g.kernel(driver.AttentionGrad), to[0], src...)
	return all
}

// written is Forward in operations, of operands that no result has been computed of.
func (g attentionGrad) written(dy *Tensor, in []*Tensor, all *Tensor, parts [3]*Tensor) *Tensor {
	run(driver.Kernel{Code: driver.Fill}, all)
	s := current()
	s.caster, s.nograd, s.hidden = nil, true, true
	s.do(func() {
		x := make([]*Tensor, len(in))
		for i, t := range in {
			if x[i] = t.Detach(); i < 3 {
				x[i] = x[i].RequireGrad()
			}
		}
		for i, d := range g.composed(dy, x)[:3] {
			to := parts[i]
			if i > 0 && g.shared {
				to = to.Select(len(to.shape)-3, 0)
			}
			shift := len(to.shape) - len(d.shape)
			for axis, n := range to.shape { // one of what is to be added up
				if axis < shift || d.shape[axis-shift] != n {
					to = to.Slice(axis, 0, 1)
				}
			}
			run(driver.Kernel{Code: driver.Copy}, to, shaped(compact(d), to.shape))
		}
	})
	return all
}

func (attentionGrad) VJP(_, _ *Tensor, in []*Tensor) []*Tensor { return make([]*Tensor, len(in)) }

// parts returns the gradients of queries, keys and values, views of all, a new vector
// if it is nil. They lie in memory as the operands do. Where operands repeat they do
// not, and keep float32, for they are to be added up.
func (a attention) parts(in []*Tensor, all *Tensor) (_ *Tensor, parts [3]*Tensor) {
	lead := a.lead(in)
	d, offset := in[0].dtype, 0
	for i, t := range in[:3] {
		tail := t.shape[len(t.shape)-2:]
		shape := slices.Concat(lead, tail)
		if i > 0 && a.shared {
			shape = slices.Concat(a.grouped(in, lead), tail)
		}
		order := seq(len(shape))
		if slices.Equal(shape, t.shape) {
			slices.SortStableFunc(order[:len(order)-1], func(x, y int) int { return cmp.Compare(t.stride[y], t.stride[x]) })
		} else {
			d = wideOf(d)
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

// summed returns the gradient of operand i from a part of them.
func (a attention) summed(i int, part, x *Tensor) *Tensor {
	if i > 0 && a.shared {
		part = part.Sum(len(part.shape) - 3)
	}
	return part.sumTo(x)
}
