package torchtest

import (
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"halfnote/internal/testenv"
	"halfnote/tensor"
)

// T is a tensor, abbreviated for the tables of cases.
type T = *tensor.Tensor

// cases maps the names of a family's cases to their Go functions.
type cases map[string]func(in []T) T

var families = map[string]cases{}

// family registers the cases of a family.
func family(name string, c cases) struct{} {
	families[name] = c
	return struct{}{}
}

// bodyOf returns the Go function of a case: that of its family, or else the method of one or two tensors with the operation's name.
func bodyOf(family string, c fixture) func(in []T) T {
	if body := families[family][c.Name]; body != nil {
		return body
	}
	if f, ok := testenv.Method[func(x T) T](c.op()); ok {
		if body := single(c.op(), f)[c.Name]; body != nil { // of a view, for example
			return body
		}
		return func(in []T) T { return f(in[0]) }
	}
	if f, ok := testenv.Method[func(x, y T) T](c.op()); ok {
		if body := pairs(c.op(), f)[c.Name]; body != nil {
			return body
		}
		return func(in []T) T { return f(in[0], in[1]) }
	}
	return nil
}

// TestFixtures compares the results and derivatives of all operations with PyTorch's.
func TestFixtures(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]bool{}
	defer tensor.Observe(func(e tensor.Event) {
		mu.Lock()
		defer mu.Unlock()
		seen[e.Op.Name] = true
	})()
	ran := 0
	for _, name := range slices.Sorted(maps.Keys(families)) {
		t.Run(name, func(t *testing.T) {
			ran++
			runFamily(t, name)
		})
	}
	for _, op := range tensor.Ops() {
		if ran == len(families) && !seen[op.Name] && op.Name != "alias" { // alias starts the derivatives of composed operations and is not observed
			t.Errorf("%s has no fixture: README.md says how to make one", op.Name)
		}
	}
}

// skips, if set, reports whether to skip a case. The code that sets it gives the reason.
var skips func(name, dtype, layout string) bool

func runFamily(t *testing.T, name string) {
	f, err := readFixtures(name)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	share, turn := testenv.Share(t, 4), 0
	for _, c := range f.cases {
		known[c.Name] = true
		body := bodyOf(name, c)
		if body == nil {
			t.Errorf("%q has a fixture, but not a case in cases_%s_test.go, and %s is not a method of one or two tensors", c.Name, name, c.op())
			continue
		}
		turn++
		for j, d := range c.DTypes {
			for i, layout := range []string{"contiguous", "strided"} {
				if run := 2*j + i; (turn+run)%share != 0 && run != turn%min(share, 2*len(c.DTypes)) { // at least one of each case
					continue
				}
				if skips != nil && skips(c.Name, d, layout) {
					continue
				}
				t.Run(c.Name+"/"+d+"/"+layout, func(t *testing.T) {
					r := run{errorf: t.Errorf, f: f, c: c, dtype: d, strided: layout == "strided"}
					defer func() {
						if p := recover(); p != nil {
							t.Errorf("panic: %v\n%s", p, debug.Stack())
						}
					}()
					r.run(body)
				})
			}
		}
	}
	for _, c := range slices.Sorted(maps.Keys(families[name])) {
		if !known[c] {
			t.Errorf("%q has a case, but not a fixture: add it to cases_%s.py and run make.py", c, name)
		}
	}
}

// run is a case in one dtype and layout.
type run struct {
	errorf  func(format string, args ...any)
	f       *fixtures
	c       fixture
	dtype   string
	strided bool
	sees    func(got T) // called with each result; may be nil
	counts  counter     // counts comparisons, unless it is nil
}

func (r *run) run(body func([]T) T) {
	r.each(body, r.operands(), func(what string, order int, got, of T) {
		if order > 0 {
			r.compareGrad(what, order, got, of)
			return
		}
		r.compare(what, order, got)
		if has := r.has("g"); has != got.RequiresGrad() {
			r.errorf("the result requires a gradient: got %v, want %v", got.RequiresGrad(), has)
		}
	})
}

// each calls see with each result of the operands in: y, then the gradients g0, g1, … and their gradients h0, h1, …, which may be nil. of is
// the tensor whose gradient it is.
func (r *run) each(body func([]T) T, in []T, see func(what string, order int, got, of T)) {
	y := body(in)
	see("y", 0, y, nil)
	var xs []T
	for _, x := range in {
		if x.RequiresGrad() {
			xs = append(xs, x)
		}
	}
	if !y.RequiresGrad() {
		return
	}
	w := weight(y, 0)
	if r.c.Double {
		w.RequireGrad()
	}
	grads := tensor.GradWith(y, xs, tensor.BackwardOptions{Gradient: w, CreateGraph: r.c.Double, AllowUnused: true})
	var total T
	for i, g := range grads {
		see(fmt.Sprint("g", i), 1, g, xs[i])
		if g == nil || !g.RequiresGrad() {
			continue
		}
		s := g.To(wide(g)).Mul(weight(g, 1+i).To(wide(g))).Sum().To(tensor.Float64)
		if total != nil {
			s = total.Add(s)
		}
		total = s
	}
	if !r.c.Double {
		return
	}
	xs = append(xs, w)
	second := make([]T, len(xs))
	if total != nil {
		second = tensor.GradWith(total, xs, tensor.BackwardOptions{AllowUnused: true})
	}
	for i, h := range second {
		see(fmt.Sprint("h", i), 2, h, xs[i])
	}
}

