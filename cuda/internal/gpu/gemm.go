//go:build cuda && linux && cgo

package gpu

import (
	"fmt"

	"halfnote/cuda/kernels"
	"halfnote/tensor/driver"
)

func init() {
	offer(family{offersProduct, func(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
		b.multiply(k, dst, src, 1, 1, 1)
	}}, driver.Matmul)
	offer(family{offersProduct, func(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
		p := driver.ParamsOf[driver.ContractParams](k)
		b.multiply(k, dst, src, p.Rows, p.Columns, p.Sum)
	}}, driver.Contract)
}

func offersProduct(_ driver.Code, dst driver.DType, src []driver.DType) bool {
	if len(src) < 2 || len(src) > 3 || src[0].IsStorage() || src[0] == driver.Bool || src[1] != src[0] {
		return false
	}
	wide := dst == driver.Float32 && src[0].IsFloat() && src[0].Size() == 2
	return (dst == src[0] || wide) && (len(src) == 2 || src[2] == src[0] || src[2] == dst)
}

// multiply computes a product of views, with m, n and k axes.
func (b *Backend) multiply(k driver.Kernel, dst driver.View, src []driver.View, m, n, depth int) {
	if dst.Len() == 0 {
		return
	}
	p := productOf(dst, src, m, n, depth)
	p.tf32 = p.dtype == driver.Float32 && (k.High || b.tf32.Load())
	p.check(b.name, k.Code)
	if !p.fits() {
		b.multiplyCopies(k, dst, src)
		return
	}
	b.product(&p, dst, src)
}

// multiplyCopies is multiply for views with too many axes: it copies them first.
func (b *Backend) multiplyCopies(k driver.Kernel, dst driver.View, src []driver.View) {
	whole := func(v driver.View) driver.View {
		n := v.Len()
		room, err := b.AllocUnset(n * v.DType.Size())
		b.must(err)
		w := driver.View{Buffer: room, DType: v.DType, Shape: v.Shape, Stride: make([]int, len(v.Shape))}
		for i, step := len(v.Shape)-1, 1; i >= 0; i-- {
			w.Stride[i] = step
			step *= v.Shape[i]
		}
		return w
	}
	to := whole(dst)
	defer b.Release(to.Buffer)
	copies := make([]driver.View, len(src))
	for i, v := range src {
		copies[i] = whole(v)
		defer b.Release(copies[i].Buffer)
		b.Run(driver.Kernel{Code: driver.Copy}, copies[i], v)
	}
	b.Run(k, to, copies...)
	b.Run(driver.Kernel{Code: driver.Copy}, dst, to)
}

// route is a set of ways to compute products.
type route int

const (
	simt      route = 1 << iota // kernels for every GPU
	mma                         // kernels for tensor cores
	library                     // cublasLt
	allRoutes = simt | mma | library
)

// product takes the fastest available route. On each route, shapes and strides alone determine
// the order of summation.
func (b *Backend) product(p *product, dst driver.View, src []driver.View) {
	major, _ := b.device.Capability()
	half := p.dtype.IsFloat() && p.dtype.Size() == 2
	tensor := major >= 8 && (half || p.tf32)
	switch {
	case b.routes&library != 0 && b.productByLibrary(p, dst, src):
	case b.routes&mma != 0 && tensor:
		b.productByMMA(p)
	default:
		b.productBySIMT(p)
	}
}

// tile is the part of a result that a block of threads computes.
type tile struct{ m, n int }

var largeTile, longTile, smallTile = tile{128, 128}, tile{64, 256}, tile{64, 64}

// tiling is the division of a product into tiles and slices.
type tiling struct {
	tile
	tiles         int
	slices, depth int // number and depth of slices of k
}

// busyBlocks is the number of blocks that keep a GPU busy. It is a constant, so that sums have
// the same order on all GPUs.
const busyBlocks = 128

