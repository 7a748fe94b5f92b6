package tensor

import (
	"math"
	"slices"

	"halfnote/tensor/driver"
)

// Long sequences are processed one head and one block of queries at a time, so that the
// scores stay in the cache and take little memory. The weights of a query are complete in its
// block, and sums over queries are added in the order of a product's blocks, so the bits are
// the same as without blocks.

// queryBlock is the number of queries in a block, a multiple of a matrix product's summation
// block.
const queryBlock = 512

// inBlocks reports whether to process x, operands of one dtype with repeated heads, in
// blocks.
func (a attention) inBlocks(x []*Tensor) bool {
	n := len(x[0].shape)
	queries, keys := x[0].shape[n-2], x[1].shape[len(x[1].shape)-2]
	lead := x[0].shape[:n-2]
	return queries > queryBlock && queries*keys >= 1<<20 && x[2].dtype != Float64 &&
		slices.Equal(lead, x[1].shape[:len(x[1].shape)-2]) && slices.Equal(lead, x[2].shape[:len(x[2].shape)-2])
}

// blocks calls f for each head and each block of queries, lo to hi. part holds that block of
// x and the keys it may attend to, b is a for that block, and head returns the current head of
// a tensor.
func (a attention) blocks(x []*Tensor, f func(b attention, part []*Tensor, head func(t *Tensor) *Tensor, lo, hi, keys int)) {
	n := len(x[0].shape)
	lead, queries, all := x[0].shape[:n-2], x[0].shape[n-2], x[1].shape[n-2]
	x = slices.Clone(x)
	for i, m := range x[3:] {
		x[3+i] = m.expandTo(append(slices.Clone(lead), queries, all))
	}
	for i := range size(lead) {
		at := place(i, lead)
		head := func(t *Tensor) *Tensor {
			for _, j := range at {
				t = t.Select(0, j)
			}
			return t
		}
		for lo := 0; lo < queries; lo += queryBlock {
			hi, keys := min(lo+queryBlock, queries), all
			if a.causal {
				keys = min(hi, all)
			}
			b := a
			b.first = lo
			part := []*Tensor{head(x[0]).Slice(0, lo, hi), head(x[1]).Slice(0, 0, keys), head(x[2]).Slice(0, 0, keys)}
			for _, m := range x[3:] {
				part = append(part, head(m).Slice(0, lo, hi).Slice(1, 0, keys))
			}
			f(b, part, head, lo, hi, keys)
		}
	}
}

// inPieces returns the result for x, operands with repeated heads, computed in blocks or groups.
func (a attention) inPieces(x []*Tensor) *Tensor {
	rows, b := productShape(x[0], x[1].Transpose(-1, -2)), x[0].mem.backend
	lead := rows[:len(rows)-2]
	if wider, ok := broadcastShapes(lead, x[2].shape[:len(x[2].shape)-2]); ok {
		lead = wider
	}
	y := unsetTensor(b, x[2].dtype, slices.Concat(lead, []int{rows[len(rows)-2], x[2].shape[len(x[2].shape)-1]}))
	if a.inBlocks(x) {
		a.blocks(x, func(b attention, part []*Tensor, head func(t *Tensor) *Tensor, lo, hi, _ int) {
			b.attendTo(head(y).Slice(0, lo, hi), part)
		})
		return y
	}
	a.groups(y, x, rows)
	return y
}

// groupScores is the number of scores of a group: 1 MB in float32, which fits in the second cache of a recent
// server's core. Smaller groups cost two threads more time, because each ends with all of them waiting.
const groupScores = 1 << 18

