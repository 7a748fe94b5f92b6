package tensor

import (
	"slices"

	"halfnote/tensor/driver"
)

// contractInto sets dst (…, m…, n…) to x (…, m…, k…) times y (…, k…, n…), plus bias, if
// non-nil, whose dimensions are dst's first ones. axes holds the numbers of m, n and k
// dimensions. See [driver.Contract]; for a backend without it the views are copied to matrices.
func contractInto(axes [3]int, dst, x, y, bias *Tensor) {
	m, n, k := axes[0], axes[1], axes[2]
	src := []*Tensor{x, y}
	dtypes := []DType{x.dtype, y.dtype}
	if bias != nil {
		repeated := slices.Concat(bias.stride, make([]int, len(dst.shape)-len(bias.shape)))
		src, dtypes = append(src, bias.alias(bias.offset, dst.shape, repeated)), append(dtypes, bias.dtype)
	}
	if dst.mem.backend.Offers(driver.Contract, dst.dtype, dtypes...) {
		run(productKernel(driver.Contract, driver.ContractParams{Rows: m, Columns: n, Sum: k}), dst, src...)
		return
	}
	lead := len(dst.shape) - m - n
	matrix := func(t *Tensor, rows int) []int {
		return append(slices.Clone(t.shape[:lead]), size(t.shape[lead:lead+rows]), size(t.shape[lead+rows:]))
	}
	for i, rows := range []int{m, k, m}[:len(src)] {
		t := duplicate(src[i])
		defer release(t)
		src[i] = shaped(t, matrix(t, rows))
	}
	matrices := newTensor(dst.mem.backend, dst.dtype, matrix(dst, m))
	run(productKernel(driver.Matmul, nil), matrices, src...)
	run(driver.Kernel{Code: driver.Copy}, dst, shaped(matrices, dst.shape))
	release(matrices)
}
