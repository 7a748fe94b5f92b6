package trace

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"halfnote/amp"
	"halfnote/display"
	"halfnote/dist"
	"halfnote/internal/goid"
	"halfnote/tensor"
)

// MaxOps is the maximum number of operations that a recording keeps in order; later ones are
// only added to the totals.
const MaxOps = 20000

// Option configures a recording.
type Option func(s *settings)

type settings struct {
	models         []any
	always, shadow bool
	hashes         bool
	show           func(any) *display.Handle // shows the dashboard; nil: none
	shared         bool                      // whether another recording has the same dashboard
}

// Models provides module paths for the operations, even in structs with their own Forward. With
// several models, each path starts with the model's number.
func Models(models ...any) Option {
	return func(s *settings) { s.models = append(s.models, models...) }
}

// CountAlways records every operation and counts every result, at any cost. By default, steps are not
// counted once counting has taken more than 1 % of the time, and with [Live] not recorded either once
// recording and counting have.
func CountAlways() Option { return func(s *settings) { s.always = true } }

// Shadow recomputes every operation in float64, and counts always. It yields the error of each
// operation, and the error against a step computed entirely in float64, including gradients. It
// takes several times as long.
func Shadow() Option { return func(s *settings) { s.always, s.shadow = true, true } }

// Hashes records a hash of each operation's result, and of operands that no recorded operation has computed, such as weights and batches, for
// [halfnote/amp/diagnose.FirstDifference]. Every operation is recorded, at any cost; beyond [MaxOps] nothing is hashed.
func Hashes() Option { return func(s *settings) { s.always, s.hashes = true, true } }

// Recorder is a recording, running or stopped. Its methods may be called while it runs; they
// show the data so far.
type Recorder struct {
	names  *Places
	family *goid.Family // goroutines whose operations are recorded
	stop   []func()

	mu      sync.Mutex
	clock   clock
	meter   meter
	reasons reasons
	shadow  *shadow            // nil without Shadow
	hasher  *hasher            // nil without Hashes
	waiting []noted            // operations not processed yet
	step    int                // step of the last processed operation
	bases   recent[int]        // IDs of the bases of views, by ID
	casts   recent[CastRecord] // casts by autocast, by ID of the result
	ops     store
	op      OpRecord // last operation, whose lists are reused
	first   int      // first step of the recording
	sums    sums
	steps   []StepRecord
	history history
	wire    []dist.Transfer
	live    *live // nil without Live
	begun   time.Time
	ended   time.Time

	sampling sampling
}

// StepRecord is a step of an optimizer under a scaler.
type StepRecord struct {
	amp.StepResult
	After float64 // scale after Update, 0 before it
	Of    int     // number of the training step, as in Op.Step
}

// Start begins a recording of the operations of all goroutines, except for those of a goroutine that begins a recording or a diagnosis
// of its own meanwhile, and of the goroutines that it starts: two goroutines that both record do not see each other's steps.
// Start panics if an option is nil.
func Start(options ...Option) *Recorder {
	r := &Recorder{begun: time.Now()}
	r.meter.begun = r.begun
	var set settings
	for i, o := range options {
		if o == nil {
			panic(fmt.Errorf("trace: start: option %d is nil; want an option such as trace.Models(net)", i+1))
		}
		o(&set)
	}
	r.meter.always = set.always
	if set.shadow {
		r.shadow = &shadow{}
	}
	if set.hashes {
		r.hasher = &hasher{made: map[int]struct{}{}}
	}
	r.names = NewPlaces(slices.DeleteFunc(set.models, func(m any) bool { return m == nil })...)
	if r.sampling.on = set.show != nil && !set.always; set.show != nil {
		r.live = newLive(r, set.show, set.shared)
	}
	r.family = goid.Begin()
	r.listen()
	return r
}

// listen starts observing.
func (r *Recorder) listen() {
	stop := []func(){calls.Observe(goid.Only(r.family, r.call)), amp.ObserveScalers(goid.Only(r.family, r.scaler)), dist.Observe(goid.Only(r.family, r.transfer))}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stop = stop; !r.sampling.left {
		r.watch()
	}
}

// ignore stops observing until listen is called.
func (r *Recorder) ignore() {
	r.mu.Lock()
	stop := r.stop
	r.stop = nil
	if s := r.sampling.ignore; s != nil {
		stop, r.sampling.ignore = append(stop, s), nil
	}
	r.mu.Unlock()
	for _, f := range stop {
		f()
	}
}

// Stop ends the recording and keeps its data. Calling it again does nothing.
func (r *Recorder) Stop() {
	r.ignore()
	r.family.End()
	r.end()
	r.live.stop()
}

// end drops what only a running recording needs.
func (r *Recorder) end() {
	defer r.read()()
	if r.ended.IsZero() {
		r.ended = time.Now()
		r.names, r.meter, r.shadow, r.hasher = nil, meter{}, nil, nil // these hold tensors
	}
}

// Ops returns the first MaxOps operations, in execution order.
func (r *Recorder) Ops() []OpRecord {
	defer r.read()()
	return r.ops.all()
}

// Op returns operation i. It panics if i is out of range.
func (r *Recorder) Op(i int) OpRecord {
	defer r.read()()
	if i < 0 || i >= len(r.ops.list) {
		panic(fmt.Errorf("trace: op: %d; want 0 to %d", i, len(r.ops.list)-1))
	}
	return r.ops.op(i)
}

// Step returns a recording of a single step: its operations and scaler events. It panics if it
// holds no operation of that step.
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
		if step >= 0 && step < r.sums.last {
			panic(fmt.Errorf("trace: step: the operations of step %d are not recorded; the last step with operations is %d; trace.CountAlways records all", step, last))
		}
		panic(fmt.Errorf("trace: step: %d; want 0 to %d", step, last))
	}
	for _, s := range r.steps {
		if s.Of == step {
			one.steps = append(one.steps, s)
		}
	}
	return one
}

// Steps returns the steps of scaled optimizers in order.
func (r *Recorder) Steps() []StepRecord {
	defer r.read()()
	return append([]StepRecord(nil), r.steps...)
}

// String returns a sentence about the recording.
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
	text := fmt.Sprintf("%s (%s)", ofCount(total, "1 operation", "%d operations"), strings.Join(parts, ", "))
	skipped := 0
	for _, s := range r.steps {
		if s.Skipped {
			skipped++
		}
	}
	if len(r.steps) > 0 {
		text += fmt.Sprintf(", %s, %d skipped", ofCount(len(r.steps), "1 scaled step", "%d scaled steps"), skipped)
	}
	if s := r.sums; s.recorded < s.all {
		text += fmt.Sprintf(", operations recorded in %d of %d steps", s.recorded, s.all)
	}
	if s := r.sums; s.counted < s.recorded {
		text += fmt.Sprintf(", results counted in %d of %d steps", s.counted, s.recorded)
	}
	end := r.ended
	if end.IsZero() {
		end = time.Now()
	}
	if d := end.Sub(r.begun); d >= time.Millisecond {
		text += ", in " + display.Duration(d)
	}
	return text
}

// ofCount returns the text for one thing, or the one for n things.
func ofCount(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(many, n)
}
