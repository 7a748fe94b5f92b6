package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A function of float32 is computed in float64, so that its rounded value is nearly always the
// nearest float32. It is a sequence of operations without branches, printed three times: for registers
// of eight and of four numbers, and as Go. All three perform the same operations in the same order and
// give the same bits.

// value is the number of an operation, and stands for its result.
type value int

type operation struct {
	name string
	in   []value
	bits uint64 // bits of a constant
}

// line is a function under construction. Equal operations are merged.
type line struct{ ops []operation }

func (l *line) do(name string, bits uint64, in ...value) value {
	for i, o := range l.ops {
		if o.name == name && o.bits == bits && slices.Equal(o.in, in) {
			return value(i)
		}
	}
	l.ops = append(l.ops, operation{name, in, bits})
	return value(len(l.ops) - 1)
}

func (l *line) float(c float64) value { return l.do("const", math.Float64bits(c)) }
func (l *line) bits(c uint64) value   { return l.do("const", c) }

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

// inverse returns 1/alpha, which is computed once.
func (l *line) inverse() value { return l.do("inverse", 0) }

// less returns a if x < y, otherwise b.
func (l *line) less(x, y, a, b value) value { return l.do("less", 0, x, y, a, b) }

// near returns the reciprocal of a, computed in float32.
func (l *line) near(a value) value { return l.do("near", 0, a) }

// root returns the square root of a, computed in float32.
func (l *line) root(a value) value { return l.do("root", 0, a) }

// printGo returns a function as Go source.
func (l *line) printGo(name, comment string, result value) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n// %s returns %s.\nfunc %s(x, y, alpha float32) float32 {\n", name, comment, name)
	ref := func(v value) string {
		o := l.ops[v]
		if o.name != "const" {
			return fmt.Sprintf("v%d", v)
		}
		if f := math.Float64frombits(o.bits); !math.IsInf(f, 0) && f == f && math.Abs(f) >= 0x1p-1022 && f != 0 {
			return "float64(" + strconv.FormatFloat(f, 'x', -1, 64) + ")"
		}
		return fmt.Sprintf("math.Float64frombits(0x%x)", o.bits)
	}
	raw := func(v value) string {
		if o := l.ops[v]; o.name == "const" {
			return fmt.Sprintf("0x%x", o.bits)
		}
		return "math.Float64bits(" + ref(v) + ")"
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
		integer := func(op string) string {
			return fmt.Sprintf("math.Float64frombits(%s %s %s)", w[0], op, w[1])
		}
		var e string
		switch o.name {
		case "x", "y":
			e = "float64(" + o.name + ")"
		case "shifted":
			e = "float64(x - alpha)"
		case "inverse":
			e = "1 / float64(alpha)"
		case "fma":
			e = fmt.Sprintf("math.FMA(%s, %s, %s)", r[0], r[1], r[2])
		case "fnma":
			e = fmt.Sprintf("math.FMA(-%s, %s, %s)", r[0], r[1], r[2])
		case "add":
			e = r[0] + " + " + r[1]
		case "sub":
			e = r[0] + " - " + r[1]
		case "mul":
			e = fmt.Sprintf("float64(%s * %s)", r[0], r[1])
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
			e = fmt.Sprintf("math.Float64frombits(%s << %d)", w[0], o.bits)
		case "right":
			e = fmt.Sprintf("math.Float64frombits(%s >> %d)", w[0], o.bits)
		case "near":
			e = fmt.Sprintf("float64(1 / float32(%s))", r[0])
		case "root":
			e = fmt.Sprintf("float64(float32(math.Sqrt(float64(float32(%s)))))", r[0])
		default:
			panic(o.name)
		}
		fmt.Fprintf(&b, "v%d := %s\n", i, e)
	}
	fmt.Fprintf(&b, "return float32(%s)\n}\n", ref(result))
	return b.String()
}
