//go:build cuda && linux && cgo

package gpu

import (
	"fmt"
	"testing"

	"halfnote/cuda/internal/fake"
	"halfnote/tensor/driver"
	"halfnote/tensor/drivertest"
)

func TestUpdates(t *testing.T) {
	drivertest.Check(t, open(t), "Unscale", "SGD", "Adam", "Batch", "Guarded", "Advance", "UpdateScale")
}

// TestManyTensors updates more tensors than one launch takes, some of which begin where 16
// bytes cannot be read at once, and compares bits with the CPU's.
func TestManyTensors(t *testing.T) {
	p := newPair(t)
	const tensors = 200
	for _, c := range []struct {
		k     driver.Kernel
		d     driver.DType
		views int
	}{
		{driver.Kernel{Code: driver.Adam, Alpha: 0.1, Beta: 1e-4, More: [5]float64{0.2, 0.7, 0.3, 0.9, 1.5}}, driver.Float32, 4},
		{driver.Kernel{Code: driver.SGD, Alpha: 0.1, Beta: 0.9, More: [5]float64{0.3, 0.4, 1, 0}}, driver.BFloat16, 3},
		{driver.Kernel{Code: driver.SGD, Alpha: 0.1}, driver.Float16, 2},
		{driver.Kernel{Code: driver.Unscale, Alpha: 0.25}, driver.Float16, 1},
		{driver.Kernel{Code: driver.Unscale, Alpha: 1}, driver.Float32, 1},
	} {
		found := p.view(driver.Float32, 1, 1, 0, []int{1}, []int{1})
		var all []twin
		var cpu, gpu []driver.Launch
		for i := range tensors {
			n := []int{1, 7, 64, 300, 8192, 8193, 20000}[min(i%40, 6)]
			var views []twin
			for range c.views {
				views = append(views, p.view(c.d, n+i%3, 0, i%3, []int{n}, []int{1}))
			}
			all = append(all, views...)
			if c.k.Code == driver.Unscale {
				views = append(views, found)
			}
			a, b := driver.Launch{Kernel: c.k}, driver.Launch{Kernel: c.k}
			a.Dst, b.Dst = views[0].cpu, views[0].gpu
			for _, v := range views[1:] {
				a.Src, b.Src = append(a.Src, v.cpu), append(b.Src, v.gpu)
			}
			cpu, gpu = append(cpu, a), append(gpu, b)
		}
		before := fake.Launches()
		p.cpu.(driver.Batcher).RunAll(cpu)
		p.gpu.(driver.Batcher).RunAll(gpu)
		for i, v := range append(all, found) {
			p.same(fmt.Sprintf("%v of %v, view %d", c.k.Code, c.d, i), v)
		}
		room := update{views: c.views}.room()
		want := (tensors + room - 1) / room
		if got := fake.Launches() - before; !fake.Real() && got != want {
			t.Errorf("%v of %v: got %d launches, want %d", c.k.Code, c.d, got, want)
		}
	}
}
