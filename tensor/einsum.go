package tensor

import (
	"fmt"
	"slices"
	"strings"
)

// equation is a parsed Einsum equation for operands of known shapes. Labels are letters; the
// dimensions of an ellipsis have the labels 0, 1, …, the last label being the last dimension.
type equation struct {
	labels [][]byte // labels of each operand's dimensions
	out    []byte
	sizes  map[byte]int
}

// parseEquation parses text, or panics with an [*Error] that quotes it.
func parseEquation(text string, in []*Tensor) *equation {
	wrong := func(format string, args ...any) {
		fail("einsum", in, "equation %q: "+format, append([]any{text}, args...)...)
	}
	left, right, explicit := strings.Cut(strings.ReplaceAll(text, " ", ""), "->")
	terms := strings.Split(left, ",")
	if len(terms) != len(in) {
		wrong("it has %d operands; want %d, the number of tensors", len(terms), len(in))
	}
	e := &equation{sizes: map[byte]int{}}
	ellipsis := 0
	for i, term := range terms {
		letters, n := strings.Replace(term, "...", "", 1), 0
		if len(letters) != len(term) {
			n = len(in[i].shape) - len(letters)
		}
		checkLetters(letters, wrong)
		if n < 0 || n == 0 && len(letters) != len(in[i].shape) {
			wrong("operand %d is %d-dimensional; want the dimensions of %q", i, len(in[i].shape), term)
		}
		ellipsis = max(ellipsis, n)
	}
	if ellipsis > 'A' {
		wrong("an ellipsis stands for %d dimensions; want at most %d", ellipsis, 'A')
	}
	for i, term := range terms {
		n := len(in[i].shape) - len(strings.Replace(term, "...", "", 1))
		labels := expandEllipsis(term, ellipsis, n)
		e.labels = append(e.labels, labels)
		for d, l := range labels {
			size := in[i].shape[d]
			switch old, seen := e.sizes[l]; {
			case slices.Contains(labels[:d], l) && size != in[i].shape[slices.Index(labels, l)]:
				wrong("%s occurs twice in operand %d, with sizes %d and %d; want equal sizes", labelName(l), i, in[i].shape[slices.Index(labels, l)], size)
			case !seen || old == 1:
				e.sizes[l] = size
			case size != old && size != 1:
				wrong("%s has size %d in operand %d but size %d in an earlier one; want equal sizes, or 1", labelName(l), size, i, old)
			}
		}
	}
	if !explicit {
		e.out = e.implicit(ellipsis)
		return e
	}
	checkLetters(strings.Replace(right, "...", "", 1), wrong)
	e.out = expandEllipsis(right, ellipsis, ellipsis)
	for i, l := range e.out {
		if _, ok := e.sizes[l]; !ok {
			wrong("%s of the result does not occur in any operand", labelName(l))
		}
		if slices.Contains(e.out[:i], l) {
			wrong("%s occurs twice in the result; want each label once", labelName(l))
		}
	}
	return e
}

func checkLetters(letters string, wrong func(string, ...any)) {
	for _, r := range letters {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			wrong("%q is not a label; want letters, and at most one ... per operand", r)
		}
	}
}

// expandEllipsis returns the labels of a term. Its ellipsis stands for the last n of all
// ellipsis dimensions.
func expandEllipsis(term string, all, n int) []byte {
	before, after, has := strings.Cut(term, "...")
	labels := []byte(before)
	for i := all - n; has && i < all; i++ {
		labels = append(labels, byte(i))
	}
	return append(labels, after...)
}

func labelName(l byte) string {
	if l < 'A' {
		return "a dimension of the ellipsis"
	}
	return fmt.Sprintf("label %q", l)
}

// implicit returns the labels of the result of an equation without ->: the ellipsis, then the
// letters that occur once, in alphabetical order.
func (e *equation) implicit(ellipsis int) []byte {
	var count [256]int
	for _, labels := range e.labels {
		for _, l := range labels {
			count[l]++
		}
	}
	var out []byte
	for l := range count {
		if l < ellipsis || count[l] == 1 && l >= 'A' {
			out = append(out, byte(l))
		}
	}
	return out
}

// order returns all labels: those of the result, then those that are summed over.
func (e *equation) order() []byte {
	all := slices.Clone(e.out)
	for _, labels := range e.labels {
		for _, l := range labels {
			if !slices.Contains(all, l) {
				all = append(all, l)
			}
		}
	}
	return all
}

