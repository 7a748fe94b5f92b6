package tensor

import "halfnote/tensor/driver"

// Row distances are computed in blocks, so that the differences of all pairs are never in
// memory at once.

// differences is the maximum number of difference elements in a block of several pairs.
const differences = 1 << 18

// rowPairs are distances (…, m, n), or their gradient, and the rows they belong to, (…, m, 1,
// k) and (…, 1, n, k), where sizes of 1 broadcast. dx and dy accumulate the rows' gradients;
// they have the rows' shapes and may be nil.
type rowPairs struct{ dist, x, y, dx, dy *Tensor }

// pairRows returns the pairs of rows x (…, m, k) and y (…, n, k).
func pairRows(dist, x, y, dx, dy *Tensor) rowPairs {
	rank := len(dist.shape)
	return rowPairs{dist, lifted(x, rank, rank-1), lifted(y, rank, rank-2), lifted(dx, rank, rank-1), lifted(dy, rank, rank-2)}
}

// lifted returns t with leading dimensions of size 1 added up to the given rank, and another
// one inserted at position at. lifted of nil is nil.
func lifted(t *Tensor, rank, at int) *Tensor {
	if t == nil {
		return nil
	}
	shape, stride := make([]int, rank+1), make([]int, rank+1)
	for d := range shape {
		shape[d] = 1
	}
	to := rank
	for d := len(t.shape) - 1; d >= 0; d, to = d-1, to-1 {
		if to == at {
			to--
		}
		shape[to], stride[to] = t.shape[d], t.stride[d]
	}
	return t.alias(t.offset, shape, stride)
}

// each calls body with blocks of p, halved repeatedly along the largest dimension.
func (p rowPairs) each(body func(p rowPairs)) {
	n, k := p.dist.Numel(), p.x.shape[len(p.x.shape)-1]
	if n*k <= differences || n == 1 {
		if n*k > 0 {
			body(p)
		}
		return
	}
	largest := 0
	for d, n := range p.dist.shape {
		if n > p.dist.shape[largest] {
			largest = d
		}
	}
	half := p.dist.shape[largest] / 2
	p.along(largest, 0, half).each(body)
	p.along(largest, half, p.dist.shape[largest]).each(body)
}

// along returns the pairs from first to end along dimension d.
func (p rowPairs) along(d, first, end int) rowPairs {
	part := func(t *Tensor) *Tensor {
		if t == nil || t.shape[d] == 1 {
			return t
		}
		return sliced(t, slice{d, first, end})
	}
	return rowPairs{part(p.dist), part(p.x), part(p.y), part(p.dx), part(p.dy)}
}

// fill computes the distances of p, which are 0 on entry.
func (c cdist) fill(p rowPairs) {
	p.each(func(p rowPairs) {
		x, y := wide(p.x), wide(p.y)
		diff := pairwise("cdist", driver.Sub, x, y)
		dist := norm{over: over{dims: []int{len(diff.shape) - 1}}, p: c.p}.Forward([]*Tensor{diff})
		run(driver.Kernel{Code: driver.Copy}, p.dist, dist)
		release(diff, dist)
		dropTemporaries(p.x, x)
		dropTemporaries(p.y, y)
	})
}

// spread adds the rows' gradients for the gradient of the distances to dx and dy.
func (c cdist) spread(p rowPairs) {
	p.each(func(p rowPairs) {
		x, y := wide(p.x), wide(p.y)
		diff := pairwise("cdist", driver.Sub, x, y)
		last := len(diff.shape) - 1
		n := norm{over: over{dims: []int{last}, keep: true}, p: c.p}
		dist := n.Forward([]*Tensor{diff})
		slope := n.slope(diff, dist, lifted(wide(p.dist), last, last))
		into(driver.Add, p.dx, slope)
		into(driver.Sub, p.dy, slope)
		release(diff, dist, slope)
		dropTemporaries(p.x, x)
		dropTemporaries(p.y, y)
	})
}

// into adds x to sum, or subtracts it. sum broadcasts to x's shape and may be nil.
func into(c driver.Code, sum, x *Tensor) {
	if sum == nil {
		return
	}
	dims := []int{}
	for d, n := range sum.shape {
		if n < x.shape[d] {
			dims = append(dims, d)
		}
	}
	part := reduce(driver.Sum, x, dims, x.dtype)
	run(driver.Kernel{Code: c}, sum, sum, part)
	release(part)
}

// blocks is f computed in blocks.
func (c cdist) blocks(x, y *Tensor) *Tensor {
	n, m := len(x.shape), len(y.shape)
	lead, _ := broadcastShapes(x.shape[:n-2], y.shape[:m-2])
	dist := newTensor(x.mem.backend, x.dtype, append(append([]int{}, lead...), x.shape[n-2], y.shape[m-2]))
	c.fill(pairRows(dist, x, y, nil, nil))
	return dist
}

// gradients are the gradients of f, computed in blocks.
func (c cdist) gradients(dy *Tensor, in []*Tensor) []*Tensor {
	sums := make([]*Tensor, 2)
	for i, t := range in {
		if t.RequiresGrad() {
			sums[i] = newTensor(t.mem.backend, wideOf(t.dtype), t.shape)
		}
	}
	c.spread(pairRows(dy, in[0], in[1], sums[0], sums[1]))
	for i, t := range sums {
		if t != nil {
			sums[i] = narrow(t, in[i].dtype)
		}
	}
	return sums
}

// blocks is f computed row by row.
func (d pdist) blocks(x *Tensor) *Tensor {
	n := x.shape[0]
	dist := newTensor(x.mem.backend, x.dtype, []int{n * max(n-1, 0) / 2})
	d.eachRow(dist, x, nil, cdist{d.p}.fill)
	return dist
}

// gradient is the gradient of f, computed row by row.
func (d pdist) gradient(dy, x *Tensor) *Tensor {
	sum := newTensor(x.mem.backend, wideOf(x.dtype), x.shape)
	d.eachRow(dy, x, sum, cdist{d.p}.spread)
	return narrow(sum, x.dtype)
}

// eachRow calls body with the pairs of each row of x and the rows after it.
func (d pdist) eachRow(dist, x, dx *Tensor, body func(p rowPairs)) {
	n := x.shape[0]
	rows := func(t *Tensor, first, end int) *Tensor {
		if t == nil {
			return nil
		}
		return sliced(t, slice{0, first, end})
	}
	for i, at := 0, 0; i < n-1; i++ {
		after := n - 1 - i
		part := dist.alias(dist.offset+at*dist.stride[0], []int{1, after}, []int{0, dist.stride[0]})
		body(pairRows(part, rows(x, i, i+1), rows(x, i+1, n), rows(dx, i, i+1), rows(dx, i+1, n)))
		at += after
	}
}