// groups sets y to the result for x, whose scores have the shape scores. On the CPU it
// computes as many heads at a time as have scores that fit in the cache.
func (a attention) groups(y *Tensor, x []*Tensor, scores []int) {
	n := len(y.shape) - 2
	d := slices.IndexFunc(y.shape[:n], func(size int) bool { return size > 1 })
	all := slices.Equal(y.shape[:n], scores[:len(scores)-2])
	for _, t := range x[:3] {
		all = all && slices.Equal(t.shape[:len(t.shape)-2], y.shape[:n])
	}
	if d < 0 || !all || size(scores) <= groupScores || y.Device() != CPU {
		a.attendTo(y, x)
		return
	}
	each := max(1, groupScores/(size(scores)/scores[d]))
	x = slices.Clone(x)
	for i, m := range x[3:] {
		x[3+i] = m.expandTo(scores)
	}
	part := make([]*Tensor, len(x))
	for lo := 0; lo < y.shape[d]; lo += each {
		hi := min(lo+each, y.shape[d])
		for i, t := range x {
			part[i] = sliced(t, slice{d, lo, hi})
		}
		a.attendTo(sliced(y, slice{d, lo, hi}), part)
	}
}

// attendTo sets y to the result for x.
func (a attention) attendTo(y *Tensor, x []*Tensor) {
	p := a.probabilities(x)
	if a.dropout > 0 {
		p = a.dropped(p, x)
	}
	p = narrow(p, x[2].dtype)
	multiplyTo(y, []*Tensor{p, x[2]})
	release(p)
}

// probabilities is weights without a derivative, of operands that may be bfloat16. Its result is a
// temporary, float32 or rounded to the dtype of the values.
func (a attention) probabilities(x []*Tensor) *Tensor {
	q, keys := x[0], x[1].Transpose(-1, -2)
	fraction, _ := math.Frexp(a.scale)
	early := q.dtype != BFloat16 || fraction == 0.5 // a power of two, which does not round
	if early {
		q = q.MulScalar(a.scale)
	}
	s := unsetTensor(q.mem.backend, wideOf(q.dtype), productShape(q, keys))
	multiplyTo(s, []*Tensor{q, keys})
	if early {
		release(q)
	} else {
		run(driver.Kernel{Code: driver.Affine, Alpha: a.scale}, s, s)
	}
	if m := a.maskedScores(s, x); m != s {
		release(s)
		s = m
	}
	if a.masked || s.Numel() == 0 || !s.mem.backend.Offers(driver.Softmax, s.dtype, s.dtype) {
		return a.normalized(s)
	}
	k, p := driver.Kernel{Code: driver.Softmax, Axis: len(s.shape) - 1}, s
	if d := x[2].dtype; a.dropout == 0 && d != s.dtype && s.mem.backend.Offers(k.Code, d, s.dtype) {
		p = unsetTensor(s.mem.backend, d, s.shape)
		defer release(s)
	}
	run(k, p, s)
	return p
}

// gradsInPieces returns the gradients of queries, keys and values, computed in blocks.
func (a attention) gradsInPieces(dy *Tensor, x []*Tensor) (grads [3]*Tensor) {
	for i := range grads {
		grads[i] = newTensor(x[i].mem.backend, Float32, x[i].shape)
	}
	a.blocks(x, func(b attention, part []*Tensor, head func(t *Tensor) *Tensor, lo, hi, keys int) {
		q, k, v := part[0], part[1], part[2]
		dy := head(dy).Slice(0, lo, hi)
		add := func(g, more *Tensor) { run(driver.Kernel{Code: driver.Add}, g, g, more) }
		p := b.weights(part)
		add(head(grads[2]).Slice(0, 0, keys), b.dropped(p, part).Transpose(-1, -2).MatMul(dy))
		ds := apply(softmaxGrad{1}, b.dropped(dy.MatMul(v.Transpose(-1, -2)), part), p)
		run(driver.Kernel{Code: driver.Affine, Alpha: a.scale}, head(grads[0]).Slice(0, lo, hi), ds.MatMul(k))
		add(head(grads[1]).Slice(0, 0, keys), ds.Transpose(-1, -2).MatMul(q))
	})
	run(driver.Kernel{Code: driver.Affine, Alpha: a.scale}, grads[1], grads[1])
	return grads
}
