package tensor

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

const (
	summarise = 1000 // number of elements above which only the edges are shown
	edge      = 3    // number of elements at each edge
	lineWidth = 80
)

// String returns t as torch prints it: four digits, only the edges above 1000 elements, and the
// dtype, by its short name, unless it is the default for such values.
func (t *Tensor) String() string {
	t.given("string")
	if t.mem == nil {
		return fmt.Sprintf("tensor(released, shape=%s, dtype=%v)", shapeString(t.shape), t.dtype)
	}
	const open = "tensor("
	var b strings.Builder
	b.WriteString(open)
	if t.Numel() == 0 {
		b.WriteString("[]")
	} else {
		shown := t.shownElements()
		shown.write(&b, t.shape, 0, len(open))
	}
	text := b.String()
	column := len(text) - strings.LastIndexByte(text, '\n') + 1
	for _, s := range t.suffixes() {
		n := len(s)
		if strings.HasPrefix(s, "dtype=") {
			n += len("torch.") // break lines where torch does
		}
		if column+n+2 > lineWidth {
			text += ",\n" + strings.Repeat(" ", len(open)) + s
			column = len(open) + n
		} else {
			text += ", " + s
			column += n + 2
		}
	}
	return text + ")"
}

// suffixes returns the attributes printed after the elements.
func (t *Tensor) suffixes() (list []string) {
	if d := t.Device(); d != CPU {
		list = append(list, "device="+string(d))
	}
	if t.Numel() == 0 && len(t.shape) != 1 {
		list = append(list, "size="+shapeString(t.shape))
	}
	if t.dtype != Float32 && (t.dtype != Int64 && t.dtype != Bool || t.Numel() == 0) {
		list = append(list, "dtype="+t.dtype.String())
	}
	switch {
	case t.v == nil:
	case t.v.leaf != nil:
		list = append(list, "requires_grad=True")
	default:
		list = append(list, "grad_fn="+t.v.of)
	}
	return list
}

// shown holds the elements that are printed, and the dimensions that are summarised.
type shown struct {
	texts []string
	width int
	gaps  []bool
	next  int
}

func (t *Tensor) shownElements() *shown {
	s := &shown{gaps: make([]bool, len(t.shape))}
	if t.Numel() > summarise {
		for d, n := range t.shape {
			if n > 2*edge {
				s.gaps[d] = true
				t = Cat(d, t.Detach().Slice(d, 0, edge), t.Detach().Slice(d, n-edge, n))
			}
		}
	}
	switch {
	case t.dtype == Bool:
		for _, x := range t.Bools() {
			s.add(map[bool]string{true: "True", false: "False"}[x], true)
		}
	case !t.dtype.IsFloat():
		for _, x := range t.Int64s() {
			s.add(strconv.FormatInt(x, 10), true)
		}
	default:
		values := t.Float64s()
		f := chooseFormat(values)
		for _, x := range values {
			s.add(f.format(x), counts(x))
		}
	}
	return s
}

// add adds an element. If it counts, it affects the width.
func (s *shown) add(text string, counts bool) {
	s.texts = append(s.texts, text)
	if s.width = max(s.width, 1); counts {
		s.width = max(s.width, len(text))
	}
}

func (s *shown) write(b *strings.Builder, shape []int, d, indent int) {
	if d == len(shape) {
		fmt.Fprintf(b, "%*s", s.width, s.texts[s.next])
		s.next++
		return
	}
	n := shape[d]
	if s.gaps[d] {
		n = 2 * edge
	}
	last := d == len(shape)-1
	newline := ",\n" + strings.Repeat(" ", indent+1)
	separator := ", "
	if !last {
		separator = strings.Replace(newline, "\n", strings.Repeat("\n", len(shape)-1-d), 1)
	}
	perLine := max(1, (lineWidth-indent)/(s.width+2))
	b.WriteString("[")
	item := 0
	next := func() {
		switch {
		case item == 0:
		case last && item%perLine == 0:
			b.WriteString(newline)
		default:
			b.WriteString(separator)
		}
		item++
	}
	for i := range n {
		if s.gaps[d] && i == edge {
			next()
			if last {
				b.WriteString(" ")
			}
			b.WriteString("...")
		}
		next()
		s.write(b, shape, d+1, indent+1)
	}
	b.WriteString("]")
}

// numberFormat is the format of the floating-point numbers of one print, by the rules of
// torch's _tensor_str.py.
type numberFormat struct{ whole, scientific bool }

// counts reports whether x determines the format. Zeros and non-finite values do not.
func counts(x float64) bool { return x != 0 && !math.IsInf(x, 0) && !math.IsNaN(x) }

func chooseFormat(values []float64) numberFormat {
	f := numberFormat{whole: true}
	lo, hi := math.Inf(1), 0.0
	for _, x := range values {
		if counts(x) {
			lo, hi = min(lo, math.Abs(x)), max(hi, math.Abs(x))
			f.whole = f.whole && x == math.Trunc(x)
		}
	}
	f.scientific = hi > 0 && (hi/lo > 1000 || hi > 1e8 || !f.whole && lo < 1e-4)
	return f
}

func (f numberFormat) format(x float64) string {
	switch {
	case math.IsNaN(x):
		return "nan"
	case math.IsInf(x, 0):
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(x, 'g', -1, 64), "+"))
	case f.scientific:
		return strconv.FormatFloat(x, 'e', 4, 64)
	case f.whole:
		return strconv.FormatFloat(x, 'f', 0, 64) + "."
	}
	return strconv.FormatFloat(x, 'f', 4, 64)
}
