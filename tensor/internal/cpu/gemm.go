package cpu

import (
	"unsafe"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/asm"
)

// gemm is a batch of products of float32, float16 or bfloat16 matrices, computed with a tier's
// kernels. [product.multiply] defines the elements.
//
// A is packed first, with all of k, for as many rows as fit. Then each item computes a strip of
// columns of C for those rows, and packs B one panel at a time just before its use. k is never split
// between items.
type gemm struct {
	tier    *asm.Tier
	f32     []asm.Tile
	bf16    []asm.Blocks
	m, n, k int
	depth   int  // elements of k that are packed at a time
	pairs   bool // slots hold two elements of k
	tiles   bool // panels are for [asm.Tiles]
	mr, nr  int  // rows and columns of a tile of C, and of panels of A and B
	rows    int  // most rows of an item
	cols    int  // and columns
	x, y    operand
	splits  [2]splitting // of x and y, for float32 products of high precision
	dst     result
	columns []asm.Stretch // columns of B, for [gemm.multiplyDots]
}

// Sizes of work items, the best ones measured. They do not affect results.
const (
	stripCols   = 256       // columns of an item
	stripRows   = 700       // and rows: 50 panels of 14, of which a block of k is 1.4 MB
	stripPanels = 8         // fewest panels of rows of an item where there are several for each worker
	chunkSize   = 64 << 20  // bytes of A that are packed at once
	minParallel = 1 << 20   // multiplications below which one worker is faster
	maxUnpolled = 16 << 20  // and below which a worker computes a matrix of a batch without a poll: at most two milliseconds
	minShared   = 64 << 20  // and from which on all workers compute one matrix of a batch
	inPlace     = 32 << 10  // elements of an operand that may be read in place
	inPlaceRow  = 1 << 10   // bytes between rows of such a B, so that they do not evict each other from the cache
	inPlaceFew  = 256 << 10 // elements of B that may be read in place for few rows
	streamed    = 256 << 10 // elements of C from which it is written with non-temporal stores
	callSlots   = 16 << 10  // slots of panels that are multiplied in a call, which takes a tenth of a millisecond
)

// newGemm returns the product dst = src[0] times src[1] plus an optional src[2]. The tier must support
// it. high is for products of float32 ([driver.Kernel].High).
func newGemm(t *asm.Tier, f contraction, high bool, dst driver.View, src []driver.View) *gemm {
	x, y := src[0], src[1]
	xLows, yLows := firstLows, secondLows
	if computesTransposed(t, f, dst, y) {
		xLows, yLows = yLows, xLows
		x, y, dst = swapAxes(y, f.k, f.n), swapAxes(x, f.m, f.k), swapAxes(dst, f.m, f.n)
		src = append([]driver.View{x, y}, src[2:]...)
		if len(src) == 3 {
			src[2] = swapAxes(src[2], f.m, f.n)
		}
		f.m, f.n = f.n, f.m
	}
	g := gemms.take(0)
	g.tier, g.f32, g.depth, g.mr, g.nr, g.rows, g.cols = t, t.F32, depth(x.DType), t.Rows, t.Cols, stripRows, stripCols
	unit, parts := asm.TileBlock, 1 // of elements along k, and their number for each of an operand
	if high {
		unit, parts = splitUnit, len(lows{})
		g.depth = depth(driver.BFloat16) / unit * unit
	}
	if high || x.DType == driver.BFloat16 {
		g.f32, g.bf16, g.pairs = nil, t.BF16, t.Pairs
		g.tiles = t.Tiles != nil && g.chooseTiles(f, dst, x, unit, parts)
	}
	g.x, g.y = operandOf(t, x, f.m, f.k), operandOf(t, swapAxes(y, f.k, f.n), f.n, f.k)
	g.x.arrange(g.depth/parts, true)
	g.y.arrange(g.depth/parts, false)
	if high {
		g.x, g.y = g.splitOf(&g.splits[0], g.x, xLows), g.splitOf(&g.splits[1], g.y, yLows)
	}
	g.m, g.n, g.k = g.x.lines.len(), g.y.lines.len(), g.x.inner.len()
	g.dst = resultOf(f, dst, src[2:])
	g.columns = g.dots()
	if g.tiles {
		g.cols = colsOf(g.dst.columns.run(), g.n)
		g.x.useTiles(t, g.depth)
		g.y.useTiles(t, g.depth)
	}
	return g
}

