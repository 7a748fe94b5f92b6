package ssa

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Program is a function of numbers without branches, under construction: each method appends a line, unless an
// equal line exists, and returns its value.
type Program struct {
	Single bool    // reports whether lines compute in float32, otherwise in float64
	Tables *Tables // the constants and tables of this program and others

	lines []line
}

// Value is the number of a line, and stands for its result.
type Value int

// line is one operation. bits are those of a constant, the distance of a shift, the number of a table, or for
// "x", "y" and "shifted" the number of the result that the operand is for.
type line struct {
	name string
	in   []Value
	bits uint64
}

// New returns an empty program.
func New(single bool, tables *Tables) *Program { return &Program{Single: single, Tables: tables} }

// do returns the value of a line. Equal lines are merged.
func (p *Program) do(name string, bits uint64, in ...Value) Value {
	o, ok := operations[name]
	switch {
	case !ok || len(in) != o.operands:
		panic(fmt.Sprintf("ssa: %q with %d operands, want an operation of the table with as many", name, len(in)))
	case o.has(single) && !p.Single:
		panic(fmt.Sprintf("ssa: %q in a program of float64, want a program of float32", name))
	case len(in) > 0 && !slices.ContainsFunc(in, func(v Value) bool { return p.lines[v].name != "const" }):
		panic(fmt.Sprintf("ssa: %q of constants alone, want its result as a constant", name))
	}
	for i, l := range p.lines {
		if l.name == name && l.bits == bits && slices.Equal(l.in, in) {
			return Value(i)
		}
	}
	p.lines = append(p.lines, line{name, in, bits})
	return Value(len(p.lines) - 1)
}

// X, Y and Alpha return the function's operands. Alpha is of programs of float32.
func (p *Program) X() Value     { return p.do("x", 0) }
func (p *Program) Y() Value     { return p.do("y", 0) }
func (p *Program) Alpha() Value { return p.do("alpha", 0) }

// Shifted returns x - alpha, rounded to float32.
func (p *Program) Shifted() Value { return p.do("shifted", 0) }

// Float returns a constant.
func (p *Program) Float(c float64) Value {
	if p.Single {
		return p.Bits(uint64(math.Float32bits(float32(c))))
	}
	return p.Bits(math.Float64bits(c))
}

// Bits returns the constant with these bits, of which a program of float32 has 32.
func (p *Program) Bits(c uint64) Value { return p.do("const", c) }

// Sign returns the sign bit.
func (p *Program) Sign() Value { return p.Float(math.Copysign(0, -1)) }

// Abs returns |x|.
func (p *Program) Abs(x Value) Value {
	if p.Single {
		return p.And(x, p.Bits(1<<31-1))
	}
	return p.And(x, p.Bits(1<<63-1))
}

// FMA returns a*b + c, and FNMA c - a*b, rounded once.
func (p *Program) FMA(a, b, c Value) Value  { return p.do("fma", 0, a, b, c) }
func (p *Program) FNMA(a, b, c Value) Value { return p.do("fnma", 0, a, b, c) }

// Add, Sub, Mul, Div and Sqrt round their results. Sqrt is of programs of float32.
func (p *Program) Add(a, b Value) Value { return p.do("add", 0, a, b) }
func (p *Program) Sub(a, b Value) Value { return p.do("sub", 0, a, b) }
func (p *Program) Mul(a, b Value) Value { return p.do("mul", 0, a, b) }
func (p *Program) Div(a, b Value) Value { return p.do("div", 0, a, b) }
func (p *Program) Sqrt(a Value) Value   { return p.do("sqrt", 0, a) }

// Max and Min return b if either operand is NaN, or if both are zeros.
func (p *Program) Max(a, b Value) Value { return p.do("max", 0, a, b) }
func (p *Program) Min(a, b Value) Value { return p.do("min", 0, a, b) }

// Less returns a if x < y, otherwise b.
func (p *Program) Less(x, y, a, b Value) Value { return p.do("less", 0, x, y, a, b) }

// And, Or and Xor combine bits. Plus and Minus are the sum and the difference of bits as integers.
func (p *Program) And(a, b Value) Value   { return p.do("and", 0, a, b) }
func (p *Program) Or(a, b Value) Value    { return p.do("or", 0, a, b) }
func (p *Program) Xor(a, b Value) Value   { return p.do("xor", 0, a, b) }
func (p *Program) Plus(a, b Value) Value  { return p.do("plus", 0, a, b) }
func (p *Program) Minus(a, b Value) Value { return p.do("minus", 0, a, b) }

// Left and Right shift bits by n; RightSigned repeats the sign and is of programs of float32.
func (p *Program) Left(a Value, n int) Value        { return p.do("left", uint64(n), a) }
func (p *Program) Right(a Value, n int) Value       { return p.do("right", uint64(n), a) }
func (p *Program) RightSigned(a Value, n int) Value { return p.do("rightSigned", uint64(n), a) }

// ToFloat returns the number whose value a's bits are as a signed integer, rounded. It is of programs of float32.
func (p *Program) ToFloat(a Value) Value { return p.do("toFloat", 0, a) }

// Scale returns y 2^n for y between 1/4 and 4 and a whole n from -250 to 250, rounded once. It is of programs
// of float32.
func (p *Program) Scale(y, n Value) Value { return p.do("scale", 0, y, n) }

// Lookup returns the entry of a table of 32 numbers with the index in the last 5 bits of i. It is of programs of
// float32.
func (p *Program) Lookup(table []float64, i Value) Value {
	return p.do("lookup", uint64(p.Tables.lookup(table)), i)
}

// Exponent and Fraction are of programs of float32 for AVX-512 alone: Exponent returns k, and Fraction a number y
// from 3/4 up to 3/2 with x = 2^k y. For 0 and infinity, k is -∞ and ∞ and y has the magnitude 1; for NaN and
// numbers below 0, y is NaN.
func (p *Program) Exponent(x Value) Value {
	return p.Sub(p.do("exponent", 0, x), p.do("exponent", 0, p.Fraction(x)))
}
func (p *Program) Fraction(x Value) Value { return p.do("fraction", 0, x) }

// RsqrtEstimate returns 1/√x with a relative error of at most 2^-14, for AVX-512 alone.
func (p *Program) RsqrtEstimate(x Value) Value { return p.do("rsqrtEstimate", 0, x) }

// String returns the lines, each with its number, its operation, the numbers of its operands, and its bits unless
// they are 0.
func (p *Program) String() string {
	var b strings.Builder
	for i, l := range p.lines {
		fmt.Fprintf(&b, "%d %s", i, l.name)
		for _, v := range l.in {
			fmt.Fprintf(&b, " %d", v)
		}
		if l.bits != 0 {
			fmt.Fprintf(&b, " 0x%x", l.bits)
		}
		b.WriteString("\n")
	}
	return b.String()
}
