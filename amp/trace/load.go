package trace

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"halfnote/amp"
	"halfnote/internal/text"
	"halfnote/tensor"
)

// loader makes a Recording of the lines of a file.
type loader struct {
	rec     *Recording
	torch   bool // written by PyTorch's recorder: functions are made of operations of aten
	kinds   map[int]*fileKind
	known   map[string]bool // names of package tensor
	params  map[int]string  // names of parameters, by ID
	bases   map[int]int     // IDs of the bases of views
	casts   map[int]fileRow // casts by autocast and promotions, by the ID of the result
	results map[int]int     // IDs of the results of calls, by call
	open    []fileRow       // operations of the current call
	spent   time.Duration   // time of operations of an optimizer since its last update of a parameter
	at      string          // line of its step
	opt     string          // class of the optimizer that steps
	rows    int             // rows read
	ops     int             // operations made of them
	strange map[string]bool // dtypes that package tensor does not have
	lossOf  map[int]bool    // steps whose loss a scaler was given
	scales  map[int]float64 // last scale of each scaler
	step    int
	end     time.Duration
}

func newLoader() *loader {
	l := &loader{
		rec: &Recording{Recorder: &Recorder{}, Results: map[int]Rounded{}}, kinds: map[int]*fileKind{}, known: map[string]bool{}, params: map[int]string{}, bases: map[int]int{},
		casts: map[int]fileRow{}, results: map[int]int{}, strange: map[string]bool{}, lossOf: map[int]bool{}, scales: map[int]float64{},
	}
	for _, op := range tensor.Ops() {
		l.known[op.Name] = true
	}
	return l
}

// line reads a line.
func (l *loader) line(b []byte, first bool) error {
	switch {
	case first:
		return l.head(b)
	case len(b) > 0 && b[0] == '[':
		return l.row(b)
	case bytes.HasPrefix(b, []byte(`{"k"`)):
		k := &fileKind{}
		if err := json.Unmarshal(b, k); err != nil {
			return err
		}
		if k.Kind == nil {
			return fmt.Errorf("a kind of operations without a number")
		}
		l.kinds[*k.Kind] = k
	case bytes.HasPrefix(b, []byte(`{"e"`)):
		var e fileEvent
		if err := json.Unmarshal(b, &e); err != nil {
			return err
		}
		return l.event(&e)
	case len(bytes.TrimSpace(b)) > 0 && b[0] != '{':
		return fmt.Errorf("%.40q is neither an object nor an array", b)
	}
	return nil // an object of a kind that this version does not know
}

func (l *loader) head(b []byte) error {
	var h fileHead
	if err := json.Unmarshal(b, &h); err != nil || h.Halfnote != "recording" {
		return fmt.Errorf(`%.40q; want the first line of a recording, {"halfnote":"recording","version":%d,…}`, b, fileVersion)
	}
	if h.Version < 1 || h.Version > fileVersion {
		return fmt.Errorf("the recording has version %d; this halfnote reads up to version %d: get a newer one", h.Version, fileVersion)
	}
	if l.torch = strings.HasPrefix(h.Producer, "torch"); l.torch {
		l.rec.history.memory = "memory" // of the process, or of a GPU's tensors
	}
	l.rec.Producer, l.rec.Notes = h.Producer, h.Notes
	l.rec.begun = time.UnixMicro(int64(h.Begun * 1e6))
	l.rec.history.begun = l.rec.begun
	for _, p := range h.Parameters {
		one := RecordedParameter{Trainable: true}
		b, err := json.Marshal(p)
		dtype := ""
		if err == nil {
			err = json.Unmarshal(b, &[]any{&one.ID, &one.Name, &dtype, &one.Shape, &one.Trainable})
		}
		if err != nil {
			return fmt.Errorf("parameter %v: %w", p, err)
		}
		one.DType = dtypeNamed(dtype)
		l.rec.Parameters = append(l.rec.Parameters, one)
		l.params[one.ID] = one.Name
	}
	return nil
}

