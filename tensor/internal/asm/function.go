package asm

// Function is an elementary function of float32, computed in float64 with polynomials
// and rounded once: nearly always the nearest float32. Every tier and [Function.Of] do
// the same operations and give the same bits.
type Function int

// Of returns the function's value at x, in Go; y and alpha are what the function's
// comment names.
func (f Function) Of(x, y, alpha float32) float32 { return scalars[f](x, y, alpha) }

// Limit is the magnitude of x up to which the function holds, 0 if it holds for all.
func (f Function) Limit() float32 { return limits[f] }

// String returns the function's name, "exp".
func (f Function) String() string { return names[f] }
