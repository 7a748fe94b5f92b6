//go:build cuda && linux && cgo

package gpu

import (
	"encoding/binary"
	"math"
	"time"

	"halfnote/cuda/internal/drv"
	"halfnote/tensor/driver"
)

// updates measures updates of the parameters of three layers of 4096 by 4096, which exceed the L2
// cache.
func (f *figures) updates() {
	const layers = 3
	wide := f.pick(4096, 24)
	numbers := float64(layers * wide * wide)
	of := func(d driver.DType) (list []driver.View) {
		for range layers {
			list = append(list, f.view(d, wide, wide))
		}
		return list
	}
	p, g, m, v, half := of(driver.Float32), of(driver.Float32), of(driver.Float32), of(driver.Float32), of(driver.Float16)
	for _, s := range v { // means of squares are not negative
		f.b.Run(driver.Kernel{Code: driver.Abs}, s, s)
	}
	var found, rows []driver.View
	flag, row := f.view(driver.Float32, 1), f.view(driver.Float64, 4)
	row.Shape, row.Stride = []int{4}, []int{1}
	for i, x := range []float64{2, 1, 1e-6, 1.5} { // steps, whether to take one, rate, scale
		f.b.Write(row.Buffer, 8*i, binary.NativeEndian.AppendUint64(nil, math.Float64bits(x)))
	}
	for range layers {
		found, rows = append(found, flag), append(rows, row)
	}
	copied := f.onGPU(func() { f.run(driver.Kernel{Code: driver.Copy}, p, g) })
	best := 8 * numbers / copied.Seconds()
	const rate = 1e-6
	adam := driver.Kernel{Params: driver.AdamParams{Rate: rate, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, Scale: 1.5}}
	kernel := func(c driver.Code, k driver.Kernel) driver.Kernel {
		k.Code = c
		return k
	}
	type views = [][]driver.View
	for _, r := range []struct {
		what  string
		bytes float64 // bytes read and written per parameter
		k     driver.Kernel
		dst   []driver.View
		src   views
	}{
		{"copy", 8, driver.Kernel{Code: driver.Copy}, p, views{g}},
		{"weights to float16", 6, driver.Kernel{Code: driver.Copy}, half, views{p}},
		{"gradients from float16", 6, driver.Kernel{Code: driver.Copy}, g, views{half}},
		{"zeros", 4, driver.Kernel{Code: driver.Fill}, m, nil},
		{"ones", 4, driver.Kernel{Code: driver.Fill, Alpha: 1}, m, nil},
		{"unscale of float32", 8, driver.Kernel{Code: driver.Unscale, Alpha: 1 + 0x1p-20}, g, views{found}},
		{"inf check of float32", 4, driver.Kernel{Code: driver.Unscale, Alpha: 1}, g, views{found}},
		{"inf check of float16", 2, driver.Kernel{Code: driver.Unscale, Alpha: 1}, half, views{found}},
		{"SGD", 12, driver.Kernel{Code: driver.SGD, Params: driver.SGDParams{Rate: rate}}, p, views{g}},
		{"SGD, float16 copy", 14, driver.Kernel{Code: driver.SGD, Params: driver.SGDParams{Rate: rate}}, p, views{g, half}},
		{"momentum", 20, driver.Kernel{Code: driver.SGD, Params: driver.SGDParams{Rate: rate, Momentum: 0.9}}, p, views{g, m}},
		{"momentum, float16 copy", 22, driver.Kernel{Code: driver.SGD, Params: driver.SGDParams{Rate: rate, Momentum: 0.9}}, p, views{g, m, half}},
		{"guarded momentum, float16 copy", 22, driver.Kernel{Code: driver.GuardedSGD, Params: driver.SGDParams{Momentum: 0.9}}, p, views{rows, g, m, half}},
		{"Adam", 28, kernel(driver.Adam, adam), p, views{g, m, v}},
		{"Adam, float16 copy", 30, kernel(driver.Adam, adam), p, views{g, m, v, half}},
		{"guarded Adam, float16 copy", 30, kernel(driver.GuardedAdam, adam), p, views{rows, g, m, v, half}},
	} {
		t := f.onGPU(func() { f.run(r.k, r.dst, r.src...) })
		f.micros(t, "update %s, %.0f parameters of %.0f bytes", r.what, numbers, r.bytes)
		f.say(100*r.bytes*numbers/t.Seconds()/best, "%", "update %s, rate relative to a copy's", r.what)
	}
	for _, list := range (views{p, g, m, v, half, {flag, row}}) {
		f.release(list...)
	}
}