// evaluate contracts the operands from left to right with matrix products.
func (e *equation) evaluate(in []*Tensor) *Tensor { return e.evaluateBy(in, contract) }

// evaluateBy is evaluate with a given function to multiply two operands and sum over dims.
func (e *equation) evaluateBy(in []*Tensor, contract func(x, y *Tensor, dims []int) *Tensor) *Tensor {
	order := e.order()
	var y *Tensor
	for i, x := range in {
		x = spreadOut(x, e.labels[i], order)
		// Labels that no later operand has can be summed over now.
		var over []int
		for d := len(e.out); d < len(order); d++ {
			if !slices.ContainsFunc(e.labels[i+1:], func(l []byte) bool { return slices.Contains(l, order[d]) }) {
				over = append(over, d)
			}
		}
		if y == nil {
			y = sumOver(x, over)
		} else {
			y = contract(y, x, over)
		}
	}
	// Summed dimensions still have size 1.
	return y.Reshape(y.shape[:len(e.out)]...)
}

// spreadOut returns x with a dimension for each label of order, of size 1 for labels that x
// lacks. A label that occurs twice in x selects the diagonal.
func spreadOut(x *Tensor, labels, order []byte) *Tensor {
	labels = slices.Clone(labels)
	for i := 0; i < len(labels); i++ {
		if j := slices.Index(labels[i+1:], labels[i]); j >= 0 {
			l := labels[i]
			j += i + 1
			x = x.Diagonal(0, i, j)
			labels = append(slices.Delete(slices.Delete(labels, j, j+1), i, i+1), l)
			i = -1
		}
	}
	var axes, shape []int
	for _, l := range order {
		if d := slices.Index(labels, l); d >= 0 {
			axes, shape = append(axes, d), append(shape, x.shape[d])
		} else {
			shape = append(shape, 1)
		}
	}
	return x.Permute(axes...).Reshape(shape...)
}

func sumOver(x *Tensor, dims []int) *Tensor {
	dims = slices.DeleteFunc(slices.Clone(dims), func(d int) bool { return x.shape[d] == 1 })
	if len(dims) == 0 {
		return x
	}
	return x.KeepDim().Sum(dims...)
}

// pairUp is contract, but uses a matrix product only to sum over dimensions of both operands.
// Otherwise it multiplies element by element.
func pairUp(x, y *Tensor, dims []int) *Tensor {
	if slices.ContainsFunc(dims, func(d int) bool { return x.shape[d] != 1 && y.shape[d] != 1 }) {
		return contract(x, y, dims)
	}
	return sumOver(x, dims).Mul(sumOver(y, dims))
}

// contract multiplies x and y, of equal rank, and sums over dims, which keep size 1, as one
// batch of matrix products.
func contract(x, y *Tensor, dims []int) *Tensor {
	// Axes of both that are kept, of x only, of y only, and of both that are summed.
	var both, left, right, inner, xOnly, yOnly []int
	shape := make([]int, len(x.shape))
	for d := range shape {
		a, b := x.shape[d] != 1, y.shape[d] != 1
		gone := slices.Contains(dims, d)
		switch {
		case gone:
			shape[d] = 1
		case a:
			shape[d] = x.shape[d]
		default:
			shape[d] = y.shape[d]
		}
		switch {
		case gone && a && b:
			inner = append(inner, d)
		case gone && a:
			xOnly = append(xOnly, d)
		case gone && b:
			yOnly = append(yOnly, d)
		case gone:
		case a && b:
			both = append(both, d)
		case b:
			right = append(right, d)
		default:
			left = append(left, d)
		}
	}
	x, y = sumOver(x, xOnly), sumOver(y, yOnly)
	extent := func(t *Tensor, dims []int) int {
		n := 1
		for _, d := range dims {
			n *= t.shape[d]
		}
		return n
	}
	ones := func(used ...[]int) []int { // size 1 for the axes that are not used
		all := slices.Concat(used...)
		return append(all, slices.DeleteFunc(seq(len(shape)), func(d int) bool { return slices.Contains(all, d) })...)
	}
	b, k := extent(x, both), extent(x, inner)
	xs := x.Permute(ones(both, left, inner)...).Reshape(b, extent(x, left), k)
	ys := y.Permute(ones(both, inner, right)...).Reshape(b, k, extent(y, right))
	p := xs.BMM(ys)
	order := ones(both, left, right)
	sizes := make([]int, len(order))
	back := make([]int, len(order))
	for i, d := range order {
		sizes[i], back[d] = shape[d], i
	}
	return p.Reshape(sizes...).Permute(back...)
}
