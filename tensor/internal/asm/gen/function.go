package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A function of float32 is a sequence of operations without branches, printed three
// times: for AVX-512, for AVX2, and in Go. All three do the same operations in the
// same order and give the same bits. A line computes in float32 if it is single. The others
// compute in float64, where the rounded value is nearly always the nearest float32.

// value is the number of an operation, and stands for its result.
type value int

type operation struct {
	name string
	in   []value
	bits uint64 // bits of a constant
}

// line is a function under construction. Equal operations are merged. A wide line is for AVX-512 alone,
// and a half one for results that are rounded to float16 or bfloat16.
type line struct {
	ops    []operation
	single bool
	wide   bool
	half   bool
}

func (l *line) do(name string, bits uint64, in ...value) value {
	for i, o := range l.ops {
		if o.name == name && o.bits == bits && slices.Equal(o.in, in) {
			return value(i)
		}
	}
	l.ops = append(l.ops, operation{name, in, bits})
	return value(len(l.ops) - 1)
}

// float returns a constant.
func (l *line) float(c float64) value {
	if l.single {
		return l.bits(uint64(math.Float32bits(float32(c))))
	}
	return l.bits(math.Float64bits(c))
}

// bits returns the constant with these bits, of which a single line has 32.
func (l *line) bits(c uint64) value { return l.do("const", c) }

// sign returns the sign bit.
func (l *line) sign() value { return l.float(math.Copysign(0, -1)) }

// size returns |x|.
func (l *line) size(x value) value {
	if l.single {
		return l.and(x, l.bits(1<<31-1))
	}
	return l.and(x, l.bits(1<<63-1))
}

func (l *line) x() value       { return l.do("x", 0) }
func (l *line) y() value       { return l.do("y", 0) }
func (l *line) shifted() value { return l.do("shifted", 0) } // x - alpha, rounded to float32

func (l *line) fma(a, b, c value) value  { return l.do("fma", 0, a, b, c) }  // a*b + c
func (l *line) fnma(a, b, c value) value { return l.do("fnma", 0, a, b, c) } // c - a*b
func (l *line) add(a, b value) value     { return l.do("add", 0, a, b) }
func (l *line) sub(a, b value) value     { return l.do("sub", 0, a, b) }
func (l *line) mul(a, b value) value     { return l.do("mul", 0, a, b) }
func (l *line) max(a, b value) value     { return l.do("max", 0, a, b) } // b if either is NaN
func (l *line) min(a, b value) value     { return l.do("min", 0, a, b) } // likewise
func (l *line) and(a, b value) value     { return l.do("and", 0, a, b) }
func (l *line) or(a, b value) value      { return l.do("or", 0, a, b) }
func (l *line) xor(a, b value) value     { return l.do("xor", 0, a, b) }
func (l *line) plus(a, b value) value    { return l.do("plus", 0, a, b) } // sum of bits as integers
func (l *line) left(a value, n int) value {
	return l.do("left", uint64(n), a)
}
func (l *line) right(a value, n int) value { return l.do("right", uint64(n), a) }

// alpha returns alpha, in a single line.
func (l *line) alpha() value { return l.do("alpha", 0) }

func (l *line) div(a, b value) value { return l.do("div", 0, a, b) }
func (l *line) sqrt(a value) value   { return l.do("sqrt", 0, a) }

// rightSigned is right for signed numbers, and toFloat returns them as numbers. Both are of single lines.
func (l *line) rightSigned(a value, n int) value { return l.do("rightSigned", uint64(n), a) }
func (l *line) toFloat(a value) value            { return l.do("toFloat", 0, a) }

// scale returns y 2^n for y between 1/4 and 4 and a whole n from -250 to 250, rounded once. It is of single lines.
func (l *line) scale(y, n value) value { return l.do("scale", 0, y, n) }

// exponent and fraction are of wide single lines: exponent returns k, and fraction a number y from 3/4 up
// to 3/2 with x = 2^k y. For 0 and infinity, k is -∞ and ∞ and y has the magnitude 1; for NaN and numbers
// below 0, y is NaN.
func (l *line) exponent(x value) value {
	return l.sub(l.do("exponent", 0, x), l.do("exponent", 0, l.fraction(x)))
}
func (l *line) fraction(x value) value { return l.do("fraction", 0, x) }

// rsqrtEstimate is of wide single lines. It returns 1/√x with a relative error of at most 2^-14.
func (l *line) rsqrtEstimate(x value) value { return l.do("rsqrtEstimate", 0, x) }

// lookup returns the entry of a table of 32 numbers with the index in the last 5 bits of a single line's i.
func (l *line) lookup(table []float64, i value) value {
	at := slices.IndexFunc(lookups, func(known []float64) bool { return slices.Equal(known, table) })
	if at < 0 {
		at = len(lookups)
		lookups = append(lookups, table)
	}
	return l.do("lookup", uint64(at), i)
}

