//go:build cuda && linux && cgo

package gpu

import (
	"fmt"

	"halfnote/tensor/driver"
)

// scratch returns memory that kernels use until it is released.
func (b *Backend) scratch(n int) driver.Buffer {
	buffer, err := b.AllocUnset(n)
	if err != nil {
		panic(fmt.Errorf("%s: memory for partial results: %w", b.name, err))
	}
	return buffer
}

// cut returns the part of v from lo to hi along an axis.
func cut(v driver.View, axis, lo, hi int) driver.View {
	v.Offset += lo * v.Stride[axis]
	v.Shape = append([]int(nil), v.Shape...)
	v.Shape[axis] = hi - lo
	return v
}
