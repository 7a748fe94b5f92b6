package cpu

import (
	"fmt"
	"slices"

	"halfnote/internal/text"
	"halfnote/tensor/driver"
)

// contraction holds the numbers of axes of the rows, the columns and the inner index of a product.
type contraction struct{ m, n, k int }

func contractionOf(k driver.Kernel) contraction {
	if k.Code == driver.Matmul {
		return contraction{1, 1, 1}
	}
	p := driver.ParamsOf[driver.ContractParams](k)
	return contraction{p.Rows, p.Columns, p.Sum}
}

// check panics unless shapes fit.
func (f contraction) check(c driver.Code, dst driver.View, src []driver.View) {
	x, y := src[0].Shape, src[1].Shape
	b := len(dst.Shape) - f.m - f.n
	ok := f.m > 0 && f.n > 0 && f.k > 0 && b >= 0 && len(x) == b+f.m+f.k && len(y) == b+f.k+f.n &&
		slices.Equal(x[:b+f.m], dst.Shape[:b+f.m]) && slices.Equal(y[:b], dst.Shape[:b]) &&
		slices.Equal(y[b+f.k:], dst.Shape[b+f.m:]) && slices.Equal(x[b+f.m:], y[b:b+f.k])
	if !ok {
		axes := ""
		if c == driver.Contract {
			axes = fmt.Sprintf(" with %d, %d and %d axes of m, n and k", f.m, f.n, f.k)
		}
		panic(text.Sprintf("cpu: %v: cannot multiply %v and %v into %v; want (…, m, k) times (…, k, n)%s", c, x, y, dst.Shape, axes))
	}
	if len(src) == 3 && !slices.Equal(src[2].Shape, dst.Shape) {
		panic(text.Sprintf("cpu: %v: operand 2 has shape %v, which does not fit the result's %v", c, src[2].Shape, dst.Shape))
	}
}

// axesOf returns the layout of count axes of v from first on, with offset 0.
func axesOf(v driver.View, first, count int) layout {
	l := layout{}
	if count == 1 && v.Shape[first] != 1 { // the common case, without an allocation
		l.shape, l.stride = v.Shape[first:first+1:first+1], v.Stride[first:first+1:first+1]
		return l
	}
	for i := first; i < first+count; i++ {
		l.push(v.Shape[i], v.Stride[i])
	}
	return l
}

// swapAxes returns v with its last b axes before the a axes that precede them.
func swapAxes(v driver.View, a, b int) driver.View {
	n := len(v.Shape)
	r, both := n-a-b, make([]int, 0, 2*n)
	for _, list := range [][]int{v.Shape, v.Stride} {
		both = append(append(append(both, list[:r]...), list[r+a:]...), list[r:r+a]...)
	}
	v.Shape, v.Stride = both[:n:n], both[n:]
	return v
}
