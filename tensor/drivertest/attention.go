package drivertest

import (
	"math"
	"slices"
	"testing"

	"halfnote/tensor/driver"
)

// Attentions checks [driver.Attention] and [driver.AttentionGrad] if the backend offers
// them.
func Attentions(t *testing.T, b driver.Backend) {
	for _, c := range []attention{
		{batch: 1, heads: 1, queries: 1, keys: 1, depth: 1, width: 1, scale: 1},
		{batch: 2, heads: 3, queries: 17, keys: 33, depth: 64, width: 64},
		{batch: 1, heads: 2, queries: 130, keys: 40, depth: 32, width: 32, causal: true},
		{batch: 1, heads: 1, queries: 70, keys: 150, depth: 128, width: 128, causal: true, wide: true},
		{batch: 2, heads: 1, queries: 5, keys: 70, depth: 20, width: 7, mask: driver.Bool, gap: 3},
		{batch: 2, heads: 2, queries: 40, keys: 21, depth: 16, width: 64, mask: driver.Float32, padding: true, keep: true, gap: 8},
		{batch: 1, heads: 2, queries: 66, keys: 36, depth: 96, width: 80, mask: driver.Float16, scale: -0.3},
		{batch: 1, heads: 4, queries: 35, keys: 35, depth: 64, width: 64, keep: true, causal: true, shared: true, wide: true, gap: 64},
		{batch: 1, heads: 2, queries: 9, keys: 0, depth: 8, width: 8},
		{batch: 3, heads: 1, queries: 33, keys: 65, depth: 40, width: 33, mask: driver.Bool, keep: true, wide: true, shared: true},
		{batch: 1, heads: 1, queries: 20, keys: 30, depth: 64, width: 64, scale: 1, large: true},
	} {
		for _, d := range []driver.DType{driver.Float16, driver.BFloat16} {
			if c.d = d; c.mask == driver.Float16 {
				c.mask = d
			}
			if b.Offers(driver.Attention, d, driver.Float32, d, d, d) {
				c.check(t, b)
			}
		}
	}
}

// attention is a test case: shapes and layouts of the operands.
type attention struct {
	d                           driver.DType
	batch, heads, queries, keys int
	depth, width                int
	scale                       float64
	causal, keep                bool
	mask                        driver.DType
	padding                     bool // the mask excludes only keys
	shared                      bool // all heads share keys and values
	wide                        bool // gradients are float32
	gap                         int  // elements between the heads of a position
	large                       bool // scores exceed float16's range
}

// matrices returns a view (batch, heads, rows, columns) of memory (batch, rows, heads, columns).
func (c attention) matrices(t *testing.T, b driver.Backend, d driver.DType, rows, columns, seed int) driver.View {
	numbers := slices.Clone(random(20011 + seed))
	for i, x := range numbers {
		numbers[i] = max(-4, min(x, 4)) // so that float16 gradients are finite
		if c.large && seed < 3 {
			numbers[i] *= 100
		}
	}
	v := place(t, b, d, []int{c.batch, rows, c.heads, columns + c.gap}, dense, numbers)
	v.Shape = []int{c.batch, c.heads, rows, columns}
	v.Stride = []int{v.Stride[0], v.Stride[2], v.Stride[1], 1}
	return v
}

// emptied returns v with its elements overwritten by holes.
func emptied(t *testing.T, b driver.Backend, v driver.View) driver.View {
	p := slices.Repeat([]byte{hole}, v.Buffer.Bytes())
	b.Write(v.Buffer, 0, p)
	return v
}

