// Package text writes numbers for people, and shortens texts.
package text

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Bytes returns a number of bytes in the largest unit that leaves one or more, for example
// "1.5 GiB".
func Bytes(n int64) string {
	for _, unit := range []struct {
		name string
		size int64
	}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= unit.size {
			return fmt.Sprintf("%.1f %s", float64(n)/float64(unit.size), unit.name)
		}
	}
	return Count(int(n), "byte")
}

// Number returns a float with some digits, and with all digits before the point below 10¹⁵: 1048576, not 1.04858e+06.
func Number(x float64, digits int) string {
	switch size := math.Abs(x); {
	case size < 1e15 && x == math.Trunc(x), size >= math.Pow10(digits) && size < 1e15:
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', digits, 64)
}

// Count returns a number of things, for example "1 cell" and "2,000 cells".
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return Thousands(n) + " " + noun
}

// Thousands returns n with a comma between groups of three digits.
func Thousands(n int) string {
	s := strconv.Itoa(n)
	first := 0
	if n < 0 {
		first = 1
	}
	for i := len(s) - 3; i > first; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

var superscript = strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴",
	"5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹")

// Power returns base to the power e, for example "2⁻¹⁴".
func Power(base, e int) string {
	return strconv.Itoa(base) + superscript.Replace(strconv.Itoa(e))
}

// Shape returns the sizes of a tensor as torch writes them: "(2, 3)", "(3,)" or "()".
func Shape(shape []int) string { return tuple(shape) }

// Sprintf is fmt.Sprintf, but writes slices of numbers in args as tuples, as torch does:
// "(2, 3)", "(3,)" or "()". It changes args.
func Sprintf(format string, args ...any) string {
	for i, a := range args {
		switch a := a.(type) {
		case []int:
			args[i] = tuple(a)
		case []int64:
			args[i] = tuple(a)
		case []float64:
			args[i] = tuple(a)
		}
	}
	return fmt.Sprintf(format, args...)
}

func tuple[T int | int64 | float64](list []T) string {
	var s []string
	for _, n := range list {
		s = append(s, fmt.Sprint(n))
	}
	if len(s) == 1 {
		return "(" + s[0] + ",)"
	}
	return "(" + strings.Join(s, ", ") + ")"
}
