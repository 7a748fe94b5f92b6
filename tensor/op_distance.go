package tensor

import "halfnote/tensor/driver"

// dist is the norm of a difference.
type dist struct{ p float64 }

func (dist) Info() Info { return info("dist", "torch.dist", SavesOperands) }
func (dist) promotes()  {}
func (d dist) f(in []*Tensor) *Tensor {
	return in[0].Sub(in[1]).VectorNorm(d.p, PNormOptions{})
}
func (d dist) Forward(in []*Tensor) *Tensor              { return compose(d.f, in) }
func (d dist) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor { return derive(d.f, dy, in) }

// Dist returns the norm of order p of t - o, broadcast: a scalar. It is torch.dist.
func (t *Tensor) Dist(o *Tensor, p float64) *Tensor {
	broadcast("dist", []*Tensor{t, o})
	return apply(dist{p}, t, o)
}

// cdist is the distances of each row of one matrix to each row of another.
type cdist struct{ p float64 }

func (cdist) Info() Info { return info("cdist", "torch.cdist", SavesOperands) }
func (cdist) promotes()  {}
func (cdist) real()      {}
func (c cdist) f(in []*Tensor) *Tensor {
	return in[0].Unsqueeze(-2).Sub(in[1].Unsqueeze(-3)).VectorNorm(c.p, PNormOptions{Dims: []int{-1}})
}
func (c cdist) Forward(in []*Tensor) *Tensor { return c.blocks(in[0], in[1]) }
func (c cdist) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	if IsGradEnabled() {
		return derive(c.f, dy, in)
	}
	return c.gradients(dy, in)
}

// CDist returns the norms of order p of the differences of each row of t (…, m, k) and
// each row of o (…, n, k): (…, m, n). It always computes the differences, in blocks, where
// torch may use a matrix product; second derivatives hold all differences at once. It is
// torch.cdist.
func (t *Tensor) CDist(o *Tensor, p float64) *Tensor {
	given("cdist", t, o)
	in := []*Tensor{t, o}
	n, m := len(t.shape), len(o.shape)
	if n < 2 || m < 2 || t.shape[n-1] != o.shape[m-1] {
		fail("cdist", in, "the rows of t and o do not match; want (…, m, k) and (…, n, k)")
	}
	if _, ok := broadcastShapes(t.shape[:n-2], o.shape[:m-2]); !ok {
		fail("cdist", in, "the leading dimensions do not broadcast; want (…, m, k) and (…, n, k)")
	}
	checkDistance("cdist", in, p)
	return apply(cdist{p}, t, o)
}

// checkDistance panics unless p is the order of a distance.
func checkDistance(op string, in []*Tensor, p float64) {
	if !(p >= 0) {
		fail(op, in, "p is %v; want at least 0", p)
	}
}

// pdist is the distances of the rows of a matrix.
type pdist struct{ p float64 }

func (pdist) Info() Info { return info("pdist", "torch.nn.functional.pdist", SavesOperands) }
func (pdist) real()      {}
func (d pdist) f(in []*Tensor) *Tensor {
	x := in[0]
	var first, second []int
	n := x.shape[0]
	first, second = hostSlice[int]("pdist", n*(n-1)/2)[:0], hostSlice[int]("pdist", n*(n-1)/2)[:0]
	for i := range n {
		driver.Poll()
		for j := i + 1; j < x.shape[0]; j++ {
			first, second = append(first, i), append(second, j)
		}
	}
	rows := func(index []int) *Tensor { return x.IndexSelect(0, FromInts(index).ToDevice(x.Device())) }
	return rows(first).Sub(rows(second)).VectorNorm(d.p, PNormOptions{Dims: []int{1}})
}
func (d pdist) Forward(in []*Tensor) *Tensor { return d.blocks(in[0]) }
func (d pdist) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	if IsGradEnabled() {
		return derive(d.f, dy, in)
	}
	return []*Tensor{d.gradient(dy, in[0])}
}

// PDist returns the norms of order p of the differences of rows i < j of t (n, k), ordered by
// i, then j: (n(n-1)/2). It is torch.nn.functional.pdist.
func (t *Tensor) PDist(p float64) *Tensor {
	t.given("pdist")
	if len(t.shape) != 2 {
		fail("pdist", []*Tensor{t}, "t is %d-D; want (n, k)", len(t.shape))
	}
	checkDistance("pdist", []*Tensor{t}, p)
	return apply(pdist{p}, t)
}

// PairwiseDistance returns the norm of order p of t - o + eps along the last dimension,
// which is removed; torch's defaults are p = 2 and eps = 1e-6. It is
// torch.nn.functional.pairwise_distance.
func (t *Tensor) PairwiseDistance(o *Tensor, p, eps float64) *Tensor {
	broadcast("pairwise_distance", []*Tensor{t, o})
	return t.Sub(o).AddScalar(eps).NormWith(p, PNormOptions{Dims: []int{-1}})
}

type cosineSimilarity struct {
	dim int
	eps float64
}

func (cosineSimilarity) Info() Info {
	return info("cosine_similarity", "torch.nn.functional.cosine_similarity", SavesOperands)
}
func (cosineSimilarity) promotes() {}
func (c cosineSimilarity) f(in []*Tensor) *Tensor {
	shape, _ := broadcastShapes(in[0].shape, in[1].shape)
	direction := func(x *Tensor) *Tensor {
		n := x.expandTo(shape).KeepDim().VectorNorm(2, PNormOptions{Dims: []int{c.dim}})
		// As in torch, the derivative ignores the lower bound.
		low := n.Detach()
		return x.Div(n.Add(low.ClampMin(c.eps).Sub(low)))
	}
	return direction(in[0]).Mul(direction(in[1])).Sum(c.dim)
}
func (c cosineSimilarity) Forward(in []*Tensor) *Tensor              { return compose(c.f, in) }
func (c cosineSimilarity) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor { return derive(c.f, dy, in) }

// CosineSimilarity returns the cosine of the angle between t and o along dim, which is removed,
// broadcast. Norms are at least eps. torch's defaults are dim = 1 and eps = 1e-8. It is
// torch.nn.functional.cosine_similarity.
func (t *Tensor) CosineSimilarity(o *Tensor, dim int, eps float64) *Tensor {
	shape := broadcast("cosine_similarity", []*Tensor{t, o})
	d := axis("cosine_similarity", t.expandTo(shape), dim, len(shape))
	return apply(cosineSimilarity{d, eps}, t, o)
}

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