func (c attention) check(t *testing.T, b driver.Backend) {
	if c.scale == 0 {
		c.scale = 1 / math.Sqrt(float64(c.depth))
	}
	q, k := c.matrices(t, b, c.d, c.queries, c.depth, 1), c.matrices(t, b, c.d, c.keys, c.depth, 2)
	v, dy := c.matrices(t, b, c.d, c.keys, c.width, 3), c.matrices(t, b, c.d, c.queries, c.width, 4)
	y := emptied(t, b, c.matrices(t, b, c.d, c.queries, c.width, 0))
	sums := newView(t, b, driver.Float32, []int{c.batch, c.heads, c.queries, 1}, gaps)
	if c.shared {
		k.Stride[1], v.Stride[1] = 0, 0
	}
	kernel := driver.Kernel{Code: driver.Attention, Params: driver.AttentionParams{
		Scale: c.scale, Kept: 1.25, Causal: c.causal, Masked: c.mask != driver.Invalid, Dropout: c.keep,
	}}
	src := []driver.View{sums, q, k, v}
	scores := []int{c.batch, c.heads, c.queries, c.keys}
	add, keep := make([]float64, c.batch*c.heads*c.queries*c.keys), []float64(nil)
	if c.mask != driver.Invalid {
		m := newView(t, b, c.mask, scores, reversed)
		if c.padding {
			m = newView(t, b, c.mask, []int{c.batch, 1, 1, c.keys}, dense)
			m.Shape, m.Stride = scores, []int{m.Stride[0], 0, 0, 1}
		}
		numbers := slices.Clone(random(1009))
		if c.mask == driver.Bool {
			for i, x := range numbers {
				numbers[i] = truth(x > 0 && i%c.keys > 0)
			}
		}
		for i := 7; i < len(numbers) && c.mask != driver.Bool; i += 5 {
			numbers[i] = math.Inf(-1)
		}
		set(b, m, numbers)
		if !c.padding { // the first query has no keys
			row := m
			row.Shape = []int{c.batch, c.heads, 1, c.keys}
			set(b, row, []float64{[]float64{math.Inf(-1), 0}[int(truth(c.mask == driver.Bool))]})
		}
		for i, x := range values(b, m) {
			if add[i] = x; c.mask == driver.Bool {
				add[i] = math.Log(x)
			}
		}
		src = append(src, m)
	}
	if c.keep {
		words := (c.keys + 31) / 32
		m := newView(t, b, driver.Int32, append(scores[:3:3], words), dense)
		b.Run(driver.Kernel{Code: driver.BernoulliBits, Params: driver.BernoulliParams{P: 0.7, Key: [2]uint32{3, 5}, Row: c.keys}}, m)
		src = append(src, m)
		for i, x := range values(b, m) {
			for j := range min(32, c.keys-i%words*32) {
				keep = append(keep, float64(uint32(int32(x))>>j&1))
			}
		}
	}
	given := dtypesOf(src)
	if !b.Offers(driver.Attention, c.d, given...) {
		t.Errorf("%+v: not offered", c)
		return
	}
	b.Run(kernel, y, src...)
	checkHoles(t, b, y)
	checkHoles(t, b, sums)

	kernel.Code = driver.AttentionGrad
	to := c.d
	if c.wide {
		to = driver.Float32
	}
	dq := emptied(t, b, c.matrices(t, b, to, c.queries, c.depth, 0))
	dk, dv := emptied(t, b, c.matrices(t, b, to, c.keys, c.depth, 0)), emptied(t, b, c.matrices(t, b, to, c.keys, c.width, 0))
	all := append([]driver.View{dk, dv, dy, y}, src...)
	if !b.Offers(kernel.Code, to, dtypesOf(all)...) {
		t.Errorf("%+v: gradients are not offered", c)
		return
	}
	b.Run(kernel, dq, all...)
	for _, g := range []driver.View{dq, dk, dv} {
		checkHoles(t, b, g)
	}

	got, in := [][]float64{values(b, y), values(b, dq), values(b, dk), values(b, dv)}, [][]float64{values(b, q), values(b, k), values(b, v), values(b, dy)}
	head := 0
	part := func(x []float64, rows, columns int) []float64 { return x[head*rows*columns : (head+1)*rows*columns] }
	for ; head < c.batch*c.heads; head++ {
		n := c.queries * c.keys
		var kept []float64
		if c.keep {
			kept = keep[head*n : (head+1)*n]
		}
		want, bound := c.want(part(in[0], c.queries, c.depth), part(in[1], c.keys, c.depth), part(in[2], c.keys, c.width), part(in[3], c.queries, c.width), add[head*n:(head+1)*n], kept)
		for i, w := range want {
			g := part(got[i], len(w)/([]int{c.width, c.depth, c.depth, c.width})[i], []int{c.width, c.depth, c.depth, c.width}[i])
			for j := range w {
				if !(math.Abs(g[j]-w[j]) <= bound[i][j]) {
					t.Errorf("%+v: %s of head %d: element %d: got %g, want %g within %g", c, []string{"result", "dq", "dk", "dv"}[i], head, j, g[j], w[j], bound[i][j])
					break
				}
			}
		}
	}
}

