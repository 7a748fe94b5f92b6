package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"halfnote/amp"
	"halfnote/amp/trace"
	"halfnote/internal/text"
	"halfnote/tensor"
)

// recordedRules are the rules that LintIn checks: those that need no values, no other ranks, and no module's state.
var recordedRules = strings.Fields(`
average-in-half backward-inside bce-autocast clip-before-unscale double-sigmoid double-softmax eps-lost eval-in-training
float64-inside forward-outside freed-graph half-parameters half-reduction ignored-skips leftover-gradients log-by-hand
loss-in-half loss-not-finite lost-addition mask-overflow masked-row missing-scale missing-update missing-zero-grad
needless-scaler nll-of-softmax no-gradients no-scaler odd-sizes repeated-cast scale-below-1 scaler-per-step
scheduler-on-skip small-products step-past-scaler unscale-in-accumulation unscale-twice update-inside update-without-step
`)

// LintIn checks in a recording how a program uses mixed precision, with those rules of [Lint] that need the order of calls, dtypes, shapes and counts, but
// no values. [LintRules] lists all; docs/pytorch.md says which apply. A recording of a program in PyTorch gets advice in its words. It panics if rec is nil.
func LintIn(rec *trace.Recording) *LintReport {
	needRecording("LintIn", rec)
	l := &recordedLint{watch: newWatch(nil), rec: rec, ops: rec.Ops(), makers: map[int]*trace.OpRecord{}, taken: map[int]int{}, passed: map[int]int{}, seen: map[int][2]int{}, unscaled: map[int]bool{}, used: map[int][2]int{}, steps: map[int]int{}}
	l.watch.operations = len(l.ops)
	loop := rec.Loop
	for i := range l.ops {
		for len(loop) > 0 && loop[0].Op <= i {
			l.call(&loop[0])
			loop = loop[1:]
		}
		l.operation(&l.ops[i])
	}
	for i := range loop {
		l.call(&loop[i])
	}
	l.end()
	for i := range l.findings {
		f := &l.findings[i]
		if ofTorch(rec) {
			f.What, f.Why, f.Cure = inTorch(f.What), inTorch(f.Why), inTorch(f.Cure)
		}
	}
	report := l.report()
	report.rules = len(recordedRules)
	return report
}

// recordedLint is the state of LintIn.
type recordedLint struct {
	*watch   // its findings, products and counts
	rec      *trace.Recording
	ops      []trace.OpRecord
	makers   map[int]*trace.OpRecord // operations by the ID of their result
	taken    map[int]int             // steps of optimizers, by their number, and skipped ones
	passed   map[int]int
	seen     map[int][2]int // both at a scheduler's last step
	unscaled map[int]bool   // optimizers whose gradients unscale has divided since the last step
	used     map[int][2]int // gradients that a step used
	steps    map[int]int    // steps of each scaler
	due      *spot          // a step without update so far
	over     *spot          // a backward pass that no step has used
	from     *spot          // a backward pass from a loss that was not scaled
	scaledID int            // the scaled loss
	cleared  bool           // gradients were cleared since the last step
	trains   []spot
	weights  map[[2]int]int // casts of a parameter in a step
}

// add adds a finding of the rule with a code.
func (l *recordedLint) add(code string, at spot, format string, args ...any) {
	if !slices.Contains(recordedRules, code) {
		panic(fmt.Errorf("diagnose: %s is not in recordedRules", code))
	}
	i := slices.IndexFunc(rules, func(r rule) bool { return r.code == code })
	l.find(&rules[i], at, format, args...)
}

