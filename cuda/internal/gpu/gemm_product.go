//go:build cuda && linux && cgo

package gpu

import (
	"fmt"

	"halfnote/cuda/internal/drv"
	"halfnote/tensor/driver"
)

// operand is a factor; its lines are A's rows or B's columns.
type operand struct {
	at                  drv.Ptr
	size                int // element size in bytes
	lines, depth, batch index
}

// result is D or the optional C.
type result struct {
	at                   drv.Ptr
	dtype                driver.DType
	rows, columns, batch index
}

// product is a batch of products D (m,n) = A (m,k) times B (k,n), plus C.
type product struct {
	dtype            driver.DType // dtype of A and B
	tf32             bool         // whether float32 may be rounded to TF32
	m, n, k, batches int
	a, b             operand
	c, d             result
}

// productOf returns the product of views with the given numbers of axes for rows, columns and the
// summation.
func productOf(dst driver.View, src []driver.View, m, n, k int) product {
	x, y := src[0], src[1]
	lead := len(dst.Shape) - m - n
	cut := func(v driver.View, rows int) (batch, first, second index) {
		return indexOf(v.Shape[:lead], v.Stride), indexOf(v.Shape[lead:lead+rows], v.Stride[lead:]), indexOf(v.Shape[lead+rows:], v.Stride[lead+rows:])
	}
	of := func(v driver.View) result {
		r := result{at: pointer(v), dtype: v.DType}
		r.batch, r.rows, r.columns = cut(v, m)
		return r
	}
	p := product{
		dtype: x.DType, m: length(dst.Shape[lead : lead+m]), n: length(dst.Shape[lead+m:]), k: length(x.Shape[lead+m:]), batches: length(dst.Shape[:lead]),
		a: operand{at: pointer(x), size: x.DType.Size()}, b: operand{at: pointer(y), size: y.DType.Size()}, d: of(dst),
	}
	p.a.batch, p.a.lines, p.a.depth = cut(x, m)
	p.b.batch, p.b.depth, p.b.lines = cut(y, k)
	if len(src) == 3 {
		p.c = of(src[2])
	}
	p.fold()
	if p.d.columns.run() == 0 && p.d.rows.run() > 0 { // D is written along its columns
		p = p.turned()
	}
	return p
}

func length(shape []int) int {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return n
}

// fold turns a batch with a single B into one matrix, if the rows of A and D continue from matrix
// to matrix.
func (p *product) fold() {
	a, d := p.a.batch.join(p.a.lines), p.d.batch.join(p.d.rows)
	if p.batches == 1 || p.batches*p.m > maxItems || !p.b.batch.repeats() || len(a) > 1 || len(d) > 1 {
		return
	}
	p.m, p.batches = p.m*p.batches, 1
	p.a.lines, p.a.batch, p.b.batch = a, nil, nil
	p.d.rows, p.d.batch = d, nil
	p.c.rows, p.c.batch = p.c.batch.join(p.c.rows), nil
}

// unfolded returns p as a batch with a single A, if the columns of B and D are split over
// matrices, as those of images are.
func (p product) unfolded() product {
	b, d := p.b.lines, p.d.columns
	if p.batches > 1 || p.c.at != 0 || len(b) != 2 || len(d) != 2 || b[0].size != d[0].size {
		return p
	}
	p.n, p.batches = b[1].size, b[0].size
	p.b.lines, p.b.batch = b[1:], b[:1]
	p.d.columns, p.d.batch = d[1:], d[:1]
	p.a.batch = index{{p.batches, 0}}
	return p
}

// turned returns the equivalent product of the transposed matrices.
func (p product) turned() product {
	p.m, p.n, p.a, p.b = p.n, p.m, p.b, p.a
	p.c.rows, p.c.columns = p.c.columns, p.c.rows
	p.d.rows, p.d.columns = p.d.columns, p.d.rows
	return p
}

// fits reports whether kernels can iterate over the product's views.
func (p *product) fits() bool {
	for _, x := range []index{p.a.lines, p.a.depth, p.a.batch, p.b.lines, p.b.depth, p.b.batch,
		p.c.rows, p.c.columns, p.c.batch, p.d.rows, p.d.columns, p.d.batch} {
		if len(x) > maxGemmAxes {
			return false
		}
	}
	return true
}

// check panics if a size exceeds the range of the kernels' counters.
func (p *product) check(name string, c driver.Code) {
	if max(p.m, p.n, p.k, p.batches) > maxItems {
		panic(fmt.Sprintf("%s: %v: %d matrices of %d rows and %d columns, sums of %d products; want at most %d of each", name, c, p.batches, p.m, p.n, p.k, maxItems))
	}
}

// reading returns how an operand is read: along k or along lines, and whether in units of 16
// bytes.
func (o operand) reading() (along, vectors bool) {
	n := 16 / o.size
	if o.at%16 == 0 && o.batch.multiple(n) {
		if o.depth.packs(n) && o.lines.multiple(n) {
			return true, true
		}
		if o.lines.packs(n) && o.depth.multiple(n) {
			return false, true
		}
	}
	if k, l := o.depth.run(), o.lines.run(); k != l {
		return k > l, false
	}
	k, l := o.depth.inner(), o.lines.inner()
	return k.size > 1 && (l.size == 1 || max(k.stride, -k.stride) < max(l.stride, -l.stride)), false
}

// Flags of gemm.cuh.
const (
	vectorsA = 1 << iota
	vectorsB
	alongA
	alongB
	wideC
	wideD
	packsD
)

// gemm is Gemm of gemm.cuh.
type gemm struct {
	a, b, c, d, parts                              drv.Ptr
	m, n, k, depth, slices, batches, first, flags  uint32
	am, ak, ab, bn, bk, bb, cm, cn, cb, dm, dn, db mapping
}

// kernel returns the kernels' parameter.
func (p *product) kernel() *gemm {
	g := &gemm{
		a: p.a.at, b: p.b.at, c: p.c.at, d: p.d.at,
		m: uint32(p.m), n: uint32(p.n), k: uint32(p.k), batches: uint32(p.batches),
		am: p.a.lines.mapping(), ak: p.a.depth.mapping(), ab: p.a.batch.mapping(),
		bn: p.b.lines.mapping(), bk: p.b.depth.mapping(), bb: p.b.batch.mapping(),
		cm: p.c.rows.mapping(), cn: p.c.columns.mapping(), cb: p.c.batch.mapping(),
		dm: p.d.rows.mapping(), dn: p.d.columns.mapping(), db: p.d.batch.mapping(),
	}
	for i, o := range []operand{p.a, p.b} {
		along, vectors := o.reading()
		if along {
			g.flags |= alongA << i
		}
		if vectors {
			g.flags |= vectorsA << i
		}
	}
	for i, r := range []result{p.c, p.d} {
		if r.dtype != p.dtype {
			g.flags |= wideC << i
		}
	}
	if d, n := p.d, 16/p.d.dtype.Size(); d.at%16 == 0 && d.columns.packs(n) && d.rows.multiple(n) && d.batch.multiple(n) {
		g.flags |= packsD
	}
	return g
}