func wide(t T) tensor.DType {
	if t.DType() == tensor.Float64 {
		return tensor.Float64
	}
	return tensor.Float32
}

// has reports whether the fixture has a tensor whose name begins with the given prefix.
func (r *run) has(what string) bool {
	for i := range r.c.Operands {
		if _, ok := r.f.tensors[r.name(fmt.Sprint(what, i))]; ok {
			return true
		}
	}
	return false
}

func (r *run) name(what string) string { return r.c.Name + "/" + r.dtype + "/" + what }

// operands returns the leaves of the run.
func (r *run) operands() []T {
	names := strings.Split(r.dtype, "+")
	var in []T
	for i, o := range r.c.Operands {
		x := r.f.tensors[fmt.Sprint(r.c.Name, "/in", i)].ToDevice(tensor.DefaultDevice())
		if x.DType().IsFloat() && o.Cast {
			x = x.To(dtypes[names[min(i, len(names)-1)]])
		}
		if r.strided {
			x = scattered(x)
		} else {
			x = x.Clone() // a case may change it
		}
		if x.DType().IsFloat() && o.Grad {
			x = x.Detach().RequireGrad()
		}
		in = append(in, x)
	}
	return in
}

var dtypes = map[string]tensor.DType{
	"float16": tensor.Float16, "bfloat16": tensor.BFloat16, "float32": tensor.Float32, "float64": tensor.Float64,
}

// scattered returns x with its dimensions in reverse order in memory and with gaps.
func scattered(x T) T {
	n := x.Dim()
	if n == 0 {
		return x
	}
	order := make([]int, n)
	for i := range order {
		order[i] = n - 1 - i
	}
	y := x.Permute(order...)
	shape := y.Shape()
	shape[n-1] += 2
	room := tensor.Full(7, shape...).To(x.DType()).Slice(n-1, 1, shape[n-1]-1)
	room.Assign(y)
	return room.Permute(order...)
}

// weight is the gradient that backward starts from, as in oracle.py.
func weight(x T, k int) T {
	data := make([]float64, x.Numel())
	for i := range data {
		data[i] = float64(2*((i*5+3*k)%14)-13) / 16
	}
	return tensor.NewAs(x.DType(), data, len(data)).Reshape(x.Shape()...)
}

func (r *run) compare(what string, order int, got T) {
	if r.sees != nil {
		r.sees(got)
	}
	want := r.f.tensors[r.name(what)]
	if want == nil {
		r.errorf("%s: missing in the fixture", what)
		return
	}
	d := r.coarsest(want)
	wrong, same := difference(got, want, order, d, r.magnitude(want, order), r.factor(order, d))
	if wrong != "" {
		r.errorf("%s: %s", what, wrong)
	}
	r.counts.add(r.c.op(), r.dtype, order, same)
}

// compareGrad is compare for a gradient of x. A missing gradient counts as zeros.
func (r *run) compareGrad(what string, order int, got, x T) {
	_, has := r.f.tensors[r.name(what)]
	switch {
	case !has && got == nil:
		return
	case !has:
		if !tensor.Equal(got, tensor.ZerosLike(x)) {
			r.errorf("%s: got %v, want no gradient, as in PyTorch", what, got)
		}
		return
	case got == nil:
		got = tensor.ZerosLike(x)
	}
	r.compare(what, order, got)
}

// coarsest returns the least precise dtype of the run, which limits the precision of all
// results.
func (r *run) coarsest(want T) tensor.DType {
	d := want.DType()
	if !d.IsFloat() {
		return d
	}
	for _, name := range strings.Split(r.dtype, "+") {
		if e := dtypes[name]; tensor.FInfo(e).Eps > tensor.FInfo(d).Eps {
			d = e
		}
	}
	return d
}

// magnitude returns the mean magnitude of the expected values. For second derivatives it is the
// magnitude of the largest, since one of them may cancel entirely.
func (r *run) magnitude(want T, order int) float64 {
	m := meanMagnitude(want.Float64s())
	for i := 0; order == 2 && i <= len(r.c.Operands); i++ {
		if h := r.f.tensors[r.name(fmt.Sprint("h", i))]; h != nil {
			m = max(m, meanMagnitude(h.Float64s()))
		}
	}
	if d := r.coarsest(want); coarse(r.c.op(), order, d) {
		m *= 0x1p20 * tensor.FInfo(d).Eps
	}
	return m
}

// coarse reports whether an operation rounds the summands to d, a half, for that order of the
// derivative. The results of such operations have an absolute error, whatever their size.
var coarse = coarseOnCPU

func coarseOnCPU(op string, order int, d tensor.DType) bool {
	return op == "scaled_dot_product_attention" && order == 0 && d == tensor.BFloat16
}

// factor returns the factor of the tolerance of d. A forward pass in halves always has a tolerance of one ulp.
func (r *run) factor(order int, d tensor.DType) float64 {
	if order == 0 && d.Size() == 2 {
		return 1
	}
	return r.c.Tol
}
