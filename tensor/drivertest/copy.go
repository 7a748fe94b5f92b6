package drivertest

import (
	"math"
	"testing"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/half"
)

func testFill(t *testing.T, b driver.Backend) {
	for _, d := range dtypes {
		for _, s := range []strategy{dense, reversed, gaps} {
			for _, shape := range shapes {
				for _, alpha := range []float64{0.1, math.Inf(1), 0} {
					dst := newView(t, b, d, shape, s)
					b.Run(driver.Kernel{Code: driver.Fill, Alpha: alpha}, dst)
					for i, got := range values(b, dst) {
						if want := round(d, alpha); !equal(got, want) {
							t.Fatalf("%s: element %d: got %g, want %g", name(d, s, shape), i, got, want)
						}
					}
					checkHoles(t, b, dst)
				}
			}
		}
	}
}

func testCopy(t *testing.T, b driver.Backend) {
	for _, from := range dtypes {
		for _, to := range dtypes {
			for _, shape := range shapes {
				for _, fromLayout := range layoutsOf(shape) {
					for _, toLayout := range []strategy{dense, reversed, gaps} {
						src := place(t, b, from, shape, fromLayout, random(100003))
						dst := newView(t, b, to, shape, toLayout)
						b.Run(driver.Kernel{Code: driver.Copy}, dst, src)
						x := values(b, src)
						for i, got := range values(b, dst) {
							if want := round(to, x[i]); !equal(got, want) {
								t.Fatalf("%s: element %d: copy of %g: got %g, want %g", name(from, to, fromLayout, toLayout, shape), i, x[i], got, want)
							}
						}
						if toLayout == gaps {
							checkHoles(t, b, dst)
						}
					}
				}
			}
		}
	}
}

// testCopyAllHalves converts every 16-bit pattern to the other dtypes, and the midpoints of neighbours to
// 16 bits.
func testCopyAllHalves(t *testing.T, b driver.Backend) {
	for _, d := range []driver.DType{driver.Float16, driver.BFloat16} {
		x := allHalves(d)
		src := place(t, b, d, []int{len(x)}, dense, x)
		for _, to := range dtypes {
			dst := newView(t, b, to, []int{len(x)}, dense)
			b.Run(driver.Kernel{Code: driver.Copy}, dst, src)
			for i, got := range values(b, dst) {
				if want := round(to, x[i]); !equal(got, want) {
					t.Fatalf("%v %g to %v: got %g, want %g", d, x[i], to, got, want)
				}
			}
		}
		var between []float64
		for i := 1; i < len(x); i++ {
			middle := float32((x[i-1] + x[i]) / 2)
			between = append(between, float64(middle), float64(math.Nextafter32(middle, 0)), float64(math.Nextafter32(middle, float32(math.Inf(1)))))
		}
		for _, from := range []driver.DType{driver.Float32, driver.Float64} {
			src := place(t, b, from, []int{len(between)}, dense, between)
			dst := newView(t, b, d, []int{len(between)}, dense)
			b.Run(driver.Kernel{Code: driver.Copy}, dst, src)
			for i, got := range values(b, dst) {
				if want := round(d, between[i]); !equal(got, want) {
					t.Fatalf("%v %g to %v: got %g, want %g", from, between[i], d, got, want)
				}
			}
		}
	}
}

// allHalves returns the values of all bit patterns of a 16-bit dtype.
func allHalves(d driver.DType) []float64 {
	x := make([]float64, 1<<16)
	for i := range x {
		if d == driver.Float16 {
			x[i] = float64(half.Float16frombits(uint16(i)))
		} else {
			x[i] = float64(half.BFloat16frombits(uint16(i)))
		}
	}
	return x
}
