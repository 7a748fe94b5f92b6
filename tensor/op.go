package tensor

import (
	"fmt"
	"slices"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/scope"
)

// Saved is the set of values that are saved for an operation's derivative. The rest is
// released.
type Saved uint8

// The values of Saved.
const (
	SavesAll      Saved = iota // operands and result
	SavesOperands              // the operands' values
	SavesResult                // the result's values
	SavesNothing               // shapes and dtypes only
	SavesIndices               // values of operands that are not floating-point: positions and masks
	NoDerivative               // there is no VJP: the result is integer or bool, or piecewise constant
)

// Info describes an operation.
type Info struct {
	Name       string // torch's name in its autocast lists, for example "matmul"
	Torch      string // torch's function, for example "torch.matmul"
	Saved      Saved
	GivenDType bool // the caller has chosen the dtype, for example with SumAs, so casters must keep the operands
}

// given returns i with GivenDType set.
func (i Info) given(dtype bool) Info {
	i.GivenDType = dtype
	return i
}

func info(name, torch string, saved Saved) Info { return Info{Name: name, Torch: torch, Saved: saved} }

// Op is one operation with its attributes as fields. Implementations are immutable
// and safe for use by several goroutines.
type Op interface {
	Info() Info
	// Forward returns the result for the cast operands. Autocast and autograd are off while it
	// runs.
	Forward(in []*Tensor) *Tensor
	// VJP returns the gradients of the operands, each in its operand's shape, for the gradient
	// dy of the result y. It is written in operations, so that it can be differentiated. A nil
	// gradient means none; none is needed for an operand that does not require one. Values not
	// named by Info().Saved have been released and must not be read.
	VJP(dy, y *Tensor, in []*Tensor) []*Tensor
}

// Apply returns op's result for in, recorded like this package's own operations. Use it to give
// an operation its own derivative. It is torch.library.custom_op with register_autograd.
func Apply(op Op, in ...*Tensor) *Tensor {
	need("apply", "op", op != nil, "an Op")
	return apply(custom{op, false}, in...)
}

// custom runs a Forward made of operations, without recording them.
type custom struct {
	Op
	cast bool // keeps autocast on
}

func (c custom) Forward(in []*Tensor) (y *Tensor) {
	s := current()
	if s.nograd = true; !c.cast {
		s.caster = nil
	}
	s.do(func() { y = c.Op.Forward(in) })
	return y.alias(y.offset, y.shape, y.stride) // y may be an operand
}

// Optional interfaces mark the kinds of operations.
type (
	promoting interface{ promotes() }   // operands are promoted to one dtype
	real      interface{ real() }       // integer operands are converted to float32
	fixed     interface{ fixed() }      // autocast ignores it: casts and views
	moving    interface{ moves() bool } // if true, elements move unchanged, so operands may have dtypes that are only stored
)

// derived is an operation one of whose operands is computed from another one. Casters do not
// see that operand.
type derived interface{ derived() (operand int) }

// state is the goroutine-local state, held by a scope.
type state struct {
	caster    caster
	suspended caster // caster in force around a Backward, which has none
	nograd    bool
	strict    bool     // inside Out: an operand that requires a gradient is an error
	captured  *capture // inside Checkpoint: collects outside operands
	backward  bool
	casting   bool           // inside caster.Cast; set only while observed
	of        string         // operation whose derivative is computed; set only while observed
	ofID      uint64         // ID of its result; set only while observed
	module    string         // path of the running module; set only while observed, or if the caster reads it
	source    string         // cell line whose derivative is computed; set only while observed
	anomaly   bool           // inside DetectAnomaly
	hidden    bool           // inside a composite operation: not observed
	device    driver.Backend // backend for new tensors; nil: the process's default
}

// do runs body in a scope of s.
func (s state) do(body func()) {
	need("scope", "the function", body != nil, "a function to run")
	scope.Do(&s, body)
}

func current() state {
	if s := innermost(); s != nil {
		return *s
	}
	return state{}
}

// innermost returns the state of the innermost scope, or nil.
func innermost() *state {
	s, _ := scope.Current().(*state)
	return s
}