// tilingOf returns the first suitable tile for a product, or the last one, the smallest, and
// slices of k if there are few tiles. Large tiles read less memory; a long k compensates for
// their small number.
func (p *product) tilingOf(busy int, tiles ...tile) tiling {
	const (
		least = 256  // minimum products of a slice
		worth = 2048 // products of a slice whose final sums take comparatively little time
	)
	count := func(t tile) int { return (p.m + t.m - 1) / t.m * ((p.n + t.n - 1) / t.n) * p.batches }
	t := tiling{tile: smallTile, slices: 1}
	for _, better := range tiles {
		if better.suits(p) && count(better)*max(1, p.k/worth) >= busy*3/4 {
			t.tile = better
			break
		}
	}
	t.tiles = count(t.tile) / p.batches
	each, enough := least, busy/2
	if t.tile != smallTile {
		each, enough = worth, busy*3/2
	}
	if blocks := t.tiles * p.batches; blocks <= enough {
		t.slices = min(max(1, p.k/each), max(2, 2*busy/blocks), max(1, 1<<24/(p.m*p.n*p.batches)))
	}
	const unit = 64 // multiple of every tile's depth
	t.depth = max(unit, ((p.k+t.slices-1)/t.slices+unit-1)/unit*unit)
	t.slices = max(1, (p.k+t.depth-1)/t.depth)
	return t
}

// suits reports whether most of the tiles' area lies inside the product.
func (t tile) suits(p *product) bool {
	if t == longTile {
		return p.m <= t.m && 3*((p.n+t.n-1)/t.n*t.n) <= 4*p.n
	}
	return p.m > t.m/2 && p.n > t.n/2
}

// productBySIMT multiplies with the kernels of gemm_simt.cuh.
func (b *Backend) productBySIMT(p *product) {
	tiles := []tile{smallTile}
	if p.dtype.IsFloat() && p.dtype != driver.Float64 {
		tiles = []tile{largeTile, smallTile}
	}
	t := p.tilingOf(b.busy, tiles...)
	module := "gemm_" + p.dtype.String()
	b.launchTiles(p, p.kernel(), t, kernel{module, fmt.Sprintf("gemm_%d", t.m)}, kernel{module, "slices"}, threads, 0)
}

// launchTiles enqueues the kernels for all tiles and for the sums of slices.
func (b *Backend) launchTiles(p *product, g *gemm, t tiling, tiles, slices kernel, threads, shared uint32) {
	g.slices, g.depth = uint32(t.slices), uint32(t.depth)
	if t.slices > 1 {
		sum := p.dtype.Wide()
		if sum == driver.Int64 && p.dtype != sum {
			sum = driver.Int32
		}
		room, err := b.AllocUnset(t.slices * p.batches * p.m * p.n * sum.Size())
		b.must(err)
		defer b.Release(room)
		g.parts, g.d = bufferOf(room).at(), bufferOf(room).at()
	}
	const most = 65535 // limit of a grid's z
	for first := 0; first < p.batches; first += most {
		g.first = uint32(first)
		args := newArgs()
		args.Bytes(bytesOf(g))
		b.launch(tiles, [3]uint32{uint32(t.tiles), uint32(t.slices), uint32(min(most, p.batches-first))}, [3]uint32{threads, 1, 1}, shared, args)
	}
	if t.slices > 1 {
		g.d = p.d.at
		args := newArgs()
		args.Bytes(bytesOf(g))
		b.launchItems(slices, p.batches*p.m*p.n, args)
	}
}

// productByMMA multiplies with the kernels of gemm_mma.cuh.
func (b *Backend) productByMMA(p *product) {
	g := p.kernel()
	layout := func(along uint32) string {
		if g.flags&along != 0 {
			return "k"
		}
		return "l"
	}
	kind, module, tiles := "gathered", "mma_any_", []tile{largeTile, smallTile}
	if g.flags&vectorsA != 0 && g.flags&vectorsB != 0 {
		switch {
		case len(p.a.depth) < 2 && len(p.b.depth) < 2:
			kind, module = "pipelined", "mma_"
		case p.a.depth.near() && p.b.depth.near():
			kind, module = "windowed", "mma_window_"+layout(alongA)+"_"
			tiles = []tile{largeTile, longTile, smallTile}
		}
	}
	t := p.tilingOf(b.busy, tiles...)
	name, shared := p.dtype.String(), uint32(0)
	if p.dtype == driver.Float32 {
		name = "tf32"
	}
	if kind == "windowed" {
		shared = uint32(kernels.WindowedShared(t.m, t.n, p.dtype.Size()))
	}
	multiply := kernel{module + name, fmt.Sprintf("%s_%dx%d_%s%s", kind, t.m, t.n, layout(alongA), layout(alongB))}
	b.launchTiles(p, g, t, multiply, kernel{"gemm_" + p.dtype.String(), "slices"}, uint32(min(256, t.m*t.n/32)), shared)
}
