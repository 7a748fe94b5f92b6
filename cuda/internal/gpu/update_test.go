//go:build cuda && linux && cgo

package gpu

import (
	"bytes"
	"fmt"
	"testing"

	"halfnote/cuda/internal/fake"
	"halfnote/tensor/driver"
	"halfnote/tensor/drivertest"
)

func TestUpdates(t *testing.T) {
	drivertest.Check(t, open(t), "Unscale", "SGD", "Adam", "Batch", "Guarded", "Advance", "UpdateScale")
}

// TestManyTensors updates more tensors than fit in one launch, some of them unaligned, and compares
// bits with the CPU's.
func TestManyTensors(t *testing.T) {
	p := newPair(t)
	const tensors = 200
	for _, c := range []struct {
		k     driver.Kernel
		d     driver.DType
		views int
	}{
		{driver.Kernel{Code: driver.Adam, Params: driver.AdamParams{Rate: 0.1, Beta1: 0.8, Beta2: 0.7, Eps: 1e-4, Decay: 0.1, Scale: 1.5}}, driver.Float32, 4},
		{driver.Kernel{Code: driver.SGD, Params: driver.SGDParams{Rate: 0.1, Momentum: 0.9, Decay: 0.3, Dampening: 0.4, Nesterov: true}}, driver.BFloat16, 3},
		{driver.Kernel{Code: driver.SGD, Params: driver.SGDParams{Rate: 0.1}}, driver.Float16, 2},
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

// TestManyGuarded compares guarded steps of more tensors than fit in one launch with steps one by
// one. Some steps are skipped, and some tensors have copies, in two dtypes.
func TestManyGuarded(t *testing.T) {
	p := newPair(t)
	const tensors = 150
	rows := [2]driver.View{}
	for taken := range rows {
		rows[taken] = p.view(driver.Float64, 4, 0, 0, []int{4}, []int{1}).gpu
		for i, x := range []float64{2, float64(taken), 0.1, 1.5} {
			row := rows[taken]
			row.Offset, row.Shape = i, []int{1}
			p.gpu.Run(driver.Kernel{Code: driver.Fill, Alpha: x}, row)
		}
	}
	k := driver.Kernel{Code: driver.GuardedAdam, Params: driver.AdamParams{Beta1: 0.8, Beta2: 0.7, Eps: 1e-4, Decay: 0.1}}
	var together []driver.Launch
	var pairs []twin // views written in one batch, and one by one
	for i := range tensors {
		n := []int{1, 7, 300, 8192, 8195}[min(i%30, 4)]
		var views [2][]driver.View
		put := func(d driver.DType, size int) {
			v := p.view(d, size+i%3, 0, i%3, []int{size}, []int{1}).gpu
			w := v
			buffer, err := p.gpu.Alloc(v.Buffer.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			contents := make([]byte, v.Buffer.Bytes())
			p.gpu.Read(contents, v.Buffer, 0)
			p.gpu.Write(buffer, 0, contents)
			w.Buffer = buffer
			views[0], views[1] = append(views[0], v), append(views[1], w)
			pairs = append(pairs, twin{v, w})
		}
		for range 4 {
			put(driver.Float32, n)
		}
		switch i % 4 {
		case 0:
			put(driver.Float16, n)
		case 1, 2:
			put(driver.BFloat16, n)
		}
		var launches [2]driver.Launch
		for j, v := range views {
			launches[j] = driver.Launch{Kernel: k, Dst: v[0], Src: append([]driver.View{rows[i%5%2]}, v[1:]...)}
		}
		together = append(together, launches[0])
		p.gpu.Run(k, launches[1].Dst, launches[1].Src...)
	}
	before := fake.Launches()
	p.gpu.(driver.Batcher).RunAll(together)
	if got := fake.Launches() - before; !fake.Real() && got > 4 {
		t.Errorf("got %d launches, want at most 4: two for each dtype of copies", got)
	}
	for i, v := range pairs {
		got, want := make([]byte, v.cpu.Buffer.Bytes()), make([]byte, v.cpu.Buffer.Bytes())
		p.gpu.Read(got, v.cpu.Buffer, 0)
		p.gpu.Read(want, v.gpu.Buffer, 0)
		if !bytes.Equal(got, want) {
			t.Fatalf("view %d of %v, shape %v: bytes differ from those of steps one by one", i, v.cpu.DType, v.cpu.Shape)
		}
	}
}
