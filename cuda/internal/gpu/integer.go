//go:build cuda && linux && cgo

package gpu

import "halfnote/tensor/driver"

func init() {
	integers := func(operands int) func(driver.Code, driver.DType, []driver.DType) bool {
		return func(_ driver.Code, dst driver.DType, src []driver.DType) bool {
			return !dst.IsFloat() && driver.AllDTypes(src, operands, dst)
		}
	}
	unary := pointwise{module: "integer", name: "unary", operands: 1, typed: true}
	offer(family{integers(1), unary.run},
		driver.Affine, driver.Neg, driver.Abs, driver.Relu, driver.Step, driver.Sign)
	binary := pointwise{module: "integer", name: "binary", operands: 2, typed: true}
	offer(family{integers(2), binary.run},
		driver.Add, driver.AddScaled, driver.Sub, driver.Mul, driver.Max, driver.Min,
		driver.Power, driver.Fmod, driver.Remainder, driver.FloorDiv, driver.TruncDiv,
		driver.And, driver.Or, driver.Xor, driver.ShiftLeft, driver.ShiftRight)
	offer(family{
		func(_ driver.Code, dst driver.DType, src []driver.DType) bool {
			return len(src) == 2 && src[0] == src[1] && src[0].Size() > 0 && !src[0].IsFloat() && (dst == driver.Bool || dst == src[0])
		},
		binary.run}, driver.Equal, driver.Less, driver.LessEqual)
}
