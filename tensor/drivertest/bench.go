package drivertest

import (
	"fmt"
	"testing"

	"halfnote/tensor/driver"
)

// Bench measures matrix products in GFLOP/s and elementwise passes in GB/s, counting the bytes
// of every operand once.
func Bench(b *testing.B, backend driver.Backend) {
	for _, d := range dtypes {
		for _, s := range [][3]int{{64, 64, 64}, {512, 512, 512}, {512, 1024, 2048}} {
			for _, kind := range []string{"NN", "NT", "TN"} {
				b.Run(fmt.Sprintf("matmul/%v/%dx%dx%d/%s", d, s[0], s[1], s[2], kind), func(b *testing.B) {
					benchProduct(b, backend, d, s[0], s[1], s[2], kind)
				})
			}
		}
	}
	for _, d := range dtypes {
		for code := driver.Copy; code <= driver.SGD; code++ {
			if code == driver.Matmul || code == driver.Optional {
				continue
			}
			b.Run(fmt.Sprintf("%v/%v", code, d), func(b *testing.B) { benchPass(b, backend, code, d, dense) })
		}
		to := driver.Float32
		if d == to {
			to = driver.Float16
		}
		b.Run(fmt.Sprintf("copy/%v-%v", d, to), func(b *testing.B) { benchPass(b, backend, driver.Copy, d, dense, to) })
		b.Run(fmt.Sprintf("copy/%v/transposed", d), func(b *testing.B) { benchPass(b, backend, driver.Copy, d, reversed) })
	}
}

func benchProduct(b *testing.B, backend driver.Backend, d driver.DType, m, n, k int, kind string) {
	layouts := map[byte]strategy{'N': dense, 'T': reversed}
	x := place(b, backend, d, []int{m, k}, layouts[kind[0]], random(10007))
	y := place(b, backend, d, []int{k, n}, layouts[kind[1]], random(10009))
	dst := newView(b, backend, d, []int{m, n}, dense)
	for b.Loop() {
		backend.Run(driver.Kernel{Code: driver.Matmul}, dst, x, y)
	}
	backend.Synchronize()
	b.ReportMetric(2*float64(m*n*k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

// benchPass runs code over 2^20 elements, converted to another dtype if one is given.
func benchPass(b *testing.B, backend driver.Backend, code driver.Code, d driver.DType, s strategy, to ...driver.DType) {
	shape := []int{1 << 10, 1 << 10}
	n := operands(code)
	if code == driver.SGD {
		n = 2
	}
	src := make([]driver.View, n)
	list := make([]driver.DType, n)
	for i := range src {
		src[i] = place(b, backend, d, shape, s, random(4099))
		list[i] = d
	}
	to = append(to, d)
	dst := newView(b, backend, to[0], shape, dense)
	switch {
	case code >= driver.Sum && code <= driver.ReduceMin:
		dst = newView(b, backend, d, []int{1, 1}, dense)
	case code == driver.Unscale:
		src[0] = place(b, backend, driver.Float32, []int{1}, dense, []float64{0})
		list[0] = driver.Float32
	}
	if !backend.Offers(code, dst.DType, list...) {
		b.Skipf("%v of %v: not offered", code, d)
	}
	set(backend, dst, random(4099))
	size := dst.Len() * dst.DType.Size()
	for _, v := range src {
		size += v.Len() * v.DType.Size()
	}
	k := driver.Kernel{Code: code, Alpha: 1.5, Beta: 0.5}
	if code == driver.SGD {
		k.Params = driver.SGDParams{Rate: 1.5, Momentum: 0.5}
	}
	for b.Loop() {
		backend.Run(k, dst, src...)
	}
	backend.Synchronize()
	b.ReportMetric(float64(size)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GB/s")
}
