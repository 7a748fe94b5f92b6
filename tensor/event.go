package tensor

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"halfnote/internal/plumbing"
	"halfnote/tensor/driver"
)

// Event is an operation that has run.
type Event struct {
	EventInfo

	// Operands and Result are the tensors themselves, the operands as cast. They are for
	// inspection only; keep a Clone instead. The memory of a gradient is released as soon as
	// the gradient has been passed on, and using it then panics. The first operand of an
	// in-place change holds the result.
	Operands []*Tensor
	Result   *Tensor

	op Op
}

// EventInfo describes an operation. It holds no tensors and may be kept.
type EventInfo struct {
	Op       Info
	Backward bool   // reports whether the operation is part of a derivative
	Of       string // operation whose derivative this is part of
	OfID     int    // ID of that operation's result, 0 in the forward pass
	Module   string // path of the calling module, or of the module whose derivative this is: "0", "encoder.2"
	Source   string // calling cell line, or the line whose derivative this is: "In[3], line 5"; "" outside cells
	InCast   bool   // cast requested by autocast
	View     bool   // view of its operand's memory, without computation
	InPlace  bool   // change of the first operand in place

	In       []TensorInfo // operands before casting
	Computed DType        // dtype of the floating-point operands after casting, or of the first operand if there are none; Out has the result's
	Out      TensorInfo
	Casts    []Cast

	Start    time.Time     // time after casting
	Duration time.Duration // duration, 0 for views
	Bytes    int           // bytes read and written
	FLOPs    float64       // 2 per multiply-add of a matrix product or convolution, otherwise 1 per element of the largest operand
}

// Rerun returns the result of the same operation, with its attributes, on other operands, for
// example the same ones in float64. It is neither recorded nor observed. It returns nil for an
// in-place change.
func (e Event) Rerun(in []*Tensor) *Tensor {
	if e.InPlace {
		return nil
	}
	var y *Tensor
	Unobserved(func() { y = apply(e.op, in...) })
	return y
}

// Unobserved runs body without observing, recording or casting this goroutine's operations.
// Observers use it for their own computations.
func Unobserved(body func()) {
	s := current()
	s.caster, s.nograd, s.hidden = nil, true, true
	s.do(body)
}

// TensorInfo describes a tensor.
type TensorInfo struct {
	ID     int
	DType  DType
	Shape  []int // the tensor's own shape; must not be changed
	Device Device
}

// Cast is a change of an operand's dtype before an operation.
type Cast struct {
	Operand   int // index of the operand in In
	ID        int // ID of the result
	From, To  DType
	Cached    bool // reports whether autocast had cached the result
	Promotion bool // promotion by the operation itself, not autocast
}

var observers listeners[Event]

// Observe calls f after each operation on any goroutine, on the goroutine that ran it, until
// stop is called. Operations that f runs are reported too, so f should run them in
// [Unobserved]. Without observers, it costs each operation one atomic load.
func Observe(f func(Event)) (stop func()) {
	need("observe", "f", f != nil, "a function of an event")
	return observers.add(f)
}

// ActiveModule returns the path of the running module if an observer or a caster reads it, and "" otherwise.
func (casting) ActiveModule() string { return current().module }

