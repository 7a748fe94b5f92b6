package optim

import (
	"math"

	"halfnote/tensor"
)

// The line search of J. Nocedal and S. Wright, "Numerical Optimization", algorithms 3.5
// and 3.6, with the constants and the safeguards of torch's strong_wolfe.
const (
	sufficient = 1e-4 // fraction of the initial slope by which the loss must fall
	flat       = 0.9  // largest final slope, as a fraction of the initial one
)

// point is a point on the line of a search.
type point struct {
	at       float64 // distance from the start, in lengths of the direction
	loss     float64
	slope    float64        // slope of the loss along the line
	gradient *tensor.Tensor // gradient of all parameters, flattened
}

// search moves the parameters along the direction to a point that meets the strong Wolfe
// conditions, or to the best point that it finds in about limit calls of evaluate, and sets the
// length to the distance. It returns the loss and the gradient there and the number of calls.
// loss, slope and g are the loss, its slope and the gradient at the start.
func (o *LBFGS) search(evaluate func() float64, loss, slope float64, g *tensor.Tensor, limit int) (float64, *tensor.Tensor, int) {
	start := make([]*tensor.Tensor, len(o.params))
	for i, p := range o.params {
		start[i] = p.Detach().Clone()
	}
	back := func() {
		for i, p := range o.params {
			p.Assign(start[i])
		}
	}
	calls := 0
	look := func(at float64) point {
		o.move(at)
		x := point{at: at, loss: evaluate(), gradient: o.gradient()}
		x.slope = dot(x.gradient, o.direction)
		back()
		calls++
		return x
	}
	w := wolfe{start: point{0, loss, slope, g}, look: look, span: largest(o.direction), least: o.o.Change, limit: limit}
	end := w.find(o.length)
	o.length = end.at
	o.move(end.at)
	return end.loss, end.gradient, calls
}

// wolfe is one search.
type wolfe struct {
	start point
	look  func(at float64) point
	span  float64 // largest element of the direction
	least float64 // change of a parameter at which to stop
	limit int     // largest number of steps
	steps int
}

// falls reports whether the loss at x meets the first condition.
func (w *wolfe) falls(x point) bool {
	return !(x.loss > w.start.loss+float64(sufficient*x.at*w.start.slope))
}

// level reports whether the slope at x meets the second condition.
func (w *wolfe) level(x point) bool { return math.Abs(x.slope) <= -flat*w.start.slope }

// find returns the point to move to. It tries first before other points.
func (w *wolfe) find(first float64) point {
	last, x := w.start, w.look(first)
	for ; w.steps < w.limit; w.steps++ {
		switch {
		case !w.falls(x) || w.steps > 1 && x.loss >= last.loss:
			return w.zoom(last, x)
		case w.level(x):
			return x
		case x.slope >= 0:
			return w.zoom(last, x)
		}
		next := lowest(last, x, x.at+float64(0.01*(x.at-last.at)), 10*x.at)
		last, x = x, w.look(next)
	}
	low, _ := ordered(w.start, x)
	return low
}

// zoom returns the point between a and b to move to.
func (w *wolfe) zoom(a, b point) point {
	low, high := ordered(a, b)
	close := false
	for ; w.steps < w.limit && math.Abs(high.at-low.at)*w.span >= w.least; w.steps++ {
		from, to := math.Min(low.at, high.at), math.Max(low.at, high.at)
		var at float64
		at, close = inside(lowest(low, high, from, to), from, to, close)
		x := w.look(at)
		switch {
		case !w.falls(x) || x.loss >= low.loss:
			low, high = ordered(low, x)
			continue
		case w.level(x):
			return x
		case x.slope*(high.at-low.at) >= 0:
			high = low
		}
		low = x
	}
	return low
}

// ordered returns a and b, the point of lower loss first.
func ordered(a, b point) (low, high point) {
	if a.loss <= b.loss {
		return a, b
	}
	return b, a
}

// lowest returns the minimum between from and to of the cubic through a and b with their
// slopes, or the middle if the cubic has no minimum.
func lowest(a, b point, from, to float64) float64 {
	if a.at > b.at {
		a, b = b, a
	}
	d1 := a.slope + b.slope - 3*(a.loss-b.loss)/(a.at-b.at)
	square := float64(d1*d1) - float64(a.slope*b.slope)
	if !(square >= 0) {
		return (from + to) / 2
	}
	d2 := math.Sqrt(square)
	at := b.at - float64((b.at-a.at)*((b.slope+d2-d1)/(b.slope-a.slope+float64(2*d2))))
	return math.Min(math.Max(at, from), to)
}

// inside returns at, unless it is outside the interval, or close to an end for the second time:
// then it returns a point a tenth of the way from that end. It also reports whether at was close
// and was returned.
func inside(at, from, to float64, before bool) (float64, bool) {
	margin := float64(0.1 * (to - from))
	switch {
	case math.Min(to-at, at-from) >= margin:
		return at, false
	case !before && at < to && at > from:
		return at, true
	case to-at < at-from:
		return to - margin, false
	}
	return from + margin, false
}