// gemms holds products for reuse, because allocating a small one takes longer than computing it.
var gemms objectPool[gemm]

func (g *gemm) give() {
	*g = gemm{}
	gemms.give(0, g)
}

// computesTransposed reports whether the transposed product is faster: if C is transposed or has
// very few columns, or if it has few rows and B's many columns can then be read in place.
func computesTransposed(t *asm.Tier, f contraction, dst, y driver.View) bool {
	r := len(dst.Shape)
	down, across := axesOf(dst, r-f.n-f.m, f.m), axesOf(dst, r-f.n, f.n)
	m, n := down.len(), across.len()
	if across.run() == 1 && down.run() > 1 || n == 1 || n <= 4 && m >= t.Cols {
		return true
	}
	return f == contraction{1, 1, 1} && t.Direct != nil && m > 4 && m <= t.Cols && n > 4*m && y.DType == driver.Float32 && y.Stride[r-2] == 1 && y.Stride[r-1] != 1
}

// slots returns the number of slots of kc elements of k.
func (g *gemm) slots(kc int) int {
	switch {
	case g.tiles:
		return (kc + asm.TileBlock - 1) / asm.TileBlock * (asm.TileBlock / 2)
	case g.pairs:
		return (kc + 3) / 4 * 2
	}
	return kc
}

// run computes all matrices of the batch. All workers share each large matrix; small ones are computed
// in groups.
func (g *gemm) run(b *Backend) {
	work, batches := g.m*g.n*g.k, g.dst.batch.len()
	if batches > 1 && work < minShared {
		group := max(1, minParallel/work)
		b.eachPolling((batches+group-1)/group, func(i int, poll func()) {
			for batch := i * group; batch < min(batches, (i+1)*group); batch++ {
				if work < maxUnpolled {
					poll()
					g.multiply(batch, 1, nil)
				} else {
					g.multiply(batch, 1, serial(poll))
				}
			}
		})
		return
	}
	if work < minParallel {
		driver.Poll()
		g.multiply(0, 1, nil)
		return
	}
	workers, each := b.workers(), b.eachPolling
	for batch := range batches {
		g.multiply(batch, workers, each)
	}
}

// each calls item for 0 … n-1 in any order.
type each = func(n int, item func(i int, poll func()))

func serial(poll func()) each {
	return func(n int, item func(i int, poll func())) {
		poll()
		for i := range n {
			item(i, poll)
		}
	}
}

// multiply computes a matrix of the batch. A nil each is for one worker that does not poll.
func (g *gemm) multiply(batch, workers int, each each) {
	x, y := g.x.at(batch), g.y.at(batch)
	switch {
	case g.slides():
		g.multiplySliding(batch, x, y, each)
		return
	case len(g.columns) > 0:
		if each == nil {
			each = serial(func() {})
		}
		each(1, func(_ int, poll func()) { g.multiplyDots(batch, g.x.at(batch), g.y.at(batch), poll) })
		return
	}
	if g.tier.Direct != nil && x.dtype == driver.Float32 && x.even && y.even {
		few := g.m <= 2*g.tier.Rows
		small := g.n*g.k <= inPlace && g.m*g.k <= inPlace && y.along <= inPlaceRow || few && g.n*g.k <= inPlaceFew
		switch {
		case y.across == 4 && small:
			inPlaceProduct((*gemm).plain).multiply(g, batch, x, y, workers, each)
			return
		case y.across == 4 && few:
			inPlaceProduct((*gemm).short).multiply(g, batch, x, y, workers, each)
			return
		case g.m < len(g.tier.Turned) && x.along == 4 && y.along == 4:
			inPlaceProduct((*gemm).turned).multiply(g, batch, x, y, workers, each)
			return
		case g.n <= 2*g.tier.Cols && g.m > 4 && x.along == 4:
			g.multiplyNarrow(batch, x, y, workers, each)
			return
		}
	}
	most := max(4*g.mr, min(g.rows, chunkSize/(4*g.slots(g.k))))
	if each == nil {
		rows := g.chunkRows(most)
		for i0 := 0; i0 < g.m; i0 += rows {
			g.someRows(batch, x, y, i0, min(rows, g.m-i0), func() {})
		}
		return
	}
	g.multiplyPacked(batch, x, y, most, workers, each)
}

