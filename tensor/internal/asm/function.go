package asm

// Function is an elementary function of float32, computed in float32 with fused multiply-adds: the
// result is the nearest float32 or a neighbour of it. GeluGrad, SinFar and CosFar are computed in float64
// and rounded once, nearly always to the nearest float32. Functions for halves, and SiluGrad, GeluTanh and
// GeluTanhGrad, are exact enough for halves. All tiers and [Function.Of] perform the same operations
// and give the same bits.
type Function int

// Of returns the function's value at x, computed in Go. y and alpha are the parameters in the
// comment of the function's constant.
func (f Function) Of(x, y, alpha float32) float32 { return scalars[f](x, y, alpha) }

// Limit returns the largest magnitude of x for which the function is valid, 0 if it is valid for all.
func (f Function) Limit() float32 { return limits[f] }

// String returns the function's name, for example "exp".
func (f Function) String() string { return names[f] }
