package cpu

import (
	"runtime"
	"unsafe"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/asm"
)

// convolution is a convolution of bfloat16 by a tier's [asm.Windows]. The columns of a tile are the same place in 16
// images, which meet the same elements of the kernel. So the elements that meet zeros around an image are left out, and
// B is read in place from a copy of the images in the order (place, channel, image).
//
// The places of the first axis are divided into bands, and the images into blocks of 16. An item computes a band of a
// block, for all channels of the result or for some. Its copy of the images stays in the second cache.
type convolution struct {
	tier    *asm.Tier
	x, dst  driver.View // (n, c, sizes…) and (n, o, places…)
	n, c, o int
	axes    [windowAxes]windowAxis
	taps    int // elements of the kernel
	weight  windowWeight
	bias    []float32 // nil without a bias
	pixel   int       // bytes of an element of the copy: all channels of 16 images
	band    int       // places of the first axis in a band
}

// Sizes of the work, the best ones measured. They do not affect results.
const (
	windowAxes    = 3                 // most axes of places
	windowColumns = 16                // images of a block
	windowLine    = 2 * windowColumns // bytes of their results
	windowBytes   = 11 << 16          // of the copy of a band, if it has several places
	windowMost    = 1 << 21           // and if it has one
	windowMin     = 1 << 20           // multiplications from which on a convolution is worth the copies
)

// Convolve implements [driver.Convolver].
func (b *Backend) Convolve(p driver.Window, dst, w, x driver.View, bias *driver.View) bool {
	if b.tier == nil || b.tier.Windows == nil || dst.DType != driver.BFloat16 || w.DType != driver.BFloat16 || x.DType != driver.BFloat16 {
		return false
	}
	c, ok := newConvolution(b.tier, p, dst, w, x)
	if !ok {
		return false
	}
	if bias != nil {
		r := read[float32](*bias)
		c.bias = make([]float32, c.o+1) // a panel may have one row more
		for i := 0; i < c.o; i += chunk {
			part := c.bias[i:min(c.o, i+chunk)]
			copy(part, r.at(i, part))
		}
	}
	done := c.run(b)
	runtime.KeepAlive(c)
	runtime.KeepAlive(bias)
	return done
}

// newConvolution returns a convolution without its bias. ok is false if it is not one for these kernels, or if the
// product of padded images is faster.
func newConvolution(t *asm.Tier, p driver.Window, dst, w, x driver.View) (c *convolution, ok bool) {
	c = &convolution{tier: t, x: x, dst: dst, n: x.Shape[0], c: x.Shape[1], o: dst.Shape[1], taps: 1}
	dims := len(p.Stride)
	if dims > windowAxes || c.c == 0 || c.c%asm.TileBlock != 0 || !denseFrom(x, 2) || !denseFrom(dst, 2) || !denseFrom(w, 2) {
		return nil, false
	}
	for i := range c.axes {
		c.axes[i] = windowAxis{size: 1, kernel: 1, meets: []span{{0, 1}}}
	}
	met, all := 1, 1 // pairs of a place and an element of the kernel: those that meet the image, and all
	for i := range dims {
		a := &c.axes[axisOf(i, dims)]
		*a = windowAxis{size: x.Shape[2+i], kernel: w.Shape[2+i], stride: p.Stride[i], dilation: p.Dilation[i], before: p.Before[i]}
		pairs, ok := a.meet(dst.Shape[2+i])
		if !ok {
			return nil, false
		}
		c.taps *= a.kernel
		met *= pairs
		all *= len(a.meets) * a.kernel
	}
	if c.taps == 1 || c.blocks()*windowColumns*met > c.n*all || c.n*all*c.c*c.o < windowMin {
		return nil, false
	}
	c.weight = newWindowWeight(w, c.taps)
	c.pixel = c.c*windowLine + 64 // so that a channel of neighbours does not fall on the same lines of the first cache
	c.band = len(c.axes[0].meets)
	for c.band > 1 && c.copied()*c.pixel > windowBytes {
		c.band = (c.band + 1) / 2
	}
	return c, c.copied()*c.pixel <= windowMost
}

// denseFrom reports whether the axes of v from one on are contiguous in row-major order.
func denseFrom(v driver.View, axis int) bool {
	v.Shape, v.Stride = v.Shape[axis:], v.Stride[axis:]
	return v.Contiguous()
}

// blocks returns the number of blocks.
func (c *convolution) blocks() int { return (c.n + windowColumns - 1) / windowColumns }

// bands returns the number of bands.
func (c *convolution) bands() int { return (len(c.axes[0].meets) + c.band - 1) / c.band }

// places returns the places of a band.
func (c *convolution) places(band int) span {
	return span{band * c.band, min((band+1)*c.band, len(c.axes[0].meets))}
}

// copied returns the largest number of elements of an image that a band meets.
func (c *convolution) copied() int {
	most := 0
	for band := range c.bands() {
		most = max(most, c.axes[0].elements(c.places(band)).len())
	}
	return most * c.axes[1].size * c.axes[2].size
}