// row reads an operation: [kind, step, call, start, duration, operands, results, counts, wider counts, lost powers, hashes].
func (l *loader) row(b []byte) error {
	var parts []json.RawMessage
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	if len(parts) < 7 {
		return fmt.Errorf("an operation of %d parts; want 7 or more", len(parts))
	}
	var r fileRow
	kind := 0
	for i, to := range []any{&kind, &r.step, &r.call, &r.start, &r.duration, &r.in, &r.out} {
		if err := json.Unmarshal(parts[i], to); err != nil {
			return fmt.Errorf("part %d of an operation: %w", i+1, err)
		}
	}
	if r.fileKind = l.kinds[kind]; r.fileKind == nil {
		return fmt.Errorf("an operation of kind %d, which no line before it describes", kind)
	}
	if len(r.in) != len(r.In) || len(r.out) != len(r.Out) || r.step < 0 || r.step > math.MaxInt32 {
		return fmt.Errorf("an operation with %d operands and %d results in step %d; its kind has %d and %d", len(r.in), len(r.out), r.step, len(r.In), len(r.Out))
	}
	for i, to := range []**tensor.Counts{&r.counts, &r.wide} {
		if len(parts) > 7+i && string(parts[7+i]) != "null" {
			c, err := fileCounts(parts[7+i])
			if err != nil {
				return err
			}
			*to = &c
		}
	}
	if len(parts) > 10 {
		var lines []string
		err := json.Unmarshal(parts[10], &lines)
		if err == nil {
			r.hashes, err = hashesOf(lines)
		}
		if err != nil {
			return fmt.Errorf("hashes: %w", err)
		}
	}
	if len(parts) > 9 && string(parts[9]) != "null" {
		var pairs [][2]int
		if err := json.Unmarshal(parts[9], &pairs); err != nil {
			return fmt.Errorf("lost powers: %w", err)
		}
		r.lost = map[int]int{}
		for _, p := range pairs {
			r.lost[p[0]] = p[1]
		}
	}
	l.rows++
	l.take(r)
	return nil
}

func (l *loader) base(id int) int {
	if b, ok := l.bases[id]; ok {
		return b
	}
	return id
}

// take takes an operation: views compute nothing, casts for an operation belong to it, and the others become one or are part of one.
func (l *loader) take(r fileRow) {
	for _, t := range slices.Concat(r.In, r.Out) {
		if t.dtype == 0 {
			l.strange[r.Op] = true
			return
		}
	}
	if len(r.out) == 0 {
		return
	}
	l.step, l.end = r.step, max(l.end, r.start+r.duration)
	if len(l.open) > 0 && (l.open[0].call != r.call || r.Phase != "forward") {
		l.close()
	}
	if r.counts != nil && r.wide != nil {
		l.rec.Results[r.out[0]] = Rounded{*r.counts, *r.wide, r.lost}
	}
	for _, id := range r.out[1:] {
		if !r.InPlace && l.params[id] == "" {
			l.bases[id] = r.out[0] // the first result stands for all
		}
	}
	switch {
	case r.View && len(r.in) > 0:
		for _, id := range r.out {
			l.bases[id] = l.base(r.in[0])
		}
	case r.Cast == "autocast" || r.Cast == "promotion" && !l.torch:
		l.casts[r.out[0]] = r
	case r.Phase == "scaler" && l.torch && !r.InPlace && r.Op != "mul": // numbers of the scaler, norms of clipping
	case r.Phase == "optimizer" && l.torch:
		l.spent += r.duration
		if l.params[r.out[0]] != "" || r.InPlace && len(r.out) > 1 { // one for all parameters is a foreach operation
			r.duration, l.spent = l.spent, 0
			l.make([]fileRow{r})
		}
	case r.Phase != "forward" || r.call == 0 || !l.whole(r.fileKind):
		l.make([]fileRow{r})
	default:
		l.open = append(l.open, r)
	}
}

// whole reports whether a call is one operation of package tensor, of however many operations of aten it is made.
func (l *loader) whole(k *fileKind) bool { return k.Cast == "" && l.known[callName(k.Call)] }

// close makes an operation of those of a call.
func (l *loader) close() {
	rows := l.open
	l.open = nil
	if len(rows) > 0 {
		l.make(rows)
	}
}

// callNames are the operations of package tensor for functions of torch that have other names.
var callNames = map[string]string{
	"__matmul__": "matmul", "__rmatmul__": "matmul", "__pow__": "pow", "__truediv__": "div", "__getitem__": "index", "__rpow__": "pow", "__rtruediv__": "div", "__rdiv__": "div",
	"cross_entropy": "cross_entropy_loss", "__neg__": "neg", "true_divide": "div", "multiply": "mul", "square": "pow", "rsub": "rsub", "logsigmoid": "log_sigmoid", "l1_loss": "l1_loss", "divide": "div", "subtract": "sub",
}

// callName returns the operation of a function of torch: "add" for "__radd__" and "add_".
func callName(call string) string {
	if name := callNames[call]; name != "" {
		return name
	}
	name := strings.Trim(call, "_")
	if s := strings.TrimPrefix(name, "r"); strings.HasPrefix(call, "__r") && (s == "add" || s == "mul") {
		name = s
	} else if s := strings.TrimPrefix(name, "i"); strings.HasPrefix(call, "__i") && (s == "add" || s == "mul" || s == "sub") {
		name = s
	}
	return name
}

