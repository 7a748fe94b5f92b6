package tensor

import (
	"fmt"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/scope"
)

// Category says how autocast treats an operation: on which of torch's lists for
// CUDA it is.
type Category uint8

// The categories.
const (
	Keep     Category = iota // unlisted: operands stay as they come
	Lower                    // lower_precision_fp: operands go to the policy's dtype
	Raise                    // fp32: operands go to float32
	Widest                   // promote: operands go to the widest dtype among them
	Banned                   // banned: not to be used under autocast
	Explicit                 // the caller has named the dtype, as SumAs does, so that no list counts
)

// String returns torch's name of the list.
func (c Category) String() string {
	if c > Explicit {
		return fmt.Sprintf("Category(%d)", uint8(c))
	}
	return [...]string{"unlisted", "lower_precision_fp", "fp32", "promote", "banned", "explicit dtype"}[c]
}

// Reads says which values an operation's VJP looks at. Autograd keeps those and
// lets go of the rest.
type Reads uint8

// What a VJP may read.
const (
	ReadsAll      Reads = iota // operands and result
	ReadsOperands              // the operands' values
	ReadsResult                // the result's values
	ReadsNothing               // shapes and dtypes only
	ReadsIndices               // the values of operands that are no floating-point numbers: positions and masks
	NoDerivative               // no VJP is asked for: the result is of integers or bool, or constant piece by piece
)

// Info describes an operation.
type Info struct {
	Name  string // torch's name in its autocast lists, as "matmul"
	Torch string // torch's function, as "torch.matmul"
	Category
	Reads Reads
}

// Op is one operation with its attributes as fields. Implementations are immutable
// and safe for use by several goroutines.
type Op interface {
	Info() Info
	// Forward returns the result for operands that have been cast. Autocast and
	// autograd are off while it runs.
	Forward(in []*Tensor) *Tensor
	// VJP returns the gradients of the operands, each in the operand's shape, for
	// the gradient dy of the result y. It is written in operations, so that it
	// can be differentiated. nil means no gradient; an operand that does not
	// require a gradient needs none. Values that Info().Reads does not name are
	// not there.
	VJP(dy, y *Tensor, in []*Tensor) []*Tensor
}

// Apply returns op's result for in, recorded like that of the operations of this
// package: a way to give an operation its own derivative. It is
// torch.library.custom_op with register_autograd.
func Apply(op Op, in ...*Tensor) *Tensor {
	need("apply", "op", op != nil, "an Op")
	return apply(custom{op, false}, in...)
}

// custom runs a Forward that is made of operations, without recording them.
type custom struct {
	Op
	cast bool // leave autocast on
}

func (c custom) Forward(in []*Tensor) (y *Tensor) {
	s := current()
	if s.nograd = true; !c.cast {
		s.caster = nil
	}
	s.do(func() { y = c.Op.Forward(in) })
	return y.alias(y.offset, y.shape, y.stride) // y may be an operand
}

// Kinds of operations are treated apart, by a method of its own each.
type (
	promoting interface{ promotes() } // operands are brought to one dtype
	real      interface{ real() }     // integer operands are brought to float32
	fixed     interface{ fixed() }    // autocast never sees it: casts and views
)

// derived is an operation with an operand that is computed from another one, of which
// the caster is not told.
type derived interface{ derived() (operand int) }

// state is what belongs to a goroutine: what a scope holds.
type state struct {
	caster    Caster
	suspended Caster // in force around a Backward, which has none
	nograd    bool
	strict    bool     // inside Out: an operand that requires a gradient is an error
	captured  *capture // inside Checkpoint: collects operands from outside
	backward  bool
	casting   bool           // inside caster.Cast; kept only while observed
	of        string         // the operation whose derivative is computed; kept only while observed
	ofID      uint64         // its result; kept only while observed
	module    string         // path of the module that runs; kept only while observed, or where the caster asks
	source    string         // the line of the cell whose derivative is computed; kept only while observed
	anomaly   bool           // inside DetectAnomaly
	hidden    bool           // inside an operation made of others: not observed
	device    driver.Backend // where tensors are made, nil: where the process makes them
}

func current() state {
	if s := innermost(); s != nil {
		return *s
	}
	return state{}
}

// innermost returns the state of the innermost scope, nil if there is none.
func innermost() *state {
	s, _ := scope.Current().(*state)
	return s
}

// do runs body in a scope of s.
func (s state) do(body func()) {
	need("scope", "the function", body != nil, "a function to run")
	scope.Do(&s, body)
}

// apply is the one place where operations run and where ambient state is read.
func apply(op Op, in ...*Tensor) *Tensor {
	present(op, in)
	driver.Poll() // kernels poll too, but not all operations run one
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
	var after ResultCaster
	if _, ok := op.(fixed); !ok {
		computable(op, in)
		if s.caster != nil {
			in = s.castOf(op, in, e)
			after, _ = s.caster.(ResultCaster)
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
		fail(op.Info().Name, in, "an operand requires a gradient, which a result given to tensor.Out would not record; expected to be inside tensor.NoGrad, a Detach of it, or the operation's own result")
	}
	if !s.nograd && y.dtype.IsFloat() && needsGrad(in) && op.Info().Reads != NoDerivative {
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
		y = after.Result(op.Info(), given, y)
	}
	return y
}

// present panics unless op has operands, and all of them are there.
func present(op Op, in []*Tensor) {
	if len(in) == 0 {
		panic(&Error{Op: op.Info().Name, Why: "it has no operand; expected at least one tensor"})
	}
	for i, t := range in {
		if t == nil {
			missing(op.Info().Name, i, len(in))
		}
		if t.mem == nil {
			panic(&Error{Op: op.Info().Name, Why: fmt.Sprintf("operand %d is the zero Tensor; expected one that a function has made", i+1)})
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

func needsGrad(in []*Tensor) bool {
	for _, t := range in {
		if t.v != nil {
			return true
		}
	}
	return false
}

// sameDType panics unless all operands have one dtype.
func sameDType(op string, in []*Tensor) {
	given(op, in...)
	for _, t := range in[1:] {
		if t.dtype != in[0].dtype {
			failDType(op, in, "they differ; expected one dtype: cast with To, or run under amp.Autocast")
		}
	}
}