// apply is the only place where operations run and where ambient state is read.
func apply(op Op, in ...*Tensor) *Tensor {
	present(op, in)
	driver.Poll() // kernels poll too, but not every operation runs one
	s := current()
	if c := s.takesApart(op); c != nil {
		return c.parts(in)
	}
	seen := observers.load()
	if s.hidden {
		seen = nil
	}
	var e *observed
	if seen != nil {
		e = begin(op, &s, in)
	}
	given := in
	var after resultCaster
	if _, ok := op.(fixed); !ok {
		stored := isStored(op, in)
		if !stored {
			computable(op, in)
		}
		if s.caster != nil && !stored {
			in = s.castOf(op, in, e)
			after, _ = s.caster.(resultCaster)
		}
	}
	if _, ok := op.(promoting); ok {
		in = promoted(in, promoteAll(in), e)
	}
	if _, ok := op.(real); ok && floating(in) == driver.Invalid {
		in = promoted(in, Float32, e)
	}
	in = together(op.Info().Name, in)
	if e != nil {
		e.run()
	}
	y := forward(op, in)
	if e != nil {
		e.finish(seen, in, y)
	}
	if s.captured != nil {
		s.captured.add(in)
	}
	if s.strict && needsGrad(in) {
		fail(op.Info().Name, in, "an operand requires a gradient, but tensor.Out does not record; use tensor.NoGrad, a Detach of the operand, or the operation without Out")
	}
	if s.nograd && len(in) > 0 && y.mem == in[0].mem && (in[0].v != nil || in[0].frozen) {
		y.frozen = true
	}
	if !s.nograd && y.dtype.IsFloat() && needsGrad(in) && op.Info().Saved != NoDerivative {
		switch {
		case e != nil:
			s.source = e.Source
		case s.anomaly && s.source == "":
			s.source = driver.Source()
		}
		y.v = newVertex(op, in, y, s)
	}
	if e != nil {
		e.end()
	}
	if after != nil {
		y.share()
		y = after.Result(op.Info(), given, y)
	}
	return y
}

// present panics unless op has operands and none of them is nil.
func present(op Op, in []*Tensor) {
	if len(in) == 0 {
		panic(named(&Error{Op: op.Info().Name, Why: "no operands; want at least one tensor"}))
	}
	for i, t := range in {
		if t == nil {
			missing(op.Info().Name, i, len(in))
		}
		if t.mem == nil {
			panic(named(&Error{Op: op.Info().Name, Why: fmt.Sprintf("operand %d is a zero Tensor; create tensors with functions such as New or Zeros", i+1)}))
		}
	}
}

// promoted returns in, cast to d.
func promoted(in []*Tensor, d DType, e *observed) []*Tensor {
	out := in
	for i, t := range in {
		if t.dtype == d {
			continue
		}
		if &out[0] == &in[0] {
			out = append([]*Tensor(nil), in...)
		}
		out[i] = t.To(d)
		if e != nil {
			e.Casts = append(e.Casts, Cast{Operand: i, ID: out[i].ID(), From: t.dtype, To: d, Promotion: true})
		}
	}
	return out
}

// forward returns op's result for in. The result of an elementwise op has the operands' memory
// layout.
func forward(op Op, in []*Tensor) *Tensor {
	if isStored(op, in) {
		return forwardStored(op, in)
	}
	if !slices.ContainsFunc(in, func(t *Tensor) bool { return !t.IsContiguous() }) || !elementByElement(op) {
		return op.Forward(in)
	}
	shape := in[0].shape
	for _, t := range in[1:] {
		var ok bool
		if shape, ok = broadcastShapes(shape, t.shape); !ok {
			return op.Forward(in) // Forward reports the error
		}
	}
	order := memoryOrder(shape, stridesOf(shape, in)...)
	if order == nil {
		return compact(op.Forward(in))
	}
	return inOrder(compact(op.Forward(arrangedLike(order, in))), undone(order))
}

// arrangedLike returns in with the dimensions in order; scalars do not change.
func arrangedLike(order []int, in []*Tensor) []*Tensor {
	out := make([]*Tensor, len(in))
	for i, t := range in {
		if out[i] = t; len(t.shape) > 0 {
			leading := len(order) - len(t.shape)
			shape := append(slices.Repeat([]int{1}, leading), t.shape...)
			stride := append(make([]int, leading), t.stride...)
			out[i] = t.alias(t.offset, arranged(shape, order), arranged(stride, order))
		}
	}
	return out
}

func needsGrad(in []*Tensor) bool {
	for _, t := range in {
		if t.v != nil {
			return true
		}
	}
	return false
}

// sameDType panics unless all operands have one dtype. Autocast casts those of op.
func sameDType(op string, in []*Tensor) {
	advice := ", or run under amp.Autocast"
	if current().caster != nil {
		advice = ""
	}
	oneDType(op, in, advice)
}

// oneDType is sameDType for operations that autocast does not list. advice completes the advice to convert them.
func oneDType(op string, in []*Tensor, advice string) {
	given(op, in...)
	for _, t := range in[1:] {
		if t.dtype == in[0].dtype {
			continue
		}
		if whole := slices.IndexFunc(in, func(t *Tensor) bool { return !t.dtype.IsFloat() }); whole >= 0 { // autocast leaves those as they are
			failDType(op, in, "operands must have one dtype: convert %v with Float()", in[whole].dtype)
		}
		failDType(op, in, "operands must have one dtype: convert with To%s", advice)
	}
}
