package tensor

import (
	"fmt"
	"html"
	"math"
	"strings"

	"halfnote/internal/text"
	"halfnote/tensor/driver"
)

// Counts holds the number of elements of a tensor and, for floating-point dtypes, the numbers
// of zero, subnormal, infinite and NaN elements, and the range.
type Counts = driver.Counts

// distinct returns a view of t without repeated elements, and the number of times each one is
// repeated, so that an expanded tensor is not read repeatedly.
func (t *Tensor) distinct() (once *Tensor, times int) {
	shape, times := t.Shape(), 1
	for d, n := range shape {
		if t.stride[d] == 0 && n > 1 {
			shape[d] = 1
			times *= n
		}
	}
	return t.alias(t.offset, shape, t.stride), times
}

// repeatedCounts returns the counts of a tensor that repeats each element the given number of
// times.
func repeatedCounts(c Counts, times int) Counts {
	for _, n := range []*int{&c.Count, &c.Zeros, &c.Subnormals, &c.Infs, &c.NaNs} {
		*n *= times
	}
	return c
}

// Counts counts t's elements. It is not an operation, so observers do not see it.
func (t *Tensor) Counts() Counts {
	t.given("counts")
	once, times := t.distinct()
	if c, ok := t.mem.backend.(driver.Counter); ok {
		return repeatedCounts(c.Count(once.view()), times)
	}
	return repeatedCounts(countsOf(t.dtype, once.Float64s()), times)
}

// countsOf counts the values of a tensor of dtype d.
func countsOf(d DType, values []float64) Counts {
	c := Counts{Count: len(values), AbsMin: math.NaN(), AbsMax: math.NaN()}
	tiny := 0.0
	if d.IsFloat() {
		tiny = FInfo(d).Tiny
	}
	for i, x := range values {
		pollAt(i)
		a := math.Abs(x)
		switch {
		case x == 0:
			c.Zeros++
			continue
		case !d.IsFloat():
			continue
		case x != x:
			c.NaNs++
			continue
		case math.IsInf(x, 0):
			c.Infs++
			continue
		case a < tiny:
			c.Subnormals++
		}
		if !(c.AbsMin <= a) {
			c.AbsMin = a
		}
		if !(c.AbsMax >= a) {
			c.AbsMax = a
		}
	}
	return c
}

// Stats is Counts with statistics of individual values.
type Stats struct {
	Counts
	Min, Max, Mean float64 // of the finite elements; NaN if there are none
}

// Stats computes t's statistics. It is not an operation, so observers do not see it.
func (t *Tensor) Stats() Stats {
	t.given("stats")
	once, times := t.distinct()
	values := once.Float64s()
	s := Stats{Counts: repeatedCounts(countsOf(t.dtype, values), times), Min: math.NaN(), Max: math.NaN(), Mean: math.NaN()}
	total, finite := 0.0, 0
	for i, x := range values {
		pollAt(i)
		if x-x != 0 {
			continue
		}
		if finite++; finite == 1 {
			s.Min, s.Max = x, x
		}
		s.Min, s.Max = min(s.Min, x), max(s.Max, x)
		total += x
	}
	if finite > 0 {
		s.Mean = total / float64(finite)
	}
	return s
}

// colours are the project's colours for dtypes, for a light background.
var colours = map[DType]string{
	Float16: "#C2410C", BFloat16: "#007A5A", Float32: "#1072D2", Float64: "#6B7280",
	Float8E4M3: "#B0267A", Float8E5M2: "#8E44AD", Int64: "#4B5563", Int32: "#4B5563", Int16: "#4B5563", Int8: "#4B5563", Uint8: "#4B5563", Bool: "#4B5563",
}

// HTML returns a small table of dtype, shape, device, range and unusual values, followed by the
// first elements. Its styles are inline, so that it works in an untrusted notebook.
func (t *Tensor) HTML() string {
	t.given("html")
	s := t.Stats()
	const bad = "background:#B00020;color:#FFFFFF;border-radius:3px;padding:0 6px;font-weight:600" // legible on white and on black pages
	rows := [][2]string{
		{"dtype", fmt.Sprintf(`<span style="background:%s;color:#FFFFFF;border-radius:3px;padding:0 6px">%v</span>`, colours[t.dtype], t.dtype)},
		{"shape", shapeString(t.shape)},
		{"device", html.EscapeString(string(t.Device()))},
		{"memory", text.Bytes(int64(t.Bytes()))},
	}
	if s.Count > s.Infs+s.NaNs {
		rows = append(rows, [2]string{"range", fmt.Sprintf("%.4g to %.4g, mean %.4g", s.Min, s.Max, s.Mean)})
	}
	for _, c := range []struct {
		name, style string
		n           int
	}{{"zeros", "", s.Zeros}, {"subnormal", "", s.Subnormals}, {"inf", bad, s.Infs}, {"nan", bad, s.NaNs}} {
		if c.n > 0 {
			rows = append(rows, [2]string{c.name, fmt.Sprintf(`<span style="%s">%d of %d</span>`, c.style, c.n, s.Count)})
		}
	}
	if t.v != nil {
		why := "requires_grad"
		if t.v.leaf == nil {
			why = "result of " + t.v.of
		}
		rows = append(rows, [2]string{"gradient", html.EscapeString(why)})
	}
	var b strings.Builder
	b.WriteString(`<table style="border-collapse:collapse;font-size:13px">`)
	for _, r := range rows {
		fmt.Fprintf(&b, `<tr><td style="text-align:left;padding:1px 12px 1px 0">%s</td><td style="text-align:left;padding:1px 0">%s</td></tr>`, r[0], r[1])
	}
	// Voila's style sheet gives pre the proportional font of its text.
	fmt.Fprintf(&b, `</table><pre style="margin:4px 0 0 0;font-family:monospace">%s</pre>`, html.EscapeString(t.String()))
	return b.String()
}
