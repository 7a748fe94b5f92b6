package tensor

import (
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
	return queries > queryBlock && queries*keys >= 1<<20 && x[0].dtype == Float32 &&
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

// inPieces returns the result for x, computed in blocks.
func (a attention) inPieces(x []*Tensor) *Tensor {
	n := len(x[0].shape)
	y := newTensor(x[0].mem.backend, Float32, append(slices.Clone(x[0].shape[:n-1]), x[2].shape[n-1]))
	a.blocks(x, func(b attention, part []*Tensor, head func(t *Tensor) *Tensor, lo, hi, _ int) {
		z := b.dropped(b.weights(part), part).MatMul(part[2])
		run(driver.Kernel{Code: driver.Copy}, head(y).Slice(0, lo, hi), z)
	})
	return y
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