func (l *recordedLint) call(c *trace.LoopCall) {
	at := spot{source: c.Source}
	switch c.Name {
	case "scale":
		l.scaling, l.scale, l.scaledID, l.scaled = l.scaling || c.Scale != 1, c.Scale, c.Scaled, true
		l.lossOf(c, at, "that is scaled")
	case "backward":
		clear(l.weights) // the next micro-batch has a region that casts again
		l.backwards++
		l.trains, l.over = append(l.trains, at), &at
		if c.Autocast != "" {
			l.add("backward-inside", at, "Backward was called in a region of %s", c.Autocast)
		}
		if c.Eval {
			l.add("eval-in-training", at, "Backward was called while the model was in evaluation mode")
		}
		if c.ID != l.scaledID || !l.scaled {
			if l.from = &at; !l.scaled {
				l.lossOf(c, at, "that Backward starts from")
			}
		}
		if len(l.unscaled) > 0 {
			l.add("unscale-in-accumulation", at, "a backward pass added scaled gradients to gradients that Unscale had divided")
		}
	case "unscale":
		l.unscaled[c.Optimizer] = true
		l.verdicts++
	case "clip_grad_norm_", "clip_grad_value_":
		if l.scaled && len(l.unscaled) == 0 && l.scale > 1 && c.Limit/l.scale < 0.01 {
			l.add("clip-before-unscale", at, "gradients were clipped to %g while they carried the scale %g: to %.2g in true units", c.Limit, l.scale, c.Limit/l.scale)
		}
	case "optimizer.step":
		l.optimizer(c, at)
	case "scaler.step":
		l.steps[c.Scaler]++
		l.due, l.scaled = &at, false
		if l.from != nil {
			l.add("missing-scale", at, "Backward was called on a loss that was not scaled%s", l.from.said())
		}
		l.from = nil
		clear(l.unscaled)
		if l.over = nil; c.Skipped {
			l.skipped++
			l.bad = cmp.Or(c.Param, "a parameter")
			l.passed[c.Optimizer]++
			l.watch.steps++
		}
	case "update":
		l.verdicts++
		l.due = nil
		if l.shrunk++; c.After == 0 || c.After >= c.Scale {
			l.shrunk = 0
		}
		switch {
		case c.After > 0 && c.After < 1:
			l.add("scale-below-1", at, "the loss scale is %g", c.After)
		case l.shrunk > 7:
			l.add("scale-below-1", at, "the loss scale shrank %d times in a row, to %g", l.shrunk, c.After)
		}
	case "zero_grad":
		l.cleared, l.over, l.from = true, nil, nil
		clear(l.unscaled)
	case "lr_scheduler.step":
		before, id := l.seen[c.Optimizer], c.Optimizer
		switch taken, passed := l.taken[id]-before[0], l.passed[id]-before[1]; {
		case taken > 0:
		case passed > 0:
			l.add("scheduler-on-skip", at, "the scheduler stepped although %s skipped and none taken since its last call", counted(passed, "step was", "steps were"))
		default:
			l.add("scheduler-on-skip", at, "the scheduler stepped before its optimizer")
		}
		l.seen[id] = [2]int{l.taken[id], l.passed[id]}
	case "error":
		l.failed(c)
	}
}

// lossOf checks a loss.
func (l *recordedLint) lossOf(c *trace.LoopCall, at spot, which string) {
	if half(c.DType) && !l.halfModel() {
		l.add("loss-in-half", at, "the loss %s is %v", which, c.DType)
	}
	switch m := l.makers[c.ID]; {
	case math.IsInf(c.Loss, 0) || m != nil && m.Counted && m.Counts.Infs > 0 && len(m.Shape) == 0:
		l.add("loss-not-finite", at, "the loss is infinite")
	case m != nil && m.Counted && m.Counts.NaNs > 0 && len(m.Shape) == 0:
		l.add("loss-not-finite", at, "the loss is NaN")
	}
}

// halfModel reports whether parameters are in half precision.
func (l *recordedLint) halfModel() bool {
	return slices.ContainsFunc(l.rec.Parameters, func(p trace.RecordedParameter) bool { return half(p.DType) })
}

// optimizer checks a step.
func (l *recordedLint) optimizer(c *trace.LoopCall, at spot) {
	l.watch.steps++
	l.over = nil
	if c.Autocast != "" {
		l.add("update-inside", at, "the optimizer stepped in a region of %s", c.Autocast)
	}
	if c.Grads == 0 && c.Of > 0 {
		l.add("no-gradients", at, "none of the optimizer's %d parameters has a gradient", c.Of)
	}
	if before, ok := l.used[c.Optimizer]; ok && before[0] != 0 && before[0] == c.Gradient[0] && before[1] != c.Gradient[1] && !l.cleared {
		l.add("missing-zero-grad", at, "gradients of %s were used by an earlier step and have been added to since", text.Count(c.Of, "parameter"))
	}
	l.used[c.Optimizer], l.cleared = c.Gradient, false
	for _, name := range c.DTypes {
		for _, d := range []tensor.DType{tensor.Float16, tensor.BFloat16} {
			if d.String() != name {
				continue
			}
			l.add("half-parameters", at, "the optimizer steps parameters in %v", d)
			if c.Eps > 0 && c.Eps <= tensor.FInfo(d).Subnormal/2 {
				l.add("eps-lost", at, "eps %g is 0 in %v, the dtype of the parameters", c.Eps, d)
			}
		}
	}
	if !c.ByScaler && l.scaled && len(l.unscaled) == 0 && l.scale != 1 {
		l.add("step-past-scaler", at, "the optimizer stepped by itself while gradients carried the scale %g", l.scale)
	}
	if !c.ByScaler {
		l.from = nil
		clear(l.unscaled)
	}
	l.taken[c.Optimizer]++
}

