package ssa

import (
	"slices"
	"strings"
	"testing"
)

// build returns a program of float32 of lines that of writes, and its result.
func build(of func(p *Program) Value) (*Program, Value) {
	p := New(true, new(Tables))
	return p, of(p)
}

// lines returns a program in one row, with a semicolon between lines.
func lines(p *Program) string {
	return strings.ReplaceAll(strings.TrimSpace(p.String()), "\n", "; ")
}

// TestMerge checks which lines count as equal.
func TestMerge(t *testing.T) {
	for _, c := range []struct {
		name string
		of   func(p *Program) Value
		want string
	}{
		{"equal sums", func(p *Program) Value { return p.Mul(p.Add(p.X(), p.Y()), p.Add(p.X(), p.Y())) }, "0 x; 1 y; 2 add 0 1; 3 mul 2 2"},
		{"other operands", func(p *Program) Value { return p.Mul(p.Add(p.X(), p.Y()), p.Add(p.X(), p.X())) }, "0 x; 1 y; 2 add 0 1; 3 add 0 0; 4 mul 2 3"},
		{"operands in another order", func(p *Program) Value { return p.Sub(p.Sub(p.X(), p.Y()), p.Sub(p.Y(), p.X())) }, "0 x; 1 y; 2 sub 0 1; 3 sub 1 0; 4 sub 2 3"},
		{"another operation", func(p *Program) Value { return p.Add(p.Mul(p.X(), p.X()), p.Add(p.X(), p.X())) }, "0 x; 1 mul 0 0; 2 add 0 0; 3 add 1 2"},
		{"another distance", func(p *Program) Value { return p.Or(p.Left(p.X(), 1), p.Or(p.Left(p.X(), 2), p.Left(p.X(), 1))) }, "0 x; 1 left 0 0x1; 2 left 0 0x2; 3 or 2 1; 4 or 1 3"},
		{"equal constants", func(p *Program) Value { return p.FMA(p.X(), p.Float(1), p.Bits(0x3f800000)) }, "0 x; 1 const 0x3f800000; 2 fma 0 1 1"},
		{"zeros of both signs", func(p *Program) Value { return p.FMA(p.X(), p.Float(0), p.Sign()) }, "0 x; 1 const; 2 const 0x80000000; 3 fma 0 1 2"},
		{"equal tables", func(p *Program) Value {
			return p.Add(p.Lookup(make([]float64, 32), p.X()), p.Lookup(make([]float64, 32), p.X()))
		}, "0 x; 1 lookup 0; 2 add 1 1"},
	} {
		if p, _ := build(c.of); lines(p) != c.want {
			t.Errorf("%s: got %s, want %s", c.name, lines(p), c.want)
		}
	}
}

// TestCopies checks that lines without use are dropped, and the order of several results.
func TestCopies(t *testing.T) {
	for _, c := range []struct {
		name    string
		of      func(p *Program) Value
		n       int
		want    string
		results []Value
	}{
		{"unused", func(p *Program) Value {
			p.Add(p.X(), p.Float(1))
			return p.Mul(p.Y(), p.Y())
		}, 1, "0 y; 1 mul 0 0", []Value{1}},
		{"needed by what is unused", func(p *Program) Value {
			p.Sub(p.Add(p.X(), p.Y()), p.Y())
			return p.X()
		}, 1, "0 x", []Value{0}},
		{"two", func(p *Program) Value { return p.Add(p.X(), p.Float(1)) }, 2, "0 x; 1 x 0x1; 2 const 0x3f800000; 3 add 0 2; 4 add 1 2", []Value{3, 4}},
		{"three, two operands and shared numbers", func(p *Program) Value { return p.FMA(p.Shifted(), p.Y(), p.Alpha()) }, 3,
			"0 shifted; 1 shifted 0x1; 2 shifted 0x2; 3 y; 4 y 0x1; 5 y 0x2; 6 alpha; 7 fma 0 3 6; 8 fma 1 4 6; 9 fma 2 5 6", []Value{7, 8, 9}},
	} {
		p, result := build(c.of)
		out, results := p.copies(result, c.n)
		if lines(out) != c.want || !slices.Equal(results, c.results) {
			t.Errorf("%s: got %s with results %v, want %s with %v", c.name, lines(out), results, c.want, c.results)
		}
	}
}

// TestLastReads checks which line is the last to read a value, and the order of constants.
func TestLastReads(t *testing.T) {
	p, result := build(func(p *Program) Value {
		square := p.Mul(p.X(), p.X()) // 0, 1
		sum := p.Add(square, p.Float(2))
		return p.FMA(sum, p.Float(1), p.Sub(p.X(), p.Float(1))) // 4 is 1, 5 x - 1, 6 the result
	})
	if got, want := p.lastReads([]Value{result}), []int{5, 3, 3, 6, 6, 6, 7}; !slices.Equal(got, want) {
		t.Errorf("%s: got the last reads %v, want %v", lines(p), got, want)
	}
	if got, want := p.constants(), []Value{4, 2}; !slices.Equal(got, want) {
		t.Errorf("%s: got the constants %v, want %v", lines(p), got, want)
	}
}

// TestMisuse checks that a line that a back end cannot print panics, and that the message says why.
func TestMisuse(t *testing.T) {
	double := func() *Program { return New(false, new(Tables)) }
	for _, c := range []struct {
		name string
		do   func()
		want string
	}{
		{"unknown", func() { double().do("tan", 0) }, `"tan" with 0 operands`},
		{"operands", func() { double().do("add", 0, 0) }, `"add" with 1 operands`},
		{"float64", func() { double().ToFloat(0) }, `"toFloat" in a program of float64`},
		{"constants", func() { p := double(); p.Div(p.Float(1), p.Float(3)) }, `"div" of constants alone`},
		{"Go", func() { p, v := build(func(p *Program) Value { return p.Fraction(p.X()) }); p.Go("f", "f", v) }, `"fraction" in Go`},
		{"AVX2", func() { print(false, 0, []int{1}, func(p *Program) Value { return p.RsqrtEstimate(p.X()) }) }, `"rsqrtEstimate" for AVX2`},
		{"registers", func() { print(false, 1, []int{2, 1}, func(p *Program) Value { return p.Mul(p.X(), p.Y()) }) }, "1 registers for any of [2 1] results"},
	} {
		func() {
			defer func() {
				if got, _ := recover().(string); !strings.Contains(got, c.want) {
					t.Errorf("%s: got the message %q, want one with %q", c.name, got, c.want)
				}
			}()
			c.do()
		}()
	}
}
