package cpu

import (
	"sync"

	"halfnote/tensor/driver"
)

func init() {
	offer(family{offers: offersProduct, check: checkProduct, run: runProduct}, driver.Matmul, driver.Contract)
}

func offersProduct(_ driver.Code, dst driver.DType, in dtypes) bool {
	src := in.slice()
	return (len(src) == 2 || len(src) == 3) && computable(dst, src) && dst != driver.Bool &&
		src[0] == src[1] && (src[0] == dst || dst.IsFloat() && accepts(dst, src[0])) &&
		(len(src) == 2 || src[2] == dst || src[2] == src[0])
}

func checkProduct(k driver.Kernel, dst driver.View, src []driver.View) {
	contractionOf(k).check(k.Code, dst, src)
}

func runProduct(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
	switch f := contractionOf(k); dst.DType.Wide() {
	case driver.Float32:
		matmul[float32](b, f, k.High && src[0].DType == driver.Float32, dst, src)
	case driver.Float64:
		matmul[float64](b, f, false, dst, src)
	default:
		matmul[int64](b, f, false, dst, src)
	}
}

// The sizes of tiles and work items. Results do not depend on them; they depend on
// depth.
const (
	tileRows = 4
	tileCols = 2
	itemRows = 128
	itemCols = 128
)

// depth is the number of products that are summed from 0 before their sum is added to the
// result: 512. bfloat16 has smaller blocks, see [blockSums]; for it depth is the number
// of products that are packed at a time, a multiple of blockLen.
func depth(d driver.DType) int {
	if d == driver.BFloat16 {
		return 1024
	}
	return 512
}

// matmul is multiply for every matrix of a batch, cut into items.
func matmul[T number](b *Backend, f contraction, high bool, dst driver.View, src []driver.View) {
	if dst.Len() == 0 {
		return
	}
	if b.tier != nil && src[1].Len() > 0 && dst.DType.Wide() == driver.Float32 {
		g := newGemm(b.tier, f, high, dst, src)
		g.run(b)
		g.give()
		return
	}
	p := newProduct[T](f, high, dst, src)
	rows, cols := itemSize(p.m, p.n, p.k)
	down, across := (p.m+rows-1)/rows, (p.n+cols-1)/cols
	batches := dst.Len() / (p.m * p.n)
	b.each(batches*down*across, func(i int) {
		batch, i := i/(down*across), i%(down*across)
		i0, j0 := i/across*rows, i%across*cols
		p.multiply(batch, i0, min(rows, p.m-i0), j0, min(cols, p.n-j0))
	})
}

// itemSize returns the rows and columns of an item: enough to make packing cheap, and
// few enough for all workers to get items, and for items to end within milliseconds.
func itemSize(m, n, k int) (rows, cols int) {
	rows, cols = itemRows, itemCols
	for rows*cols*k > 32<<20 && rows > 2*tileRows {
		rows, cols = rows/2, cols/2
	}
	for ((m+rows-1)/rows)*((n+cols-1)/cols) < 8 && rows > 8*tileRows {
		rows, cols = rows/2, cols/2
	}
	return rows, cols
}

// product is a batch of matrix products.
type product[T number] struct {
	m, n, k int
	depth   int
	flushes bool                                      // whether sums takes operands that flushAll has flushed
	sums    func(c []T, ld int, first bool, x, y []T) // sets c to a tile's products, or adds them to it
	x       matrix[T]                                 // lines are rows
	y       matrix[T]                                 // lines are columns
	bias    *reader[T]
	dst     writer[T]
}

