// Package drivertest is the conformance test of backends of tensor/driver. It compares them with plain loops.
//
//	func TestConformance(t *testing.T) { drivertest.Run(t, backend) }
//
// The expected values are computed in float64 and rounded as package driver specifies. They
// are exact for arithmetic, comparisons and conversions, and have a stated tolerance for
// transcendental functions and sums.
//
// A backend with a method Slow, such as an emulated one, runs fewer checks. One with a method
// Brief runs one in several of the checks whose number is large.
package drivertest

import (
	"slices"
	"testing"

	"halfnote/tensor/driver"
)

var dtypes = []driver.DType{driver.Float16, driver.BFloat16, driver.Float32, driver.Float64}

// check is one conformance check.
type check struct {
	name string
	run  func(t *testing.T, b driver.Backend)
}

func checks() []check {
	return []check{
		{"Memory", testMemory},
		{"Offers", testOffers},
		{"Fill", testFill},
		{"Copy", testCopy},
		{"CopyAllHalves", testCopyAllHalves},
		{"DTypes", testDTypes},
		{"Integers", testIntegers},
		{"Elementwise", testElementwise},
		{"SpecialValues", testSpecialValues},
		{"AllHalves", testAllHalves},
		{"Reduce", testReduce},
		{"ReduceOrder", testReduceOrder},
		{"Prod", testProd},
		{"Recurrence", testRecurrence},
		{"CumArg", testCumArg},
		{"Matmul", testMatmul},
		{"MatmulExact", testMatmulExact},
		{"Contract", testContract},
		{"Pad", testPad},
		{"Positions", testPositions},
		{"Extreme", testExtreme},
		{"Order", testOrder},
		{"Softmax", testSoftmax},
		{"Dropout", testDropout},
		{"Unscale", testUnscale},
		{"SGD", testSGD},
		{"Adam", testAdam},
		{"Batch", testBatch},
		{"Guarded", testGuarded},
		{"Advance", testAdvance},
		{"UpdateScale", testUpdateScale},
		{"Norms", Norms},
		{"Bernoulli", Bernoullis},
		{"Attention", Attentions},
		{"Count", testCount},
	}
}

// Run runs every check as a subtest, except [Same], which takes two backends.
func Run(t *testing.T, b driver.Backend) {
	for _, c := range checks() {
		t.Run(c.name, func(t *testing.T) { c.run(t, b) })
	}
}

// Check runs the named checks as subtests, for example "Copy" and "Reduce".
func Check(t *testing.T, b driver.Backend, names ...string) {
	list := checks()
	for _, name := range names {
		i := slices.IndexFunc(list, func(c check) bool { return c.name == name })
		if i < 0 {
			t.Fatalf("unknown check %q", name)
		}
		t.Run(name, func(t *testing.T) { list[i].run(t, b) })
	}
}

// slow reports whether a backend has a method Slow, which marks backends too slow for all
// checks.
func slow(b driver.Backend) bool {
	_, ok := b.(interface{ Slow() })
	return ok
}

// brief returns n if a backend has a method Brief, which asks for one in n of many checks, else 1.
func brief(b driver.Backend, n int) int {
	if _, ok := b.(interface{ Brief() }); ok {
		return n
	}
	return 1
}

func testOffers(t *testing.T, b driver.Backend) {
	for c := driver.Code(0); c < driver.Optional; c++ {
		if c >= driver.Gather && c <= driver.ArgSort {
			continue // checked in every dtype by testPositions, testExtreme and testOrder
		}
		if _, ok := bitwises[c]; ok || c == driver.CumArgMax || c == driver.CumArgMin {
			continue // for integers, and checked with them
		}
		for _, d := range dtypes {
			src := make([]driver.DType, operands(c))
			for i := range src {
				src[i] = d
			}
			if !b.Offers(c, d, src...) {
				t.Errorf("%v of %v: not offered; every backend must offer it", c, d)
			}
			if b.Offers(c, driver.Invalid, src...) {
				t.Errorf("%v: offered for an invalid dtype", c)
			}
		}
	}
	v := newView(t, b, driver.Float32, []int{2}, dense)
	defer func() {
		if recover() == nil {
			t.Error("Run of an unknown code: got no panic")
		}
	}()
	b.Run(driver.Kernel{Code: 255}, v, v)
}

// operands returns the number of views that c reads, without optional operands.
func operands(c driver.Code) int {
	switch {
	case c == driver.Fill:
		return 0
	case c == driver.Matmul:
		return 2
	case pointwises[c].want != nil:
		return pointwises[c].operands
	}
	return 1
}

// Products runs only the checks of [driver.Matmul].
func Products(t *testing.T, b driver.Backend) {
	testMatmul(t, b)
	testMatmulExact(t, b)
}
