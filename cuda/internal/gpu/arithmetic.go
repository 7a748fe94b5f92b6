//go:build cuda && linux && cgo

package gpu

import "halfnote/tensor/driver"

func init() {
	floats := func(operands int) func(driver.Code, driver.DType, []driver.DType) bool {
		return func(_ driver.Code, dst driver.DType, src []driver.DType) bool {
			return dst.IsFloat() && !dst.IsStorage() && driver.AllDTypes(src, operands, dst)
		}
	}
	unary := pointwise{module: "arithmetic", name: "unary", operands: 1}
	offer(family{floats(1), unary.run},
		driver.Affine, driver.Neg, driver.Abs, driver.Sqrt, driver.Relu, driver.Step, driver.Reciprocal, driver.Sign)
	binary := pointwise{module: "arithmetic", name: "binary", operands: 2}
	offer(family{floats(2), binary.run},
		driver.Add, driver.AddScaled, driver.Sub, driver.Mul, driver.Div, driver.Max, driver.Min, driver.ReluGrad, driver.TanhGrad, driver.SigmoidGrad)
	compare := pointwise{module: "arithmetic", name: "compare", operands: 2}
	offer(family{
		func(_ driver.Code, dst driver.DType, src []driver.DType) bool {
			return len(src) == 2 && src[0] == src[1] && src[0].IsFloat() && !src[0].IsStorage() && (dst == driver.Bool || dst == src[0])
		},
		func(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
			if dst.DType == driver.Bool {
				compare.run(b, k, dst, src)
			} else {
				binary.run(b, k, dst, src)
			}
		}}, driver.Equal, driver.Less, driver.LessEqual)
}