// refusals are the errors of torch that rules explain.
var refusals = []struct{ text, code string }{
	{"has already been called on this optimizer since the last update", "unscale-twice"},
	{"is being called after step", "unscale-twice"},
	{"step() has already been called since the last update", "missing-update"},
	{"No inf checks were recorded", "update-without-step"},
	{"unsafe to autocast", "bce-autocast"},
	{"Attempting to unscale FP16 gradients", "half-parameters"},
	{"without overflow", "mask-overflow"},
	{"backward through the graph a second time", "freed-graph"},
}

// failed explains the error that ended the program.
func (l *recordedLint) failed(c *trace.LoopCall) {
	l.cut = true
	for _, r := range refusals {
		if strings.Contains(c.Error, r.text) {
			l.add(r.code, spot{source: c.Source}, "torch refused a call: %s", c.Error)
		}
	}
}

// source returns the operation that made a tensor, ignoring casts and copies.
func (l *recordedLint) source(id int) *trace.OpRecord {
	for range 64 {
		op := l.makers[id]
		if op == nil || op.Name != "cast" && op.Name != "clone" || len(op.InIDs) == 0 {
			return op
		}
		id = op.InIDs[0]
	}
	return nil
}

func (l *recordedLint) operation(op *trace.OpRecord) {
	at := spot{module: op.Module, source: op.Source}
	inside := op.Policy != "autocast is off" && op.Policy != "amp.Off"
	first := func(i int) *trace.OpRecord {
		id := op.InIDs[i]
		for _, c := range op.Cast {
			if c.Operand == i {
				id = c.ID
			}
		}
		return l.source(id)
	}
	defer func() {
		if _, known := l.makers[op.ID]; !op.InPlace || !known {
			l.makers[op.ID] = op
		}
	}()
	if op.Backward {
		return
	}
	forward := !op.InPlace
	if forward && inside && op.Name != "cast" {
		l.lower[op.Computed] = true
	}
	if forward && len(op.InIDs) > 0 {
		switch m := first(0); {
		case m == nil:
		case op.Name == "binary_cross_entropy_with_logits" && m.Name == "sigmoid":
			l.add("double-sigmoid", at, "the logits of binary_cross_entropy_with_logits are the result of sigmoid%s", spot{module: m.Module, source: m.Source}.said())
		case (op.Name == "cross_entropy_loss" || op.Name == "log_softmax") && m.Name == "softmax":
			l.add("double-softmax", at, "the logits of cross_entropy or log_softmax are the result of softmax%s", spot{module: m.Module, source: m.Source}.said())
		case strings.HasPrefix(op.Name, "nll_loss") && m.Name == "softmax":
			l.add("nll-of-softmax", at, "nll_loss is given the result of softmax%s", spot{module: m.Module, source: m.Source}.said())
		case op.Name == "log" && (m.Name == "softmax" || m.Name == "sigmoid"):
			l.add("log-by-hand", at, "log of %s%s", m.Name, spot{module: m.Module, source: m.Source}.said())
		}
	}
	c, listed := op.Counts, amp.Listed(tensor.Info{Name: op.Name})
	switch {
	case op.Name == "binary_cross_entropy" && inside:
		l.add("bce-autocast", at, "binary_cross_entropy ran in a region; on a GPU torch refuses it, and the sigmoid before it is in %v", op.In[0])
	case forward && listed == amp.LowerPrecision && op.Computed == tensor.Float64 && inside:
		l.add("float64-inside", at, "%s ran in float64 in a region", op.Name)
	case forward && listed == amp.LowerPrecision && op.Computed == tensor.Float32 && !inside && op.Param != "":
		l.outside = append(l.outside, at)
	case forward && listed == amp.FP32 && op.Computed == tensor.Float16 && op.Out == tensor.Float16 && !inside && !l.halfModel():
		l.add("half-reduction", at, "%s ran in float16 outside the region", op.Name)
	case op.InPlace && strings.HasPrefix(op.Name, "lerp") || op.InPlace && (op.Name == "add" || op.Name == "sub"):
		if half(op.Out) && len(op.InIDs) > 1 && op.InIDs[0] != op.InIDs[1] {
			l.sum(op, at)
		}
	}
	lost := op.Rounding.Overflowed
	name, most := op.Name, l.rec.Results[op.ID].Wide.AbsMax
	for _, c := range op.Cast {
		if c.Rounding.Overflowed > 0 {
			lost, name, most = c.Rounding.Overflowed, "cast", l.rec.Results[op.InIDs[c.Operand]].Wide.AbsMax
		}
	}
	if power := math.Log10(most); forward && lost > 0 && most >= 1e6 && math.Abs(power-math.Round(power)) < 1e-3 && slices.Contains([]string{"cast", "where", "add", "mul", "masked_fill", "sub"}, name) {
		l.add("mask-overflow", at, "%s is inf in float16, by %s", shown(most), name)
	}
	if forward && op.Name == "softmax" && c.NaNs > 0 && len(op.InIDs) > 0 {
		if m := l.makers[op.InIDs[0]]; m != nil && m.Counted && m.Counts.NaNs == 0 && m.Counts.Infs > 0 {
			l.add("masked-row", at, "softmax returned %d NaN of %d elements for operands without NaN", c.NaNs, c.Count)
		}
	}
	if forward && listed == amp.LowerPrecision && half(op.Computed) && len(op.InShapes) > 1 {
		e := &tensor.Event{EventInfo: tensor.EventInfo{Op: tensor.Info{Name: op.Name}, Computed: op.Computed, FLOPs: op.FLOPs}}
		for i, s := range op.InShapes {
			e.In = append(e.In, tensor.TensorInfo{Shape: s, DType: op.In[i]})
		}
		if a, b := op.InShapes[0], op.InShapes[1]; len(a) > 0 && len(b) > 1 {
			l.here = at
			noteProduct(l.watch, e)
		}
	}
	for _, c := range op.Cast {
		if c.Cached || !half(c.To) || !l.isParameter(c.ID) {
			continue
		}
		if l.weights == nil {
			l.weights = map[[2]int]int{}
		}
		if k := [2]int{c.ID, op.Step}; l.weights[k] > 0 {
			l.add("repeated-cast", at, "%s was cast again in the same step", cmp.Or(op.Param, "a weight"))
		}
		l.weights[[2]int{c.ID, op.Step}]++
	}
}