// run computes the convolution. It reports false if the weight is not finite.
func (c *convolution) run(b *Backend) bool {
	blocks, bands, panels, workers := c.blocks(), c.bands(), c.weight.panels, b.workers()
	parts := 1 // of the panels
	if workers > 1 {
		parts = min(panels, (2*workers+blocks*bands-1)/(blocks*bands))
	}
	each := (panels + parts - 1) / parts
	parts = (panels + each - 1) / each
	if blocks*bands > 1 {
		defer c.weight.packAll(c.tier, b).give()
		if !c.weight.finite() {
			return false
		}
	}
	b.eachPolling(blocks*bands*parts, func(i int, poll func()) {
		room := windowRooms.take(0)
		defer windowRooms.give(0, room)
		block, band, part := i/(bands*parts), i/parts%bands, i%parts
		c.item(room, block, band, span{part * each, min(panels, (part+1)*each)}, poll)
	})
	return c.weight.finite()
}

// windowRoom is the working memory of an item.
type windowRoom struct {
	bytes  *workBuffer
	taps   []asm.Tap
	tiles  []windowTile
	single []int // tiles of one place
	window asm.Window
	weave  asm.Weave
}

var windowRooms objectPool[windowRoom]

// item computes panels of a band of a block.
func (c *convolution) item(room *windowRoom, block, band int, panels span, poll func()) {
	rows := c.places(band)
	elements := c.axes[0].elements(rows)
	inside := elements.len() * c.axes[1].size * c.axes[2].size
	places := rows.len() * len(c.axes[1].meets) * len(c.axes[2].meets)
	const tile = panelRows * 2 * 64
	sums, panel := panelRows*places*windowLine+64, c.weight.roomFor()
	room.bytes = takeBytes(tile + sums + panel + inside*c.pixel)
	defer func() {
		room.bytes.give()
		room.bytes, room.window, room.weave = nil, asm.Window{}, asm.Weave{}
	}()
	sumsAt := unsafe.Add(room.bytes.base, tile)
	panelAt := unsafe.Add(sumsAt, sums)
	copyAt := unsafe.Add(panelAt, panel)
	room.weave.Room = room.bytes.base
	poll()
	c.copy(&room.weave, copyAt, block, elements.first*c.axes[1].size*c.axes[2].size, inside)
	c.tiles(room, rows, elements.first)
	w := &room.window
	*w = asm.Window{Blocks: c.c / asm.TileBlock, RowA: c.weight.line, B: copyAt, Room: room.bytes.base, Ldc: places * windowLine}
	for p := panels.first; p < panels.end; p++ {
		poll()
		first := p * panelRows
		height := min(panelRows, c.o-first)
		w.A, w.Next = c.weight.panel(c.tier, &room.weave, p, panelAt), c.weight.ahead(min(p+1, panels.end-1))
		if c.bias != nil {
			w.Bias = unsafe.Pointer(&c.bias[first])
		}
		for i := range room.tiles {
			t := &room.tiles[i]
			w.Taps, w.Tap, w.Zero, w.Apart = len(t.taps), &t.taps[0], t.zero, t.apart
			w.C, w.ApartC = unsafe.Add(sumsAt, t.place*windowLine), t.apartC
			c.tier.Windows[t.columns][(height+1)/2*2](w)
			w.Next += uintptr(w.Taps * w.Blocks * asm.WindowNext)
		}
		c.store(&room.weave, sumsAt, block, rows.first*(places/rows.len()), places, first, height)
	}
}

// copy copies count elements of the images of a block, from element first on. Slots hold the channels that [asm.Tier]
// defines.
func (c *convolution) copy(w *asm.Weave, to unsafe.Pointer, block, first, count int) {
	const size = 2
	channel := c.x.Stride[1] * size
	from := unsafe.Add(baseOf(c.x), (c.x.Offset+block*windowColumns*c.x.Stride[0]+first)*size)
	for i := 0; i < count; i += asm.WeaveMost {
		for slot := range 2 {
			*w = asm.Weave{
				Src: unsafe.Add(from, i*size+(slot+2)*channel), Stride: c.x.Stride[0] * size, Second: -2 * channel, SrcStep: 4 * channel,
				Dst: unsafe.Add(to, i*c.pixel+slot*64), DstStride: c.pixel, DstStep: 2 * 64,
				Lines: c.images(block), N: min(asm.WeaveMost, count-i), Words: 32, Times: c.c / 4, Room: w.Room,
			}
			c.tier.Selects.Weave(w)
		}
	}
}

// images returns the number of images of a block.
func (c *convolution) images(block int) int { return min(windowColumns, c.n-block*windowColumns) }

// store stores results of count places, from place first on, for a number of channels of dst, from channel on.
func (c *convolution) store(w *asm.Weave, from unsafe.Pointer, block, first, count, channel, channels int) {
	const size = 2
	to := unsafe.Add(baseOf(c.dst), (c.dst.Offset+block*windowColumns*c.dst.Stride[0]+channel*c.dst.Stride[1]+first)*size)
	for i := 0; i < count; i += 32 {
		n := min(32, count-i)
		*w = asm.Weave{
			Src: unsafe.Add(from, i*windowLine), Stride: 2 * windowLine, Second: windowLine, SrcStep: count * windowLine,
			Dst: unsafe.Add(to, i*size), DstStride: c.dst.Stride[0] * size, DstStep: c.dst.Stride[1] * size,
			Lines: (n + 1) / 2, N: c.images(block), Words: n, Times: channels, Room: w.Room,
		}
		c.tier.Selects.Weave(w)
	}
}