func newProduct[T number](f contraction, high bool, dst driver.View, src []driver.View) *product[T] {
	x, y := src[0], src[1]
	p := &product[T]{
		depth:   depth(x.DType),
		flushes: high || x.DType == driver.BFloat16,
		sums:    sumsOf[T](x.DType),
		x:       matrixOf[T](x, f.m, f.k),
		y:       matrixOf[T](swapAxes(y, f.k, f.n), f.n, f.k),
		dst:     write[T](dst),
	}
	p.m, p.n, p.k = p.x.lines.len(), p.y.lines.len(), p.x.along.len()
	if high {
		p.depth, p.sums, p.k = depth(driver.BFloat16)/splitUnit*splitUnit, sumsOf[T](driver.BFloat16), splitLen(p.k)
		p.x.lows, p.y.lows = &firstLows, &secondLows
	}
	if len(src) == 3 {
		bias := read[T](src[2])
		p.bias = &bias
	}
	return p
}

// multiply computes rows i0 … i0+rows-1 and columns j0 … j0+cols-1 of a matrix of
// the batch. An element is the sum over blocks of p.depth values of k, in order,
// of the sum over k within the block, ascending from 0, of x[i,k]*y[k,j]; then the
// bias is added, and the result is rounded to dst's dtype. Within a block float32
// products are not rounded before they are added (fused multiply-add), those of
// float16 are exact, and those of float64 are rounded. The order of bfloat16 differs:
// see [blockSums].
func (p *product[T]) multiply(batch, i0, rows, j0, cols int) {
	ws := getWorkspace[T]()
	defer putWorkspace(ws)
	xPanels, yPanels := (rows+tileRows-1)/tileRows, (cols+tileCols-1)/tileCols
	ld := yPanels * tileCols
	sum := ws.sum[:xPanels*tileRows*ld]
	if p.k == 0 {
		clear(sum)
	}
	for k0 := 0; k0 < p.k; k0 += p.depth {
		kc := min(p.depth, p.k-k0)
		p.x.pack(ws.x[:], &ws.rooms, batch, i0, rows, k0, kc, tileRows)
		p.y.pack(ws.y[:], &ws.rooms, batch, j0, cols, k0, kc, tileCols)
		if p.flushes {
			flushAll(ws.x[:xPanels*tileRows*kc])
			flushAll(ws.y[:yPanels*tileCols*kc])
		}
		for i := range xPanels {
			x := ws.x[i*tileRows*kc:][:tileRows*kc]
			for j := range yPanels {
				y := ws.y[j*tileCols*kc:][:tileCols*kc]
				c := sum[i*tileRows*ld+j*tileCols:]
				p.sums(c, ld, k0 == 0, x, y)
			}
		}
	}
	for i := range rows {
		lo, row := (batch*p.m+i0+i)*p.n+j0, sum[i*ld:][:cols]
		if p.bias != nil {
			add(row, row, p.bias.at(lo, ws.rooms[0][:cols]), nil, 0, 0)
		}
		out := p.dst.room(lo, row)
		copy(out, row)
		p.dst.put(lo, out)
	}
}

// sumsOf returns the function that adds the products of a block.
func sumsOf[T number](d driver.DType) func(c []T, ld int, first bool, x, y []T) {
	var f any
	switch d {
	case driver.Float32:
		f = tiled(fusedSums)
	case driver.BFloat16:
		f = blockSums
	default: // products of float16 are exact
		f = tiled(sums[T])
	}
	return f.(func(c []T, ld int, first bool, x, y []T))
}

// workspace holds the packed operands and the sums of an item.
type workspace[T number] struct {
	x     [itemRows * chunk]T
	y     [itemCols * chunk]T
	sum   [itemRows * itemCols]T
	rooms [tileRows][chunk]T
}

var workspace32, workspace64, workspaceInt sync.Pool

func workspaces[T number]() *sync.Pool {
	switch any(T(0)).(type) {
	case float64:
		return &workspace64
	case int64:
		return &workspaceInt
	}
	return &workspace32
}

func getWorkspace[T number]() *workspace[T] {
	if ws, ok := workspaces[T]().Get().(*workspace[T]); ok {
		return ws
	}
	return new(workspace[T])
}

func putWorkspace[T number](ws *workspace[T]) { workspaces[T]().Put(ws) }
