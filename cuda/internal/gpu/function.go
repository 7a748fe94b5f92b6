//go:build cuda && linux && cgo

package gpu

import "halfnote/tensor/driver"

func init() {
	// float32 and half precision, which is computed in float32.
	singles := func(operands int) func(driver.Code, driver.DType, []driver.DType) bool {
		return func(_ driver.Code, dst driver.DType, src []driver.DType) bool {
			return !dst.IsStorage() && dst.Wide() == driver.Float32 && driver.AllDTypes(src, operands, dst)
		}
	}
	doubles := func(operands int) func(driver.Code, driver.DType, []driver.DType) bool {
		return func(_ driver.Code, dst driver.DType, src []driver.DType) bool {
			return dst == driver.Float64 && driver.AllDTypes(src, operands, dst)
		}
	}
	one := []driver.Code{
		driver.Exp, driver.Log, driver.Log1p, driver.Tanh, driver.Erf, driver.Sigmoid, driver.Pow, driver.Rsqrt, driver.Exp2,
		driver.Expm1, driver.Log2, driver.Log10, driver.Sin, driver.Cos, driver.Tan, driver.Asin, driver.Acos, driver.Atan,
		driver.Sinh, driver.Cosh, driver.Asinh, driver.Acosh, driver.Atanh, driver.Erfc, driver.Erfinv, driver.Floor,
		driver.Ceil, driver.Trunc, driver.Round,
	}
	two := []driver.Code{
		driver.Power, driver.Atan2, driver.Hypot, driver.Copysign, driver.Fmod, driver.Remainder, driver.FloorDiv, driver.TruncDiv,
	}
	unary := pointwise{module: "function", name: "unary", operands: 1, typed: true}
	offer(family{singles(1), unary.run}, one...)
	offer(family{singles(1), unary.run}, driver.Gelu, driver.Silu, driver.GeluTanh)
	binary := pointwise{module: "function2", name: "binary", operands: 2, typed: true}
	offer(family{singles(2), binary.run}, two...)
	offer(family{singles(2), binary.run}, driver.GeluGrad, driver.SiluGrad, driver.GeluTanhGrad)
	unary64 := pointwise{module: "function64", name: "unary", operands: 1, typed: true}
	offer(family{doubles(1), unary64.run}, one...)
	binary64 := pointwise{module: "function64", name: "binary", operands: 2, typed: true}
	offer(family{doubles(2), binary64.run}, two...)
}