func (l *recordedLint) isParameter(id int) bool {
	return slices.ContainsFunc(l.rec.Parameters, func(p trace.RecordedParameter) bool { return p.ID == id })
}

// sum checks a sum in place in half precision outside of the optimizer, such as a running average.
func (l *recordedLint) sum(op *trace.OpRecord, at spot) {
	by := l.makers[op.InIDs[1]]
	if by == nil || !by.Counted || !op.Counted || by.Counts.AbsMax != by.Counts.AbsMax || op.Counts.AbsMin != op.Counts.AbsMin {
		return
	}
	if by.Counts.AbsMax < spacing(op.Out, op.Counts.AbsMin)/2 {
		l.add("average-in-half", at, "what is added in place reaches %s, less than half a unit in the last place of the smallest element, %s in %v: nothing changes", shown(by.Counts.AbsMax), shown(op.Counts.AbsMin), op.Out)
	} else if by.Counts.AbsMax < spacing(op.Out, op.Counts.AbsMax)/2 {
		l.add("lost-addition", at, "what is added in place reaches %s, less than half a unit in the last place of the largest element, %s in %v", shown(by.Counts.AbsMax), shown(op.Counts.AbsMax), op.Out)
	}
}

// end checks the whole recording.
func (l *recordedLint) end() {
	w := l.watch
	total := 0
	for _, n := range l.steps {
		total += n
	}
	if total >= 4 && l.skipped == total {
		l.add("ignored-skips", spot{}, "all %d steps were skipped, the last because the gradient of %s holds inf or NaN", total, l.bad)
	}
	if once := len(l.steps) > 1; once {
		for _, n := range l.steps {
			once = once && n == 1
		}
		if once {
			l.add("scaler-per-step", spot{}, "%d scalers took one step each", len(l.steps))
		}
	}
	if l.cut {
		return
	}
	if l.due != nil {
		l.add("missing-update", *l.due, "no Update followed the step")
	}
	if l.verdicts > 1 && w.steps == 0 && len(l.trains) > 0 {
		l.add("update-without-step", l.trains[len(l.trains)-1], "%s, and no optimizer stepped", counted(len(l.trains), "backward pass", "backward passes"))
	}
	if l.over != nil && w.steps > 0 {
		l.add("leftover-gradients", *l.over, "no step followed the last backward pass")
	}
	if l.lower[tensor.Float16] && len(l.trains) > 0 && l.scaledID == 0 {
		l.add("no-scaler", l.trains[0], "backward passes of float16 operations started from a loss that was not scaled")
	}
	if what := "a scaler scaled losses, and no operation ran under autocast"; l.scaling && !l.lower[tensor.Float16] && !l.halfModel() && len(l.ops) > 0 {
		if l.lower[tensor.BFloat16] {
			what = "a scaler scaled losses of a region in bfloat16"
		}
		l.add("needless-scaler", spot{}, "%s", what)
	}
	for _, code := range []string{"forward-outside", "odd-sizes", "small-products"} {
		i := slices.IndexFunc(rules, func(r rule) bool { return r.code == code })
		rules[i].end(w, func(at spot, what string) { l.find(&rules[i], at, "%s", what) })
	}
}