// atenNames are the operations of package tensor for those of aten.
var atenNames = map[string]string{
	"_to_copy": "cast", "nll_loss_forward": "nll_loss", "_log_softmax_backward_data": "log_softmax_backward", "_softmax_backward_data": "softmax_backward", "mm": "matmul", "bmm": "matmul", "addmm": "linear", "_softmax": "softmax", "_log_softmax": "log_softmax", "native_layer_norm": "layer_norm", "native_dropout": "dropout", "convolution": "conv2d",
	"_amp_foreach_non_finite_check_and_unscale_": "unscale", "_amp_update_scale_": "update_scale",
}

// make adds the operation of one or more rows.
func (l *loader) make(rows []fileRow) {
	first, last := &rows[0], &rows[len(rows)-1]
	k := last.fileKind
	op := &OpRecord{
		Place: Place{Module: k.Module, Param: k.Param}, Source: k.Line, Step: last.step, Backward: k.Phase == "backward", InPlace: k.InPlace || k.Phase == "optimizer",
		Out: last.Out[0].dtype, Shape: last.Out[0].shape, ID: last.out[0], Device: tensor.Device(cmp.Or(k.Device, "cpu")), Start: first.start,
		Bytes: k.Bytes, FLOPs: k.FLOPs, hashed: last.hashes,
	}
	switch whole := l.whole(k) && k.Phase == "forward" && !(k.InPlace && len(rows) == 1 && k.Call == ""); {
	case !l.torch:
		op.Name = k.Op
	case whole:
		op.Name = callName(k.Call)
	case k.Phase == "optimizer":
		op.Name, op.Source = strings.ToLower(cmp.Or(l.opt, k.Op)), cmp.Or(k.Line, l.at)
	default:
		op.Name = cmp.Or(atenNames[k.Op], strings.TrimSuffix(k.Op, "_"))
	}
	if k.Phase == "backward" {
		op.Of, op.OfID = cmp.Or(callName(k.Call), "the loss"), l.results[last.call]
	} else if last.call != 0 {
		l.results[last.call] = op.ID
	}
	l.operands(op, rows)
	for i := range rows {
		op.Duration += rows[i].duration
	}
	if last.counts != nil {
		op.Counts, op.Counted = *last.counts, true
		switch {
		case last.wide != nil:
			op.Rounded, op.Rounding = true, rounding(*last.counts, *last.wide)
		case l.torch && op.Out == tensor.Float16 && last.counts.Zeros+last.counts.Infs == 0:
			op.Rounded = true // nothing can have been lost
		}
	}
	l.explain(op, k)
	if l.torch {
		op.work(rows)
	}
	l.rec.sums.add(op, l.rec.ops.add(op))
	l.ops++
}

// rounding compares a result with the same in a wider dtype.
func rounding(is, wide tensor.Counts) Rounding {
	return Rounding{Flushed: max(0, is.Zeros-wide.Zeros), Overflowed: max(0, is.Infs-wide.Infs)}
}

// operands fills in the operands that come from outside of the rows, those that are not parameters first, and the casts for them.
func (l *loader) operands(op *OpRecord, rows []fileRow) {
	type operand struct {
		id int
		t  fileTensor
	}
	var plain, params []operand
	own := map[int]bool{}
	for _, r := range rows {
		for i, id := range r.in {
			id = l.base(id)
			if own[id] || slices.ContainsFunc(slices.Concat(plain, params), func(o operand) bool { return o.id == id && l.torch }) {
				continue
			}
			source := id
			if c, ok := l.casts[id]; ok {
				source = l.base(c.in[0])
			}
			name := l.params[source]
			if name != "" && l.torch {
				params = append(params, operand{id, r.In[i]})
				if op.Param == "" || strings.HasSuffix(name, "weight") {
					op.Param = name
				}
				continue
			}
			plain = append(plain, operand{id, r.In[i]})
		}
		for _, id := range r.out {
			own[id] = !r.InPlace
		}
	}
	for i, o := range append(plain, params...) {
		op.InIDs, op.In, op.InShapes = append(op.InIDs, o.id), append(op.In, o.t.dtype), append(op.InShapes, o.t.shape)
		if d := o.t.dtype; op.Computed == 0 || !op.Computed.IsFloat() && d.IsFloat() {
			op.Computed = d
		}
		c, ok := l.casts[o.id]
		if !ok || op.Backward {
			continue
		}
		cast := CastRecord{Operand: i, ID: l.base(c.in[0]), From: c.In[0].dtype, To: c.Out[0].dtype, Cached: c.call != rows[0].call, Promotion: c.Cast == "promotion", Elements: elements(c.In[0].shape)}
		op.In[i] = cast.From
		if cast.Cached {
			op.Cached++
		} else {
			op.Casts++
			cast.Start, cast.Duration = c.start, c.duration
			if op.Start == rows[0].start {
				op.Start = max(op.Start, c.start+c.duration)
			}
		}
		if c.counts != nil && c.wide != nil {
			cast.Rounded, cast.Rounding = true, rounding(*c.counts, *c.wide)
		}
		op.Cast = append(op.Cast, cast)
	}
	if op.Computed == 0 {
		op.Computed = op.Out
	}
}

