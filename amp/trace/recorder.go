package trace

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"halfnote/amp"
	"halfnote/tensor"
)

// MaxOps is how many operations a recording keeps in order; later ones are added up
// only.
const MaxOps = 20000

// Option is what a recording does on request.
type Option uint8

// The options.
const (
	// CountAlways counts what is in every result, whatever it takes. Otherwise counting
	// leaves out steps when it has taken more than 1 % of the time.
	CountAlways Option = iota + 1
	// Shadow computes every operation once more in float64, and counts always. It tells
	// the error of each operation, and what its result would be had everything since the
	// beginning of the step been float64, gradients too. It takes several times as long.
	Shadow
)

// Recorder is a recording, under way or stopped. Its methods may be called while
// it runs; they show what there is.
type Recorder struct {
	names *Names
	stop  []func()

	mu      sync.Mutex
	clock   clock
	meter   meter
	reasons reasons
	shadow  *shadow      // nil without Shadow
	waiting []noted      // not taken in yet
	step    int          // of the last one that was
	bases   recent[int]  // what views are of, by ID
	casts   recent[Cast] // that autocast has made, by ID of their result
	ops     store
	op      Op  // the last one, whose lists the next one takes
	first   int // step that the recording begins with
	sums    sums
	steps   []Step
	begun   time.Time
	ended   time.Time
}

// Step is one step of an optimizer under a scaler.
type Step struct {
	amp.StepResult
	After float64 // the scale that Update left, 0 before Update
	Of    int     // the step of training, as operations have it
}

// Start begins a recording. with are models and options: a model gives the operations
// their module's path, in structs with a Forward of their own too. None need be given.
func Start(with ...any) *Recorder {
	r := &Recorder{begun: time.Now()}
	r.meter.begun = r.begun
	var models []any
	for _, x := range with {
		switch x {
		case nil:
		case CountAlways:
			r.meter.always = true
		case Shadow:
			r.meter.always, r.shadow = true, &shadow{}
		default:
			models = append(models, x)
		}
	}
	r.names = NewNames(models...)
	r.listen()
	return r
}

// listen begins to record.
func (r *Recorder) listen() {
	stop := []func(){tensor.Observe(r.event), amp.Observe(r.scaler)}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stop = stop
}

// ignore records nothing until listen is called.
func (r *Recorder) ignore() {
	r.mu.Lock()
	stop := r.stop
	r.stop = nil
	r.mu.Unlock()
	for _, f := range stop {
		f()
	}
}

// Stop ends the recording; what has been recorded stays. Stopping twice does
// nothing.
func (r *Recorder) Stop() {
	r.ignore()
	defer r.read()()
	if r.ended.IsZero() {
		r.ended = time.Now()
		r.names, r.meter, r.shadow = nil, meter{}, nil // they hold tensors
	}
}

// Ops returns the operations in the order in which they ran, the first MaxOps of
// them.
func (r *Recorder) Ops() []Op {
	defer r.read()()
	return r.ops.all()
}

// Op returns operation i, whose fields and text say all that is known of it. It panics
// if there is none.
func (r *Recorder) Op(i int) Op {
	defer r.read()()
	if i < 0 || i >= len(r.ops.list) {
		panic(fmt.Errorf("trace: op: %d; expected 0 to %d", i, len(r.ops.list)-1))
	}
	return r.ops.op(i)
}

// Step returns a recording that holds only the operations of one step, and what the
// scaler did in it. It panics if no operation of that step is held.
func (r *Recorder) Step(step int) *Recorder {
	defer r.read()()
	one := &Recorder{begun: r.begun, ended: r.begun, first: step}
	last := -1
	for i, e := range r.ops.list {
		if last = int(e.step); last != step {
			continue
		}
		op := r.ops.op(i)
		kind := one.ops.add(&op)
		one.ended = one.ended.Add(op.Duration)
		op.Step = 0
		one.sums.add(&op, kind)
	}
	if len(one.ops.list) == 0 {
		panic(fmt.Errorf("trace: step: %d; expected 0 to %d", step, last))
	}
	for _, s := range r.steps {
		if s.Of == step {
			one.steps = append(one.steps, s)
		}
	}
	return one
}

// Steps returns the steps of scaled optimizers in order.
func (r *Recorder) Steps() []Step {
	defer r.read()()
	return append([]Step(nil), r.steps...)
}

// String says what has been recorded, in one sentence.
func (r *Recorder) String() string {
	defer r.read()()
	counts := map[tensor.DType]int{}
	total := 0
	for _, row := range r.sums.rows {
		counts[row.dtype] += row.Times
		total += row.Times
	}
	var parts []string
	for _, d := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d in %v", counts[d], d))
	}
	if total == 0 && len(r.steps) == 0 {
		return "nothing recorded"
	}
	text := fmt.Sprintf("%d operations (%s)", total, strings.Join(parts, ", "))
	skipped := 0
	for _, s := range r.steps {
		if s.Skipped {
			skipped++
		}
	}
	if len(r.steps) > 0 {
		text += fmt.Sprintf(", %d scaled steps, %d skipped", len(r.steps), skipped)
	}
	if s := r.sums; s.counted < s.all {
		text += fmt.Sprintf(", results counted in %d of %d steps", s.counted, s.all)
	}
	end := r.ended
	if end.IsZero() {
		end = time.Now()
	}
	return text + fmt.Sprintf(", in %v", end.Sub(r.begun).Round(time.Millisecond))
}
