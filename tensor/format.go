package tensor

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

const (
	summarise = 1000 // elements from which on a tensor is shown by its edges
	edge      = 3    // elements at each edge
)

// String returns t as torch prints it: four digits, edges only beyond 1000
// elements, and the dtype unless it is float32.
func (t *Tensor) String() string {
	if t.mem == nil {
		return fmt.Sprintf("tensor(released, shape=%s, dtype=%v)", shapeString(t.shape), t.dtype)
	}
	var b strings.Builder
	b.WriteString("tensor(")
	if t.Numel() == 0 {
		b.WriteString("[]")
		if len(t.shape) != 1 {
			b.WriteString(", shape=" + shapeString(t.shape))
		}
	} else {
		shown := t.shownElements()
		f := numberFormat{exact: true, truth: t.dtype == Bool}
		if t.dtype.IsFloat() {
			f = chooseFormat(shown.values)
		} else {
			f.fit(shown.values)
		}
		shown.write(&b, f, t.shape, 0, len("tensor("))
	}
	if t.dtype != Float32 && (t.dtype != Int64 && t.dtype != Bool || t.Numel() == 0) {
		fmt.Fprintf(&b, ", dtype=%v", t.dtype)
	}
	if d := t.Device(); d != CPU {
		fmt.Fprintf(&b, ", device=%s", d)
	}
	switch {
	case t.v == nil:
	case t.v.leaf != nil:
		b.WriteString(", requires_grad=true")
	default:
		b.WriteString(", grad_fn=" + t.v.of)
	}
	return b.String() + ")"
}

// shown are the elements that a print shows, and along which dimensions it leaves
// some out.
type shown struct {
	values []float64
	gaps   []bool
	next   int
}

func (t *Tensor) shownElements() *shown {
	s := &shown{gaps: make([]bool, len(t.shape))}
	if t.Numel() <= summarise {
		s.values = t.Float64s()
		return s
	}
	index := make([][]int, len(t.shape))
	for d, n := range t.shape {
		if index[d] = seq(n); n > 2*edge {
			s.gaps[d] = true
			index[d] = append(seq(edge), n-3, n-2, n-1)
		}
	}
	var walk func(d, offset int)
	walk = func(d, offset int) {
		if d == len(t.shape) {
			s.values = append(s.values, t.alias(offset, []int{}, []int{}).Float64s()[0])
			return
		}
		for _, i := range index[d] {
			walk(d+1, offset+i*t.stride[d])
		}
	}
	walk(0, t.offset)
	return s
}

func (s *shown) write(b *strings.Builder, f numberFormat, shape []int, d, indent int) {
	if d == len(shape) {
		b.WriteString(f.format(s.values[s.next]))
		s.next++
		return
	}
	n := shape[d]
	if s.gaps[d] {
		n = 2 * edge
	}
	last := d == len(shape)-1
	separator := ", "
	if !last {
		separator = "," + strings.Repeat("\n", len(shape)-1-d) + strings.Repeat(" ", indent+1)
	}
	perLine := max(1, (80-indent)/(f.width+2))
	b.WriteString("[")
	for i := range n {
		switch {
		case i == 0:
		case s.gaps[d] && i == edge:
			b.WriteString(separator + "..." + separator)
		case last && i%perLine == 0:
			b.WriteString(",\n" + strings.Repeat(" ", indent+1))
		default:
			b.WriteString(separator)
		}
		s.write(b, f, shape, d+1, indent+1)
	}
	b.WriteString("]")
}

// numberFormat is how the numbers of one print look: torch's rule.
type numberFormat struct {
	whole, scientific bool
	exact, truth      bool // integers, and bool
	width             int
}

func (f *numberFormat) fit(values []float64) {
	for _, x := range values {
		f.width = max(f.width, len(f.format(x)))
	}
}

func chooseFormat(values []float64) numberFormat {
	f := numberFormat{whole: true}
	lo, hi := math.Inf(1), 0.0
	for _, x := range values {
		if a := math.Abs(x); a > 0 && !math.IsInf(a, 0) {
			lo, hi = min(lo, a), max(hi, a)
			f.whole = f.whole && x == math.Trunc(x)
		}
	}
	switch {
	case hi == 0:
	case f.whole:
		f.scientific = hi > 1e8 || hi/lo > 1000 && hi > 1e5
	default:
		f.scientific = hi/lo > 1000 || hi > 1e8 || lo < 1e-4
	}
	f.fit(values)
	return f
}

func (f numberFormat) format(x float64) string {
	var s string
	switch {
	case f.truth:
		s = strings.ToUpper(strconv.FormatBool(x != 0)[:1]) + strconv.FormatBool(x != 0)[1:]
	case f.exact:
		s = strconv.FormatFloat(x, 'f', 0, 64)
	case math.IsNaN(x):
		s = "nan"
	case math.IsInf(x, 0):
		s = strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(x, 'g', -1, 64), "+"))
	case f.scientific:
		s = strconv.FormatFloat(x, 'e', 4, 64)
	case f.whole:
		s = strconv.FormatFloat(x, 'f', 0, 64) + "."
	default:
		s = strconv.FormatFloat(x, 'f', 4, 64)
	}
	return strings.Repeat(" ", max(0, f.width-len(s))) + s
}