// lookups are the tables of all functions.
var lookups [][]float64

// less returns a if x < y, otherwise b.
func (l *line) less(x, y, a, b value) value { return l.do("less", 0, x, y, a, b) }

// interleaved returns the line that computes n independent results, and their values. An operation
// stands next to the same operation of the others, so that a processor always has some whose operands are ready.
func (l *line) interleaved(result value, n int) (*line, []value) {
	out := &line{single: l.single, wide: l.wide, half: l.half}
	at := make([][]value, len(l.ops))
	for i, o := range l.ops {
		at[i] = make([]value, n)
		for u := range n {
			in := make([]value, len(o.in))
			for j, v := range o.in {
				in[j] = at[v][u]
			}
			bits := o.bits
			switch o.name {
			case "x", "y", "shifted":
				bits = uint64(u)
			}
			at[i][u] = out.do(o.name, bits, in...)
		}
	}
	return out, at[result]
}

// printGo returns a function as Go source.
func (l *line) printGo(name, comment string, result value) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n// %s returns %s.\nfunc %s(x, y, alpha float32) float32 {\n", name, comment, name)
	number, from, to, width := "float64", "math.Float64frombits", "math.Float64bits", 64
	fused := "math.FMA"
	if l.single {
		number, from, to, width = "float32", "math.Float32frombits", "math.Float32bits", 32
		fused = "FMA"
	}
	ref := func(v value) string {
		o := l.ops[v]
		if o.name != "const" {
			return fmt.Sprintf("v%d", v)
		}
		f, least := math.Float64frombits(o.bits), 0x1p-1022
		if l.single {
			f, least = float64(math.Float32frombits(uint32(o.bits))), 0x1p-126
		}
		if !math.IsInf(f, 0) && f == f && math.Abs(f) >= least && f != 0 {
			return number + "(" + strconv.FormatFloat(f, 'x', -1, width) + ")"
		}
		return fmt.Sprintf("%s(0x%x)", from, o.bits)
	}
	raw := func(v value) string {
		if o := l.ops[v]; o.name == "const" {
			return fmt.Sprintf("0x%x", o.bits)
		}
		return to + "(" + ref(v) + ")"
	}
	for i, o := range l.ops {
		if o.name == "const" {
			continue
		}
		r := make([]string, len(o.in))
		w := make([]string, len(o.in))
		for j, v := range o.in {
			r[j], w[j] = ref(v), raw(v)
		}
		integer := func(op string) string { return fmt.Sprintf("%s(%s %s %s)", from, w[0], op, w[1]) }
		var e string
		switch o.name {
		case "x", "y":
			e = o.name
			if !l.single {
				e = "float64(" + o.name + ")"
			}
		case "alpha":
			e = o.name
		case "shifted":
			e = number + "(x - alpha)"
		case "fma":
			e = fmt.Sprintf("%s(%s, %s, %s)", fused, r[0], r[1], r[2])
		case "fnma":
			e = fmt.Sprintf("%s(-%s, %s, %s)", fused, r[0], r[1], r[2])
		case "add":
			e = r[0] + " + " + r[1]
		case "sub":
			e = r[0] + " - " + r[1]
		case "div":
			e = r[0] + " / " + r[1]
		case "mul":
			e = fmt.Sprintf("%s(%s * %s)", number, r[0], r[1])
		case "max", "min", "less":
			op, x, y, a, b2 := "<", r[0], r[1], r[0], r[1]
			if o.name == "max" {
				op = ">"
			}
			if o.name == "less" {
				a, b2 = r[2], r[3]
			}
			fmt.Fprintf(&b, "v%d := %s\nif %s %s %s {\nv%d = %s\n}\n", i, b2, x, op, y, i, a)
			continue
		case "and":
			e = integer("&")
		case "or":
			e = integer("|")
		case "xor":
			e = integer("^")
		case "plus":
			e = integer("+")
		case "minus":
			e = integer("-")
		case "left":
			e = fmt.Sprintf("%s(%s << %d)", from, w[0], o.bits)
		case "right":
			e = fmt.Sprintf("%s(%s >> %d)", from, w[0], o.bits)
		case "rightSigned":
			e = fmt.Sprintf("math.Float32frombits(uint32(int32(%s) >> %d))", w[0], o.bits)
		case "toFloat":
			e = fmt.Sprintf("float32(int32(%s))", w[0])
		case "lookup":
			e = fmt.Sprintf("lookups[%d][%s&31]", o.bits, w[0])
		case "scale":
			e = fmt.Sprintf("scaled(%s, %s)", r[0], r[1])
		case "sqrt":
			e = fmt.Sprintf("float32(math.Sqrt(float64(%s)))", r[0])
		default:
			panic(o.name)
		}
		fmt.Fprintf(&b, "v%d := %s\n", i, e)
	}
	fmt.Fprintf(&b, "return float32(%s)\n}\n", ref(result))
	return b.String()
}
