package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"halfnote/amp"
	"halfnote/tensor"
)

// Rules about speed.

// product is a matrix product or convolution in half precision.
type product struct {
	at    spot
	op    string
	sizes []int // sizes that should be multiples of 8: m, k and n of a matrix product, the channels of a convolution
	depth int   // number of products summed for each element of the result
	flops float64
}

func (p product) aligned() bool {
	return !slices.ContainsFunc(p.sizes, func(n int) bool { return n%8 != 0 })
}

// noteProduct records products for checks at the end.
func noteProduct(w *watch, e *tensor.Event) string {
	if e.Backward || amp.Listed(e.Op) != amp.LowerPrecision || !half(e.Computed) || len(e.In) < 2 {
		return ""
	}
	a, b := e.In[0].Shape, e.In[1].Shape
	p := product{at: w.here, op: e.Op.Name, flops: e.FLOPs}
	switch e.Op.Name {
	case "linear":
		p.sizes, p.depth = []int{size(a[:len(a)-1]), b[1], b[0]}, b[1]
	case "mm", "matmul", "bmm":
		if len(a) < 2 || len(b) < 2 {
			return ""
		}
		m := a[len(a)-2]
		if len(b) == 2 {
			m = size(a[:len(a)-1])
		}
		p.depth = a[len(a)-1]
		p.sizes = []int{m, p.depth, b[len(b)-1]}
	case "conv1d", "conv2d", "conv3d":
		p.sizes, p.depth = []int{b[1], b[0]}, size(b[1:])
	default:
		return ""
	}
	w.products = append(w.products, p)
	return ""
}

func size(shape []int) int {
	n := 1
	for _, k := range shape {
		n *= k
	}
	return n
}

// share returns the share of the work in products with a property, and the largest of them.
func (w *watch) share(has func(p product) bool) (share float64, worst product) {
	all, some := 0.0, 0.0
	for _, p := range w.products {
		all += p.flops
		if has(p) {
			some += p.flops
			if p.flops > worst.flops {
				worst = p
			}
		}
	}
	return some / max(all, 1), worst
}

func short(p product) bool { return p.depth < 64 }

func smallProducts(w *watch, found found) {
	if share, p := w.share(short); share > 0.5 {
		found(p.at, fmt.Sprintf("%.0f %% of the work is in products with an inner size below 64, such as %s over %d", 100*share, p.op, p.depth))
	}
}

func oddSizes(w *watch, found found) {
	if share, _ := w.share(short); share > 0.5 {
		return // too small to gain at any size
	}
	if share, p := w.share(func(p product) bool { return !p.aligned() }); share > 0.1 {
		found(p.at, fmt.Sprintf("%.0f %% of the work is in products with such sizes, such as %s of %s", 100*share, p.op, by(p.sizes)))
	}
}

// by writes sizes, "64 by 3 by 8".
func by(sizes []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(sizes), " ", " by "), "[]")
}

func repeatedCast(w *watch, e *tensor.Event) string {
	if e.Backward || !e.InCast || !half(e.Out.DType) {
		return ""
	}
	id := w.origin(e.In[0].ID)
	if !w.leaves[id] && w.params[id] == "" {
		return ""
	}
	c := cast{casting.Active(), id, e.Out.DType, e.Operands[0].Version()}
	if w.casts[c]++; w.casts[c] != 2 {
		return ""
	}
	return fmt.Sprintf("%s is cast to %v again in one region", w.weight(id), e.Out.DType)
}

// weight returns the name of a parameter by its ID.
func (w *watch) weight(id int) string {
	if name := w.params[id]; name != "" {
		return name
	}
	return "a weight"
}

// most is the number of values that may be read in a step before the rule applies.
const most = 5

func syncOften(w *watch, found found) {
	if n := len(w.items) / max(w.steps, 1); n > most {
		// The line with the most reads.
		times := map[spot]int{}
		for _, at := range w.items {
			times[at]++
		}
		at := slices.MaxFunc(w.items, func(a, b spot) int { return times[a] - times[b] })
		found(at, fmt.Sprintf("%d values were read one at a time in each step", n))
	}
}
