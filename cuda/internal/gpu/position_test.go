//go:build cuda && linux && cgo

package gpu

import (
	"fmt"
	"testing"

	"halfnote/tensor/driver"
	"halfnote/tensor/drivertest"
)

func TestPositions(t *testing.T) {
	drivertest.Check(t, open(t), "Positions", "Order")
}

// TestPositionsMatchesCPU gathers and scatters rows, columns and single elements, as embeddings and their
// gradients do. The cases cover all kernels.
func TestPositionsMatchesCPU(t *testing.T) {
	p := newPair(t)
	for _, c := range []struct {
		m, lines, size int  // number of positions and of lines, and bound of positions
		columns        bool // positions count along the last axis
		shared         bool // all lines have the same positions
		offset         int  // offset of the first element, which determines how many are moved at once
		claimed        int  // size of the view if larger than its buffer
	}{
		{m: 5, lines: 16, size: 3, shared: true},
		{m: 40, lines: 64, size: 7, shared: true},
		{m: 40, lines: 64, size: 7, shared: true, offset: 1},
		{m: 300, lines: 130, size: 1000, shared: true},
		{m: 300, lines: 3, size: 20, shared: true, offset: 2},
		{m: 5000, lines: 12, size: 70000, shared: true},
		{m: 5000, lines: 1, size: 2, shared: true},
		{m: 50, lines: 30, size: 11, columns: true, shared: true},
		{m: 20, lines: 40, size: 11},
		{m: 20, lines: 40, size: 11, columns: true, offset: 3},
		{m: 700, lines: 9, size: 33, columns: true},
		{m: 17, lines: 1 << 14, size: 5},
		{m: 20, lines: 40, size: 11, claimed: 1 << 28}, // 64-bit keys
		{m: 20, lines: 40, size: 11, shared: true, claimed: 1 << 33},
	} {
		part, whole, axis := []int{c.m, c.lines}, []int{c.size, c.lines}, 0
		if c.columns {
			part, whole, axis = []int{c.lines, c.m}, []int{c.lines, c.size}, 1
		}
		dense := func(shape []int) []int { return []int{shape[1], 1} }
		step := dense(part)
		if c.shared {
			step = make([]int, 2)
			step[axis] = 1
		}
		index := p.view(driver.Int64, c.m*c.lines, c.size, 0, part, step)
		n := c.size*c.lines + 2*c.offset
		for _, d := range []driver.DType{driver.Uint8, driver.Int16, driver.BFloat16, driver.Float32, driver.Float64, driver.Int64} {
			what := fmt.Sprintf("%+v of %v", c, d)
			x := p.view(d, n, 0, c.offset, whole, dense(whole))
			if c.claimed > 0 {
				x.cpu.Shape = []int{c.claimed, c.lines}
				x.gpu.Shape = x.cpu.Shape
			}
			got := p.view(d, c.m*c.lines+2*c.offset, 0, c.offset, part, dense(part))
			p.run(driver.Kernel{Code: driver.Gather, Axis: axis}, got, x, index)
			p.same("gather "+what, got)
			for _, code := range []driver.Code{driver.Scatter, driver.ScatterAdd, driver.ScatterMul, driver.ScatterMax, driver.ScatterMin} {
				if p.gpu.Offers(code, d, d, driver.Int64) {
					p.run(driver.Kernel{Code: code, Axis: axis}, x, got, index)
					p.same(fmt.Sprintf("%v %s", code, what), x)
				}
			}
		}
	}
}

// TestArgSortMatchesCPU sorts lines with lengths for all kernels.
func TestArgSortMatchesCPU(t *testing.T) {
	p := newPair(t)
	for _, n := range []int{3, 64, 65, 257, 1025, 4096, 4097} {
		lines := max(2, 300/n)
		for _, d := range driver.DTypes() {
			if !p.gpu.Offers(driver.ArgSort, driver.Int64, d) {
				continue
			}
			for axis := range 2 {
				shape := []int{n, lines}
				if axis == 1 {
					shape = []int{lines, n}
				}
				x := p.view(d, 2*n*lines+1, 0, 1, shape, []int{2 * shape[1], 2})
				dst := p.view(driver.Int64, n*lines, 0, 0, shape, []int{1, shape[0]})
				descending := (n+axis+d.Size())%2 == 1
				p.run(driver.Kernel{Code: driver.ArgSort, Axis: axis, Params: driver.SortParams{Descending: descending}}, dst, x)
				p.same(fmt.Sprintf("%v along %d of %v, descending %v", d, axis, shape, descending), dst)
			}
		}
	}
}