// explain fills in the policy and its reason.
func (l *loader) explain(op *OpRecord, k *fileKind) {
	info := tensor.Info{Name: op.Name}
	if name := callName(k.Call); l.torch && k.Phase == "forward" && name != "" { // autocast decides for the function that was called
		info.Name = name
	}
	if op.Policy, op.Why = k.Policy, k.Why; op.Policy != "" {
		op.Category = amp.Listed(info)
		return
	}
	policy := amp.Off
	switch {
	case k.Autocast == "" || k.Phase != "forward":
	case k.Device == "cpu" && k.Autocast == "float16":
		policy = amp.CPUFloat16
	case k.Device == "cpu":
		policy = amp.CPUBFloat16
	case k.Autocast == "float16":
		policy = amp.Float16
	default:
		policy = amp.BFloat16
	}
	policy = policy.Release(strings.TrimPrefix(l.rec.Producer, "torch "))
	if op.Policy = "autocast is off"; policy.IsEnabled() {
		op.Policy = fmt.Sprintf("torch.autocast(%q, torch.%s)", k.Device, k.Autocast)
		op.Category = policy.Category(info)
	}
	known := l.known[info.Name] || op.Category != amp.Unlisted
	switch {
	case k.Again:
		op.Why = "computed again for backward, by a checkpoint"
	case op.Backward:
		op.Why = "derivative of " + op.Of
	case op.InPlace:
		op.Why = "in place: never cast"
	case op.Name == "cast":
		op.Why = "a cast requested by the program or a promotion"
	case !policy.IsEnabled():
		op.Why = "autocast is off"
	case k.Device != "cpu" && k.Device != "cuda":
		op.Why = "the lists of " + k.Device + " are not known here; those of CUDA are similar"
	case !known:
		op.Why = "on no list that is known here: a function of torch that package tensor does not have"
	default:
		op.Why = policy.By(info)
	}
}

// work fills in bytes and FLOPs from the shapes.
func (op *OpRecord) work(rows []fileRow) {
	for _, r := range rows {
		most := 0
		for _, t := range slices.Concat(r.In, r.Out) {
			n := elements(t.shape)
			op.Bytes += n * t.dtype.Size()
			most = max(most, n)
		}
		inner := 0
		switch n := elements(r.Out[0].shape); {
		case (r.Op == "addmm" || r.Op == "baddbmm") && len(r.In) > 2 && len(r.In[1].shape) > 1:
			inner = r.In[1].shape[len(r.In[1].shape)-1]
			most = 2 * n * inner
		case (r.Op == "mm" || r.Op == "bmm" || r.Op == "mv" || r.Op == "dot") && len(r.In[0].shape) > 0:
			inner = r.In[0].shape[len(r.In[0].shape)-1]
			most = 2 * n * inner
		case strings.Contains(r.Op, "convolution") && len(r.In) > 1 && len(r.In[1].shape) > 1:
			most = 2 * n * elements(r.In[1].shape[1:])
			if r.Op == "convolution_backward" && len(r.In) > 2 && len(r.In[2].shape) > 1 { // of the input and of the weight
				most = 4 * elements(r.In[0].shape) * elements(r.In[2].shape[1:])
			}
		}
		op.FLOPs += float64(most)
	}
}

