package diagnose

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"halfnote/amp"
	"halfnote/amp/trace"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// wake follows gradients through the backward pass.
type wake struct {
	mu      sync.Mutex
	names   *trace.Places
	params  []nn.Named
	shadows trace.Shadows

	results    map[int]*flow  // by ID
	layers     map[int]*layer // layers by ID of the parameter
	of         map[*layer][]*Underflow
	used       map[string]int // order of a parameter's first use
	underflows []*Underflow
	all        magnitudes64
	scale      float64
	backwards  int
}

// layer collects the observations of hooks.
type layer struct {
	LayerGradient
	seen  magnitudes64
	wrong float64 // largest distance of a gradient from that in float64, relative to the latter's norm
}

// flow is the result of an operation.
type flow struct {
	backward   bool
	op         string
	place      trace.Place
	source     string
	same       *flow   // source of the view or cast
	noise      float64 // magnitude up to which elements count as 0
	underflows []*Underflow
	nonzero    float64 // share of nonzero elements, in float64
	size       float64 // root mean square, in float64
	dtype      tensor.DType
	inf        *Occurrence // of a result with inf that is finite in float64, the operation that overflowed
}

func newWake(net any) *wake {
	w := &wake{results: map[int]*flow{}, layers: map[int]*layer{}, of: map[*layer][]*Underflow{}, used: map[string]int{}, scale: 1}
	var models []any
	if net != nil {
		models = append(models, net)
		w.params = nn.NamedParameters(net)
	}
	w.names = trace.NewPlaces(models...)
	for _, p := range w.params {
		w.layers[p.Tensor.ID()] = &layer{LayerGradient: LayerGradient{Param: p.Name, Module: parent(p.Name), Lowest: math.NaN(), Highest: math.NaN(), Outcome: Preserved}}
	}
	return w
}

// watch starts observing and returns a function that stops.
func (w *wake) watch() (stop func()) {
	list := []func(){observer{operation: w.operation, call: w.call, scaler: w.scaler}.watch()}
	for _, p := range w.params {
		list = append(list, p.Tensor.RegisterHook(func(g *tensor.Tensor) *tensor.Tensor {
			w.arrived(w.layers[p.Tensor.ID()], g)
			return nil
		}))
	}
	return func() {
		for _, f := range list {
			f()
		}
	}
}

func (w *wake) call(m call) {
	if m.Name == "backward" {
		w.mu.Lock()
		w.backwards++
		w.mu.Unlock()
	}
}

func (w *wake) scaler(e amp.ScalerEvent) {
	if e.Kind == amp.EventScale {
		w.mu.Lock()
		w.scale = e.Before
		w.mu.Unlock()
	}
}

// operation observes an operation.
func (w *wake) operation(e tensor.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	place := w.names.Find(e)
	rounding, known := w.shadows.Follow(e)
	if place.Param != "" && !e.Backward && !e.InPlace {
		if _, ok := w.used[place.Param]; !ok {
			w.used[place.Param] = len(w.used)
		}
	}
	if e.InPlace || !e.Out.DType.IsFloat() || len(e.Operands) == 0 {
		return
	}
	g := &flow{dtype: e.Out.DType, backward: e.Backward, op: e.Op.Name, place: place, source: e.Source}
	var in *flow   // incoming gradient
	var zero *flow // all-zero factor of the derivative
	for _, t := range e.Operands {
		of := w.results[t.ID()]
		if of == nil {
			continue
		}
		if of.backward && in == nil {
			in = of
		} else if of.size == 0 && !of.backward {
			zero = of.origin()
		}
		for _, d := range of.underflows {
			if !slices.Contains(g.underflows, d) {
				g.underflows = append(g.underflows, d)
			}
		}
		if e.View || e.Op.Name == "cast" {
			g.same = of
		}
		if e.View {
			g.inf = of.inf
		}
	}
	w.results[e.Out.ID] = g
	forget(w.results, e.Out.ID)
	truth := w.shadows.Values(e.Result)
	if truth == nil {
		return
	}
	if g.same != nil {
		g.noise = g.same.noise
	} else if in != nil {
		g.noise = in.size * noise
	}
	cancelled := quiet(truth, g.noise)
	g.nonzero, g.size = extent(truth)
	if e.Op.Name == "cast" && in != nil && half(in.dtype) {
		g.dtype = in.dtype // dtype of the gradient so far
	}
	if e.View || !known {
		return
	}
	if e.Backward && half(e.Out.DType) {
		w.all.add(truth, e.Out.DType)
	}
	d := w.absorbed(&e, rounding, g, truth)
	if d == nil {
		d = w.underflow(&e, rounding, g, in, len(truth))
	}
	if d == nil || d.Outcome == Cut && cancelled {
		return
	}
	d.Place, d.order = place, len(w.underflows)
	if d.Outcome == Cut && zero != nil {
		d.Of, d.Place, d.Source = zero.op, zero.place, zero.source
		if slices.Contains(rectifiers, zero.op) {
			d.Outcome = DeadReLU
		}
	}
	w.underflows = append(w.underflows, d)
	g.underflows = append(g.underflows, d)
}