// chunkRows returns the number of rows of A that are packed at once, of at most a given number.
func (g *gemm) chunkRows(most int) int {
	chunks := (g.m + most - 1) / most
	return ((g.m+chunks-1)/chunks + g.mr - 1) / g.mr * g.mr
}

// multiplyPacked computes a matrix of the batch from packed panels. It packs at most a number of rows of A at once for each worker.
func (g *gemm) multiplyPacked(batch int, x, y operand, most, workers int, each each) {
	if parts := g.rowParts(workers, most); parts > 0 {
		rows := (g.m + parts - 1) / parts
		if g.tiles {
			rows = (rows + g.mr - 1) / g.mr * g.mr
		}
		each((g.m+rows-1)/rows, func(i int, poll func()) { g.someRows(batch, x, y, i*rows, min(rows, g.m-i*rows), poll) })
		return
	}
	rows := g.chunkRows(most)
	for i0 := 0; i0 < g.m; i0 += rows {
		g.chunk(batch, x, y, i0, min(rows, g.m-i0), workers, each)
	}
}

// rowParts returns the number of items that take rows of C, or 0 if items should take columns. A worker
// reads what another one has packed slowly. So the workers share packed rows of A only where
// packing B once for each part would cost more.
func (g *gemm) rowParts(workers, most int) int {
	if workers == 1 || g.n > g.m || g.m < 4*g.mr*workers {
		return 0
	}
	parts := (g.m + workers*most - 1) / (workers * most) * workers
	least := stripPanels * g.mr
	if g.tiles {
		least = tilesRows
	}
	if g.m >= 2*parts*least && g.y.spread == nil {
		parts *= 2 // a worker that is held up leaves the rest to the others
	}
	return parts
}

// someRows computes rows i0 … i0+rows-1 of a matrix on one worker.
func (g *gemm) someRows(batch int, x, y operand, i0, rows int, poll func()) {
	a := packedOf(g, x, i0, rows)
	defer a.free()
	for p := range a.panels {
		poll()
		a.pack(g, rows, p)
	}
	for j0 := 0; j0 < g.n; j0 += g.cols {
		g.item(batch, &a, y, i0, rows, 0, a.panels, j0, min(g.cols, g.n-j0), poll)
	}
}

// chunk computes rows i0 … i0+rows-1 of a matrix.
func (g *gemm) chunk(batch int, x, y operand, i0, rows, workers int, each each) {
	if workers == 1 {
		each(1, func(_ int, poll func()) { g.someRows(batch, x, y, i0, rows, poll) })
		return
	}
	a := packedOf(g, x, i0, rows)
	defer a.free()
	panels := a.panels
	group := max(1, min(8, panels/(2*workers), 1<<20/(g.mr*g.k))) // a few milliseconds at most
	each((panels-a.inPlace+group-1)/group, func(i int, _ func()) {
		for p := a.inPlace + i*group; p < min(panels, a.inPlace+(i+1)*group); p++ {
			a.pack(g, rows, p)
		}
	})
	cols, part := g.parts(panels, workers)
	strips := (g.n + cols - 1) / cols
	each((panels+part-1)/part*strips, func(i int, poll func()) {
		p0, j0 := i/strips*part, i%strips*cols
		g.item(batch, &a, y, i0, rows, p0, min(panels, p0+part), j0, min(cols, g.n-j0), poll)
	})
}