// event takes an event.
func (l *loader) event(e *fileEvent) error {
	if e.Step < 0 || e.Step > math.MaxInt32 {
		return fmt.Errorf("%s in step %d; want a number from 0", e.Event, e.Step)
	}
	l.close()
	r, end := l.rec, time.Duration(e.NS)
	l.end = max(l.end, end)
	scaler, _ := e.Scaler.(float64)
	byScaler, _ := e.Scaler.(bool)
	c := LoopCall{
		Name: e.Event, Step: e.Step, Op: l.ops, Source: e.Line, Autocast: e.Autocast, DType: dtypeNamed(e.DType), Shape: e.Shape, Loss: e.Value.or(e.Loss.or(math.NaN())), ID: e.ID, Scaled: e.To,
		Scale: e.Scale.or(e.Before.or(0)), After: e.After.or(0), Limit: e.Limit.or(0), Scaler: int(scaler), Optimizer: e.Optimizer, Class: e.Name, DTypes: e.DTypes, Grads: e.Grads, Of: e.Of,
		ByScaler: byScaler, Skipped: e.Skipped, Param: e.Parameter, Eval: e.Eval, Error: e.Error,
	}
	copy(c.Gradient[:], e.Grad)
	for _, g := range e.Groups {
		if c.Eps = cmp.Or(min(c.Eps, g.Eps), g.Eps); c.Eps == 0 {
			c.Eps = g.Eps
		}
	}
	var m *moment
	if slices.Contains([]string{"step", "scale", "backward", "scaler.step"}, e.Event) {
		m = r.history.at(e.Step)
	}
	switch e.Event {
	case "step":
		r.history.pass(e.Step, r.begun.Add(end))
		m.memory = max(m.memory, e.Memory)
		if e.Loss.value != nil {
			m.loss, m.unknown = *e.Loss.value, false
		}
		if s := e.Scale.or(0); s != 0 {
			m.scale = s
		}
		if e.Step >= r.sums.last {
			r.sums.reach(e.Step, end)
		}
		return nil
	case "log":
		r.history.log(e.Name, e.Value.or(math.NaN()), e.Step)
		return nil
	case "gradients":
		return l.gradients(e)
	case "scale":
		m.loss, m.unknown, m.scale = c.Loss, math.IsNaN(c.Loss) && e.Loss.value == nil, c.Scale
		l.lossOf[e.Step] = true
	case "backward":
		if !l.lossOf[e.Step] && e.Value.value != nil {
			m.loss, m.unknown = c.Loss, false
		}
	case "optimizer.step":
		l.opt, l.at = c.Class, c.Source
	case "scaler.step":
		m.scale = c.Scale
		l.later(c.Scaler, c.Scale)
		s := StepRecord{StepResult: amp.StepResult{Step: e.Step, Skipped: c.Skipped, FoundInf: c.Skipped, Scale: c.Scale, FirstBadParam: -1, Param: c.Param}, Of: e.Step}
		if c.Skipped {
			if s.Param = cmp.Or(c.Param, "a parameter"); len(r.steps) > 0 {
				s.Skips = r.steps[len(r.steps)-1].Skips
			}
			s.Skips++
			if n := len(m.skipped); n == 0 || m.skipped[n-1] != e.Step {
				m.skipped = append(m.skipped, e.Step)
			}
		}
		r.steps = append(r.steps, s)
	case "update":
		if c.After != 0 {
			l.later(c.Scaler, c.After)
		}
	}
	r.Loop = append(r.Loop, c)
	return nil
}

// later fills in the scale after steps and updates before, which a recorder of a GPU learns only later.
func (l *loader) later(scaler int, scale float64) {
	for i := len(l.rec.steps) - 1; i >= 0 && l.rec.steps[i].After == 0; i-- {
		l.rec.steps[i].After = scale
	}
	for i := len(l.rec.Loop) - 1; i >= 0; i-- {
		if c := &l.rec.Loop[i]; c.Name == "update" && c.Scaler == scaler {
			c.After = cmp.Or(c.After, scale)
			break
		}
	}
}

// gradients reads the gradients of an optimizer's parameters: [parameter, gradient, counts].
func (l *loader) gradients(e *fileEvent) error {
	for _, row := range e.List {
		g := RecordedGradient{Step: e.Step, Op: l.ops, Scale: cmp.Or(e.Scale.or(1), 1)}
		if len(row) != 3 {
			return fmt.Errorf("a gradient of %d parts; want 3", len(row))
		}
		if err := json.Unmarshal(row[0], &g.Parameter); err != nil {
			return err
		}
		if err := json.Unmarshal(row[1], &g.ID); err != nil {
			return err
		}
		if g.ID = l.base(g.ID); string(row[2]) != "null" {
			c, err := fileCounts(row[2])
			if err != nil {
				return err
			}
			g.Counts = c
		}
		l.rec.Gradients = append(l.rec.Gradients, g)
	}
	return nil
}

// finish ends the recording.
func (l *loader) finish() {
	l.close()
	r := l.rec
	r.ended = r.begun.Add(l.end)
	if n := len(l.strange); n > 0 {
		r.Notes = append(r.Notes, text.Count(n, "kind")+" of operations left out, with dtypes that halfnote does not have")
	}
}