// absorbed returns the loss in an operation that returns finite numbers for inf where float64 has others, or nil. It notes where an
// inf comes from.
func (w *wake) absorbed(e *tensor.Event, r trace.Rounding, g *flow, truth []float64) *Underflow {
	var inf *Occurrence
	for _, t := range e.Operands {
		if of := w.results[t.ID()]; of != nil && of.inf != nil {
			inf = of.inf
			break
		}
	}
	switch {
	case inf == nil && r.Overflowed == 0:
		return nil
	case nonFinite(e.Result.Counts()):
		if g.inf = inf; inf == nil {
			g.inf = &Occurrence{e.Op.Name, e.Of, e.Backward, g.place.Module, e.Source, e.Out.DType, e.Result.Counts()}
		}
		return nil
	case inf == nil:
		return nil
	}
	wrong := 0
	values := e.Result.Float64s()
	for i, x := range truth {
		if math.Abs(values[i]-x) > math.Abs(x)/2 {
			wrong++
		}
	}
	if portion(wrong, len(truth)) < lost {
		return nil
	}
	return &Underflow{
		Forward: !e.Backward, Op: e.Op.Name, Of: cmp.Or(e.Of, e.Op.Name), Source: e.Source, DType: e.Out.DType,
		Outcome: Absorbed, Elements: len(truth), Share: portion(wrong, len(truth)), Inf: inf,
	}
}

// origin returns the result behind a view or a cast.
func (g *flow) origin() *flow {
	for g.same != nil {
		g = g.same
	}
	return g
}

// noise is the size of a gradient, relative to its input gradient, that cancelling sums leave
// over in float64. The gradient of a key's bias, which does not affect softmax, is pure noise.
const noise = 1e-12

// quiet sets noise to 0 and reports whether there was any.
func quiet(values []float64, noise float64) (any bool) {
	for i, x := range values {
		if x != 0 && math.Abs(x) <= noise {
			values[i], any = 0, true
		}
	}
	return any
}

// extent returns the share of nonzero values and the root of their mean square.
func extent(values []float64) (nonzero, size float64) {
	n, finite := 0, 0
	for _, x := range values {
		if x-x == 0 {
			finite++
			size += x * x
		}
		if x != 0 {
			n++
		}
	}
	return portion(n, len(values)), math.Sqrt(size / float64(max(finite, 1)))
}

var (
	rectifiers = []string{"relu", "threshold", "prelu", "clamp", "hardtanh", "relu6"}
	flat       = []string{"sigmoid", "tanh", "softmax", "log_softmax", "log_sigmoid", "erf", "softsign", "hardsigmoid", "atan"}
)

// underflow returns the loss in a derivative, or nil if it is small.
func (w *wake) underflow(e *tensor.Event, r trace.Rounding, g, in *flow, n int) *Underflow {
	d := &Underflow{Op: e.Op.Name, Of: e.Of, Source: e.Source, DType: e.Out.DType, Elements: int(math.Round(g.nonzero * float64(n)))}
	arrives := in != nil && in.nonzero >= 0.5 && in.size > 0
	if d.Forward = !e.Backward; d.Forward {
		if d.Of = d.Op; !half(d.DType) || r.Flushed == 0 {
			return nil
		}
		d.Outcome, d.Share = Flushed, portion(r.Flushed, d.Elements)
		return d
	}
	switch {
	case r.Overflowed > 0:
		d.Outcome, d.Share = Overflowed, portion(r.Overflowed, n)
	case half(d.DType) && portion(r.Flushed, d.Elements) >= lost:
		d.Outcome, d.Share = Flushed, portion(r.Flushed, d.Elements)
	case arrives && slices.Contains(flat, e.Of) && g.size < in.size/(1<<10):
		d.Outcome, d.Share, d.Elements = Saturated, 1-g.size/in.size, n
	case arrives && slices.Contains(rectifiers, e.Of) && g.nonzero < 0.1*in.nonzero:
		d.Outcome, d.Share, d.Elements = DeadReLU, 1-g.nonzero/in.nonzero, n
	case arrives && g.size == 0:
		d.Outcome, d.Share, d.Elements = Cut, 1, n
	case half(d.DType) && r.Flushed > 0:
		d.Outcome, d.Share = Flushed, portion(r.Flushed, d.Elements)
	default:
		return nil
	}
	return d
}

// arrived observes a parameter's gradient.
func (w *wake) arrived(l *layer, g *tensor.Tensor) {
	w.mu.Lock()
	defer w.mu.Unlock()
	truth, values := w.shadows.Values(g), g.Float64s()
	if truth == nil {
		truth = values
	}
	l.DType = g.DType()
	if of := w.results[g.ID()]; of != nil {
		l.DType = of.dtype
		quiet(truth, of.noise)
		for _, d := range of.underflows {
			if !slices.Contains(w.of[l], d) {
				w.of[l] = append(w.of[l], d)
			}
		}
	}
	l.Elements += len(values)
	l.wrong = max(l.wrong, apart(values, truth))
	tiny := tensor.FInfo(l.DType).Tiny
	for i, x := range values {
		t := math.Abs(truth[i])
		switch {
		case x-x != 0:
			l.Infinite++
		case x == 0 && t == 0:
			l.Zeros++
		case x == 0:
			l.Flushed++
		case math.Abs(x) < tiny:
			l.Subnormal++
		}
		if t != 0 && t-t == 0 {
			l.Lowest, l.Highest = lesser(l.Lowest, t), greater(l.Highest, t)
		}
	}
	if half(l.DType) {
		l.seen.add(truth, l.DType)
	}
}

func lesser(a, b float64) float64 {
	if a < b {
		return a
	}
	return b
}

func greater(a, b float64) float64 {
	if a > b {
		return a
	}
	return b
}