// want returns the result and the gradients of one head, and their tolerances: weights, results
// and gradients of scores are rounded to c.d, and scores to float32.
func (c attention) want(q, k, v, dy, add, keep []float64) (want, bound [4][]float64) {
	sizes := [4]int{c.queries * c.width, c.queries * c.depth, c.keys * c.depth, c.keys * c.width}
	for i, n := range sizes {
		want[i], bound[i] = make([]float64, n), make([]float64, n)
	}
	eps := map[driver.DType]float64{driver.Float16: 0x1p-11, driver.BFloat16: 0x1p-8}[c.d]
	dot := func(x, y []float64) (sum, size float64) {
		for i := range x {
			sum += x[i] * y[i]
			size += math.Abs(x[i] * y[i])
		}
		return sum, size
	}
	row := func(x []float64, i, n int) []float64 { return x[i*n : (i+1)*n] }
	tally := func(which, r, n int, factor, off float64, x []float64) {
		for j := range n {
			want[which][r*n+j] += factor * x[j]
			bound[which][r*n+j] += off * math.Abs(x[j])
		}
	}
	for i := range c.queries {
		p, off := make([]float64, c.keys), make([]float64, c.keys)
		top, total := math.Inf(-1), 0.0
		for j := range p {
			s, size := dot(row(q, i, c.depth), row(k, j, c.depth))
			p[j], off[j] = s*c.scale+add[i*c.keys+j], 0x1p-20*(size*math.Abs(c.scale)+1)
			if c.causal && j > i {
				p[j] = math.Inf(-1)
			}
			if p[j]-p[j] == 0 {
				off[j] += 0x1p-20 * math.Abs(p[j])
			}
			top = max(top, p[j])
		}
		for j := range p {
			if p[j] = math.Exp(p[j] - top); top == math.Inf(-1) {
				p[j] = 0
			}
			total += p[j]
		}
		most := slices.Max(append(off, 0)) // bounds the error of the sum of weights
		factor := func(j int) float64 {
			switch {
			case keep == nil:
				return 1
			case keep[i*c.keys+j] == 0:
				return 0
			}
			return 1.25
		}
		for j := range p {
			p[j] /= max(total, math.SmallestNonzeroFloat64)
			w := p[j] * factor(j)
			tally(0, i, c.width, w, w*(eps+off[j]+most)+eps*0x1p-13, row(v, j, c.width))
		}
		y := row(want[0], i, c.width)
		delta, size := dot(row(dy, i, c.width), y)
		for j := range p {
			dp, far := dot(row(dy, i, c.width), row(v, j, c.width))
			ds := p[j] * (dp*factor(j) - delta)
			less := math.Abs(ds)*(eps+off[j]+most) + p[j]*((eps+most)*size+0x1p-20*(far*factor(j)+size)) + 0x1p-25
			// The result, from which delta is computed, is rounded twice.
			for x := range y {
				less += p[j] * math.Abs(dy[i*c.width+x]) * bound[0][i*c.width+x]
			}
			tally(1, i, c.depth, ds*c.scale, less*math.Abs(c.scale), row(k, j, c.depth))
			tally(2, j, c.depth, ds*c.scale, less*math.Abs(c.scale), row(q, i, c.depth))
			w := p[j] * factor(j)
			tally(3, j, c.width, w, w*(eps+off[j]+most)+0x1p-25, row(dy, i, c.width))
		}
	}
	for i := range want {
		for j, w := range want[i] {
			bound[i][j] += ulp(c.d, w)
		}
	}
	return want, bound
}

func dtypesOf(list []driver.View) (d []driver.DType) {
	for _, v := range list {
		d = append(d, v.DType)
	}
	return d
}