// parts returns the numbers of columns and of row panels of an item. Each worker gets at least two
// items.
func (g *gemm) parts(panels, workers int) (cols, part int) {
	cols, part = max(g.cols, g.nr), panels
	if workers == 1 {
		return cols, part
	}
	for cols > g.nr && g.n/cols < 2*workers {
		cols /= 2
	}
	strips := (g.n + cols - 1) / cols
	strips = (strips + workers - 1) / workers * workers // as many for each worker, of about the same width
	cols = ((g.n+strips-1)/strips + g.nr - 1) / g.nr * g.nr
	if g.n/cols < 2*workers && panels > 4 {
		part = max(4, (panels+2*workers-1)/(2*workers))
	}
	return cols, part
}

// item computes the rows of panels p0 … p1-1, counted from i0, and columns j0 … j0+cols-1. Sums of all
// blocks of k but the last are kept in a buffer. The last block stores the elements of C directly,
// except for incomplete panels and results that [result.end] does not support.
func (g *gemm) item(batch int, a *packed, y operand, i0, rows, p0, p1, j0, cols int, poll func()) {
	if g.tiles {
		g.tilesItem(batch, a, y, i0, rows, p0, p1, j0, cols, poll)
		return
	}
	mr, nr := a.lines, g.nr
	ws := takeStrip()
	defer ws.give()
	height := min(rows, p1*mr) - p0*mr
	width := (cols + nr - 1) / nr * nr
	panel, room := ws.panel(nr*g.slots(min(g.depth, g.k))), ws.tile(mr*nr)
	out, ok := g.dst.end(batch, i0+p0*mr, j0, cols, g.k <= g.depth, ws)
	whole := 0 // number of columns in whole panels, which out stores
	if ok {
		whole = cols / nr * nr
	}
	var sums unsafe.Pointer
	if g.k > g.depth || whole < width {
		sums = ws.sums(height * width)
	}
	for k0 := 0; k0 < g.k; k0 += g.depth {
		kc := min(g.depth, g.k-k0)
		slots := g.slots(kc)
		for j := 0; j < width; j += nr {
			poll()
			y.pack(panel, nr, j0+j, min(nr, cols-j), k0, kc)
			next := y.ahead(j0+j+nr, j0+cols, j0, k0, kc, g.k, nr)
			var top asm.End
			if k0+kc == g.k && j < whole {
				top = right(out, j, g.dst.size)
			} else {
				top.C, top.Ldc = unsafe.Add(sums, j*4), width*4
			}
			if k0 > 0 {
				top.Sums, top.LdSums = unsafe.Add(sums, j*4), width*4
			}
			if g.bf16 != nil {
				top.Room = room
				g.panels(ws, a, panel, k0, slots, p0, p1, height, top, next)
				continue
			}
			for p := p0; p < p1; p++ {
				i := (p - p0) * mr
				ws.end = down(top, i)
				from, step := next.lines(p-p0, slots/4)
				g.f32[min(mr, height-i)](slots, a.at(p, k0), panel, &ws.end, from, step)
			}
		}
	}
	if whole < cols {
		g.dst.put(batch, i0+p0*mr, j0+whole, unsafe.Slice((*float32)(sums), height*width)[whole:], width, cols-whole)
	}
}

// panels computes products of panels p0 … p1-1 of A in the block at k0, in all with a number of rows,
// and a panel of B. It prefetches next.
func (g *gemm) panels(ws *strip, a *packed, b unsafe.Pointer, k0, slots, p0, p1, rows int, end asm.End, next ahead) {
	t := &ws.panels
	*t = asm.Panels{K: slots, Rows: rows, A: a.at(p0, k0), B: b, StepA: a.step(k0), End: end}
	t.RowA, t.SlotA = a.strides(slots)
	for p := p0; p < p1; {
		first := (p - p0) * a.lines
		n, lines := min((rows-first)/a.lines, max(1, callSlots/slots)), a.lines
		if n == 0 {
			n, lines = 1, rows-first
		}
		t.Rows, t.A, t.End = n*lines, a.at(p, k0), down(end, first)
		t.Next, t.NextStep = next.lines(p-p0, slots/4*n)
		p += n
		g.bf16[lines](t)
	}
}