// run runs a kernel on several tensors in one batch.
func (f *figures) run(k driver.Kernel, dst []driver.View, src ...[]driver.View) {
	list := make([]driver.Launch, len(dst))
	for i, v := range dst {
		list[i] = driver.Launch{Kernel: k, Dst: v}
		for _, s := range src {
			list[i].Src = append(list[i].Src, s[i])
		}
	}
	f.b.RunAll(list)
}

// copies measures copies within the GPU, and between it and the host, alone and concurrently with
// products.
func (f *figures) copies() {
	n := f.pick(1<<27, len(f.random))
	x, y := f.view(driver.Float32, n), f.view(driver.Float32, n)
	t := f.onGPU(func() { f.b.Run(driver.Kernel{Code: driver.Copy}, x, y) })
	f.rate(float64(8*n), t, "TB/s", "copy within the GPU, %d bytes read and written", 4*n)
	t = f.onGPU(func() { f.b.Run(driver.Kernel{Code: driver.Add}, x, x, y) })
	f.rate(float64(12*n), t, "TB/s", "add within the GPU, %d bytes read and written", 4*n)
	f.release(y)

	p := f.bytes
	pinned, err := f.b.device.Pinned(len(p))
	f.must(err)
	defer func() { f.must(pinned.Free()) }()
	copy(pinned.Bytes(), p)
	gigabytes := func(t time.Duration, what string) {
		f.say(float64(len(p))/t.Seconds()/1e9, "GB/s", "%s, %d bytes", what, len(p))
	}
	in := func(s *drv.Stream) func() {
		return func() { f.must(s.CopyIn(pointer(x), pinned, 0, len(p))) }
	}
	gigabytes(f.onGPU(in(f.b.stream.Stream)), "from pinned memory")
	gigabytes(f.onGPU(func() { f.must(f.b.stream.CopyOut(pinned, 0, pointer(x), len(p))) }), "to pinned memory")
	write, read := func() { f.b.Write(x.Buffer, 0, p) }, func() { f.b.Read(p, x.Buffer, 0) }
	alone := f.wall(write)
	gigabytes(alone, "Write through the pinned ring")
	gigabytes(f.onCPU(1, write), "Write until it returns")
	gigabytes(f.wall(read), "Read through the pinned ring")

	wide := f.pick(4096, 16)
	a, b := f.view(driver.Float16, wide, wide), f.view(driver.Float16, wide, wide)
	to := f.view(driver.Float16, wide, wide)
	product := func() { f.b.Run(driver.Kernel{Code: driver.Matmul}, to, a, b) }
	own, err := f.b.device.NewStream()
	f.must(err)
	defer func() { f.must(own.Free()) }()
	each := f.onGPU(product)
	for _, c := range []struct {
		what  string
		copy  func()
		alone time.Duration
	}{
		{"Write", write, alone},
		{"copy from pinned memory on its own stream", in(own), f.wall(in(own))},
	} {
		products := func() { // take about as long as the copy
			for range max(1, c.alone/each) {
				product()
			}
		}
		compute := f.wall(products)
		both := f.wall(func() {
			products()
			c.copy()
		})
		f.millis(c.alone, "%s, alone", c.what)
		f.millis(both, "%s, with products of %.4g ms", c.what, compute.Seconds()*1e3)
		f.say(100*(c.alone+compute-both).Seconds()/min(c.alone, compute).Seconds(), "%", "%s, share hidden behind products", c.what)
	}
	f.release(x, a, b, to)
}