// oneLine runs body and attributes its operations to the current cell line, which it looks up
// once: a step of an optimizer is one line with many operations. Without observers it only
// calls body.
func oneLine(body func()) {
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

func (m *TensorInfo) of(t *Tensor) {
	m.ID, m.DType, m.Shape, m.Device = int(t.id), t.dtype, t.shape, t.Device()
}

// observed is a pending report of an operation to observers. It is reused for later operations.
type observed struct {
	Event
	room  []TensorInfo // storage for In, which observers may keep
	start time.Duration
}

var pending = sync.Pool{New: func() any { return new(observed) }}

// began is the start of the program: reading the time since then costs half as much as reading
// the time of day.
var began = time.Now()

// begin returns the event of an operation on the operands in, before casting. The caller must
// call [observed.end].
func begin(op Op, s *state, in []*Tensor) *observed {
	e := pending.Get().(*observed)
	e.Op, e.op = op.Info(), op
	e.Backward, e.Of, e.OfID, e.InCast = s.backward, s.of, int(s.ofID), s.casting
	if e.Module, e.Source = s.module, s.source; e.Source == "" && !s.backward {
		e.Source = driver.Source()
	}
	if len(e.room) < len(in) {
		e.room = make([]TensorInfo, 64+len(in))
	}
	e.In, e.room = e.room[:len(in):len(in)], e.room[len(in):]
	for i, t := range in {
		e.In[i].of(t)
	}
	return e
}

// run marks the start of the operation, after its operands have been cast.
func (e *observed) run() {
	e.start = time.Since(began)
	e.Start, e.Duration = began.Add(e.start), unknown
}

// unknown is the duration of an operation that is still running.
const unknown = -1

// end releases e for reuse, without its tensors.
func (e *observed) end() {
	e.op, e.In, e.Casts, e.Operands, e.Result = nil, nil, nil, nil, nil
	e.InPlace = false
	pending.Put(e)
}

// finish fills in the result and the measurements, and notifies the observers.
func (e *observed) finish(seen *[]*func(Event), in []*Tensor, y *Tensor) {
	e.View = len(in) > 0 && y.mem == in[0].mem && !e.InPlace
	if e.Duration == unknown {
		if e.Duration = 0; !e.View {
			y.mem.backend.Synchronize() // otherwise the time would be that of enqueueing
			e.Duration = time.Since(began) - e.start
		}
	}
	e.Out.of(y)
	e.Operands, e.Result, e.Computed = in, y, y.dtype
	y.share()
	for _, t := range in {
		t.share()
	}
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

// InModule runs body with name appended to the module path of events: "0" inside "encoder"
// gives "encoder.0". If there are no observers, no caster that reads modules and no
// DetectAnomaly, it only calls body. An [Error] of an operation in body names the module.
func InModule(name string, body func()) { modulePath{}.In(name, nil, body) }

// In is InModule for a module whose text an error of an operation in body shows. It calls module's String method only then;
// module may be nil.
func (modulePath) In(name string, module any, body func()) {
	need("in_module", "body", body != nil, "a function to run")
	defer nameModule(name, module)
	s := current()
	if reader, ok := s.caster.(moduleReader); !s.anomaly && observers.load() == nil && !(ok && reader.ReadsModule()) {
		body()
		return
	}
	path := name
	if s.module != "" {
		path = s.module + "." + name
	}
	s.module = path
	s.do(body)
}

// nameModule adds the name of a module to the error that leaves it, and the text of the
// innermost module. It is deferred.
func nameModule(name string, module any) {
	v := recover()
	if v == nil {
		return
	}
	if e, ok := v.(*Error); ok {
		if e.Module == "" {
			e.Module, e.within = name, moduleText(module)
		} else {
			e.Module = name + "." + e.Module
		}
	}
	panic(v) // the stack of the first panic is still there
}

// moduleText returns what a module prints if it is one line, such as
// "Linear(in_features=20, out_features=10, bias=True)", or else its type. It returns "" for nil
// and for a type that has no name here.
func moduleText(module any) (text string) {
	if module == nil {
		return ""
	}
	t := reflect.TypeOf(module)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	text = t.Name()
	s, ok := module.(fmt.Stringer)
	if !ok {
		return text
	}
	defer func() { _ = recover() }() // a String method of a cell may panic too
	if line := s.String(); !strings.Contains(line, "\n") {
		return line
	}
	return text
}

type call = plumbing.Call[*Tensor]

var calls listeners[call]

// Note is note.
func (calling) Note(m call) { note(m) }

// note sets m's Module and Source and notifies the observers of calls, on the calling goroutine. Without observers it does nothing.
func note(m call) {
	list := calls.load()
	if list == nil {
		return
	}
	for _, t := range m.Tensors {
		asShared(t)
	}
	m.Module, m.Source = current().module, driver.Source()
	for _, f := range *list {
		(*f)(m)
	}
}

// Observe calls f for each call on any goroutine, on the goroutine that made it, before the call takes effect, until stop is
// called.
func (calling) Observe(f func(call)) (stop func()) {
	need("observe_calls", "f", f != nil, "a function of a call")
	return calls.add(f)
}

// listeners is a copy-on-write list of functions, read without a lock; nil if empty.
type listeners[T any] struct {
	mu   sync.Mutex
	list atomic.Pointer[[]*func(T)]
}

func (l *listeners[T]) load() *[]*func(T) { return l.list.Load() }

func (l *listeners[T]) add(f func(T)) (remove func()) {
	l.change(func(list []*func(T)) []*func(T) { return append(list, &f) })
	return func() {
		l.change(func(list []*func(T)) []*func(T) {
			return slices.DeleteFunc(list, func(g *func(T)) bool { return g == &f })
		})
	}
}

func (l *listeners[T]) change(edit func([]*func(T)) []*func(T)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []*func(T)
	if old := l.list.Load(); old != nil {
		list = slices.Clone(*old)
	}
	before := len(list)
	if list = edit(list); len(list) != before {
		driver.SetTracing(len(list) > before) // events and calls need source lines
	}
	if len(list) == 0 {
		l.list.Store(nil)
		return
	}
	l.list.Store(&list)
}
