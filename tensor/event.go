package tensor

import (
	"sync"
	"time"

	"halfnote/tensor/driver"
)

// Event is one operation that has run.
type Event struct {
	Facts

	// Operands and Result are the tensors themselves, the operands as they were
	// computed on, for looking at what is in them. They must not be kept, but a Clone:
	// the memory of a gradient is released as soon as it has been handed on, and using it
	// then panics. The first operand of a change in place holds the result.
	Operands []*Tensor
	Result   *Tensor

	op Op
}

// Facts are what an [Event] says of an operation. They hold no tensors and may be kept.
type Facts struct {
	Op       Info
	Backward bool   // it is part of a derivative
	Of       string // the operation whose derivative it is part of
	OfID     int    // the ID of that operation's result, 0 in forward
	Module   string // path of the module that called it, or whose derivative it is: "0", "encoder.2"
	Source   string // line of a cell that called it, or whose derivative it is: "In[3], line 5"; "" outside cells
	InCast   bool   // it is a cast that autocast asked for
	View     bool   // it shows memory of its operand and computes nothing
	InPlace  bool   // it changed its first operand

	In       []Meta // operands as they were given
	Computed DType  // what the floating-point operands were cast to, or the first operand's if there is none; Out's dtype is the result's
	Out      Meta
	Casts    []Cast

	Start    time.Time     // after casting
	Duration time.Duration // 0 of views
	Bytes    int           // read and written
	FLOPs    float64       // two for each product of a matrix product or convolution, else one for each element of the largest operand
}

// Rerun returns the result of the same operation, with its attributes, on other
// operands, as the same in float64. It is neither recorded nor observed, and nil
// for a change in place.
func (e Event) Rerun(in []*Tensor) *Tensor {
	if e.InPlace {
		return nil
	}
	var y *Tensor
	Unobserved(func() { y = apply(e.op, in...) })
	return y
}

// Unobserved runs body with operations of this goroutine neither observed nor recorded
// on the tape, and cast by nobody: for what an observer computes itself.
func Unobserved(body func()) {
	s := current()
	s.caster, s.nograd, s.hidden = nil, true, true
	s.do(body)
}

// Meta describes a tensor.
type Meta struct {
	ID     int
	DType  DType
	Shape  []int // the tensor's own, not to be changed
	Device Device
}

// Cast is a change of an operand's dtype before an operation.
type Cast struct {
	Operand   int // its index in In
	ID        int // of the result
	From, To  DType
	Cached    bool // autocast had the result already
	Promotion bool // the operation's own promotion, not autocast
}

var observers listeners[Event]

// Observe calls f after each operation on any goroutine, on the goroutine that ran
// it, until stop is called. Operations that f calls itself are reported too, so f
// should call none but in [Unobserved]. Without observers an operation pays one load.
func Observe(f func(Event)) (stop func()) {
	need("observe", "f", f != nil, "a function of an event")
	return observers.add(f)
}

// InModule runs body with name added to the path of modules that events carry:
// "0" inside "encoder" gives "encoder.0". It only calls body where
// there is neither an observer nor a caster that asks, outside DetectAnomaly.
func InModule(name string, body func()) {
	need("in_module", "body", body != nil, "a function to run")
	s := current()
	if reader, ok := s.caster.(ModuleReader); !s.anomaly && observers.load() == nil && !(ok && reader.ReadsModule()) {
		body()
		return
	}
	if s.module != "" {
		name = s.module + "." + name
	}
	s.module = name
	s.do(body)
}

// ModuleReader is a caster that may ask for the module that runs.
type ModuleReader interface {
	Caster
	// ReadsModule reports whether Cast calls ActiveModule.
	ReadsModule() bool
}

// ActiveModule returns the path of the module that runs, as events carry it, while
// there are observers or a caster that asks for it.
func ActiveModule() string { return current().module }

// OneLine runs body with its operations at the line of a cell that is running, which
// is asked for once: a step of an optimizer is one line, and has many operations. It
// only calls body while nobody observes.
func OneLine(body func()) {
	need("one_line", "body", body != nil, "a function to run")
	s := state{}
	if observers.load() != nil {
		s = current()
	}
	if observers.load() == nil || s.backward || s.source != "" {
		body()
		return
	}
	if s.source = driver.Source(); s.source == "" {
		body()
		return
	}
	s.do(body)
}

func (m *Meta) of(t *Tensor) {
	m.ID, m.DType, m.Shape, m.Device = int(t.id), t.dtype, t.shape, t.Device()
}

// observed is an operation that observers are going to be told of. It is used again for
// later ones.
type observed struct {
	Event
	room  []Meta // for those of operands, which observers may keep
	start time.Duration
}

var pending = sync.Pool{New: func() any { return new(observed) }}

// began is when the program did: the time since then takes half as long to tell as the
// time of day.
var began = time.Now()

// begin returns the event of an operation on in, as given, for which [observed.end] is
// to be called.
func begin(op Op, s *state, in []*Tensor) *observed {
	e := pending.Get().(*observed)
	e.Op, e.op = op.Info(), op
	e.Backward, e.Of, e.OfID, e.InCast = s.backward, s.of, int(s.ofID), s.casting
	if e.Module, e.Source = s.module, s.source; e.Source == "" && !s.backward {
		e.Source = driver.Source()
	}
	if len(e.room) < len(in) {
		e.room = make([]Meta, 64+len(in))
	}
	e.In, e.room = e.room[:len(in):len(in)], e.room[len(in):]
	for i, t := range in {
		e.In[i].of(t)
	}
	return e
}

// run notes that the operation begins, its operands having been cast.
func (e *observed) run() {
	e.start = time.Since(began)
	e.Start, e.Duration = began.Add(e.start), unknown
}

// unknown is the duration of an operation that is running.
const unknown = -1

// end gives e back. It holds no tensors then.
func (e *observed) end() {
	e.op, e.In, e.Casts, e.Operands, e.Result = nil, nil, nil, nil, nil
	e.InPlace = false
	pending.Put(e)
}

// finish fills in what is known afterwards, and tells the observers.
func (e *observed) finish(seen *[]*func(Event), in []*Tensor, y *Tensor) {
	e.View = len(in) > 0 && y.mem == in[0].mem && !e.InPlace
	if e.Duration == unknown {
		if e.Duration = 0; !e.View {
			y.mem.backend.Synchronize() // or it would be the time to enqueue
			e.Duration = time.Since(began) - e.start
		}
	}
	e.Out.of(y)
	e.Operands, e.Result, e.Computed = in, y, y.dtype
	if len(in) > 0 {
		if e.Computed = floating(in); e.Computed == driver.Invalid {
			e.Computed = in[0].dtype
		}
	}
	e.Bytes, e.FLOPs = 0, 0
	if !e.View {
		e.Bytes = y.Bytes()
		most := y.Numel()
		for _, t := range in {
			e.Bytes += t.Bytes()
			most = max(most, t.Numel())
		}
		e.FLOPs = float64(most)
		if p, ok := e.op.(interface {
			products(in []*Tensor, y *Tensor) int
		}); ok {
			e.FLOPs = 2 * float64(p.products(in, y))
		}
	}
	for _, f := range *seen {
		(*f)(e.Event)
	}
}
