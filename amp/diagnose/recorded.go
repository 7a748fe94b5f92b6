package diagnose

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"halfnote/amp"
	"halfnote/amp/trace"
	"halfnote/tensor"
)

// Diagnoses of recordings in files. They know counts and magnitudes of results, not the values: what takes a second computation in float64 stays unknown.

// needRecording panics without a recording.
func needRecording(what string, rec *trace.Recording) {
	if rec == nil || rec.Recorder == nil {
		panic(fmt.Errorf("diagnose: %s: the recording is nil; want one of trace.Open", what))
	}
}

// torchWords are PyTorch's words for halfnote's in texts about a program in PyTorch.
var torchWords = strings.NewReplacer(
	"diagnose.NewRewind finds it", "an earlier recording finds it", "run diagnose.Overflow", "call rec.overflow()", "diagnose.Overflow", "rec.overflow()",
	"amp.NewGradScaler(amp.InitScale(", "torch.amp.GradScaler(init_scale=(", "amp.InitScale(", "GradScaler(init_scale=", "amp.InitScale", "init_scale", "amp.NewGradScaler", "torch.amp.GradScaler", "amp.ScalerEnabled(false)", "enabled=False",
	"!scaler.Step(opt).Skipped", "scaler.get_scale() >= scale_before", "{ scheduler.Step() }", ": scheduler.step()", "scaler.CurrentScale()", "scaler.get_scale()", "scaler.Unscale(opt)", "scaler.unscale_(opt)", "scaler.Scale(loss).Backward()", "scaler.scale(loss).backward()",
	"scaler.Step(opt)", "scaler.step(opt)", "scaler.Update()", "scaler.update()", "scaler.Scale", "scaler.scale", "opt.ZeroGrad()", "opt.zero_grad()", "ZeroGrad", "zero_grad", "opt.Step()", "opt.step()",
	"tensor.FInfo(tensor.Float16).Max", "torch.finfo(torch.float16).max", "tensor.FInfo(x.DType()).Max", "torch.finfo(x.dtype).max", "x.To(tensor.Float32)", "x.float()", "x.SumAs(tensor.Float32)", "x.sum(dtype=torch.float32)",
	"MaskedFill(mask, math.Inf(-1))", "masked_fill(mask, -math.inf)", "optim.Eps(1e-4)", "eps=1e-4", "nn.BinaryCrossEntropyWithLogits", "F.binary_cross_entropy_with_logits", "BinaryCrossEntropyWithLogits", "binary_cross_entropy_with_logits",
	"nn.Parameters(net)", "net.parameters()", "nn.Train(net)", "net.train()", "nn.Eval(net)", "net.eval()", "amp.BFloat16", "bfloat16", "amp.Autocast(amp.Float16, …)", "torch.autocast", "amp.Autocast(amp.Off, …)", "torch.autocast(enabled=False)",
	"nn.CrossEntropy", "F.cross_entropy", "LogSoftmax", "log_softmax", "LogSigmoid", "logsigmoid", "LogSumExp", "logsumexp", "CrossEntropy", "cross_entropy", "nn.ScaledDotProductAttention", "F.scaled_dot_product_attention", "p.Float()", "p.float()", "Float()", "float()",
	"Call Unscale", "Call unscale_", "loss.Item()", "loss.item()", "loss.Detach()", "loss.detach()", "without nn.Half", "without .half()", "tensor.New returns float32; arrays", "Arrays", "Unscale", "unscale_", "call Clamp", "call clamp", "a Detach", "a detach", "a Clamp", "a clamp",
	"Backward", "backward", "amp.Autocast", "torch.autocast", "Update", "update", "Step", "step", "SetEpoch", "set_epoch",
)

var withFP32 = regexp.MustCompile(`keep ([\w ]+) in float32 with amp\.\w+\.With\("?\w+"?, amp\.FP32\)|(compute) ([\w ]+) in float32 with amp\.\w+\.With\("?\w+"?, amp\.FP32\)`)

// inTorch writes a text in PyTorch's words.
func inTorch(text string) string {
	text = withFP32.ReplaceAllString(text, "compute $1$3 in float32, under torch.autocast(enabled=False) and with .float() on its operands")
	return strings.ReplaceAll(torchWords.Replace(text), "amp.Float16.With", "torch.autocast(enabled=False)")
}

// ofTorch reports whether a recording is of PyTorch.
func ofTorch(rec *trace.Recording) bool { return strings.HasPrefix(rec.Producer, "torch") }

// occurrence returns an operation of a recording.
func occurrence(op *trace.OpRecord) Occurrence {
	return Occurrence{Op: op.Name, Of: op.Of, Backward: op.Backward, Module: op.Module, Source: op.Source, DType: op.Out, Counts: op.Counts}
}

// OverflowIn finds the origin of inf and NaN in a recording, as [Overflow] does while a step runs: the operation, forward or backward, the module and the
// line; the operations before it with their ranges; where it spread and whose gradients it reached; the cause and the cure. An inf that a later
// operation turned into finite numbers is an origin too if the number was only too large for its dtype; what the loss would be without it is unknown.
// It panics if rec is nil.
func OverflowIn(rec *trace.Recording) *OverflowReport {
	needRecording("OverflowIn", rec)
	d := &detective{rec: rec, bad: map[int][]*NonFinite{}, makers: map[int]*trace.OpRecord{}, counts: map[int]tensor.Counts{}}
	ops := rec.Ops()
	loop, gradients := rec.Loop, rec.Gradients
	for i := range ops {
		for len(loop) > 0 && loop[0].Op <= i {
			d.call(&loop[0])
			loop = loop[1:]
		}
		for len(gradients) > 0 && gradients[0].Op <= i {
			d.gradient(&gradients[0])
			gradients = gradients[1:]
		}
		d.operation(&ops[i])
	}
	for i := range loop {
		d.call(&loop[i])
	}
	for i := range gradients {
		d.gradient(&gradients[i])
	}
	return d.report(len(ops))
}

// detective follows inf and NaN through a recording.
type detective struct {
	rec     *trace.Recording
	bad     map[int][]*NonFinite // origins of what is not finite, by the ID of the tensor
	makers  map[int]*trace.OpRecord
	counts  map[int]tensor.Counts
	origins []*NonFinite
	scale   float64
	steps   []amp.StepResult
}

func (d *detective) operation(op *trace.OpRecord) {
	roots := d.rootsOf(op.InIDs)
	for _, c := range op.Cast {
		r, known := d.rec.Results[op.InIDs[c.Operand]]
		if !known || c.Cached || !nonFinite(r.Result) || d.bad[c.ID] != nil {
			continue
		}
		cast := *op
		cast.Name, cast.In, cast.InIDs, cast.Out, cast.Computed, cast.Shape, cast.ID, cast.Counts = "cast", []tensor.DType{c.From}, []int{c.ID}, c.To, c.To, op.InShapes[c.Operand], op.InIDs[c.Operand], r.Result
		b := d.origin(&cast)
		b.For = op.Name
		roots = append(roots, b)
		d.bad[cast.ID] = append(d.bad[cast.ID], b)
	}
	if op.Name == "unscale" || op.Name == "update_scale" {
		return
	}
	delete(d.bad, op.ID)
	switch {
	case op.Counted && nonFinite(op.Counts):
		if len(roots) == 0 {
			roots = []*NonFinite{d.origin(op)}
		}
		for _, b := range roots {
			b.spread(occurrence(op))
			b.updated = b.updated || op.InPlace && d.isParameter(op.ID)
		}
		d.bad[op.ID] = roots
	case op.Counted && len(roots) > 0 && op.Counts.Count > 0 && !strings.HasSuffix(op.Name, "_like") && !strings.HasPrefix(op.Name, "nan_to_num"):
		for _, b := range roots {
			if c := &b.Change; len(c.Absorbed) < 8 && (!op.Backward || len(c.Absorbed) == 0 && b.Backward) {
				c.Absorbed = append(c.Absorbed, occurrence(op))
			}
		}
	}
	if op.Counted {
		d.counts[op.ID] = op.Counts
	}
	d.makers[op.ID] = op
}

func (d *detective) isParameter(id int) bool {
	return slices.ContainsFunc(d.rec.Parameters, func(p trace.RecordedParameter) bool { return p.ID == id })
}

// rootsOf returns the origins of what is not finite in tensors.
func (d *detective) rootsOf(ids []int) (list []*NonFinite) {
	for _, id := range ids {
		for _, b := range d.bad[id] {
			if !slices.Contains(list, b) {
				list = append(list, b)
			}
		}
	}
	return list
}

// origin adds an operation that made inf or NaN of finite numbers.
func (d *detective) origin(op *trace.OpRecord) *NonFinite {
	c := op.Counts
	b := &NonFinite{
		Op: op.Name, Of: op.Of, Backward: op.Backward, Place: op.Place, Source: op.Source, In: op.Computed, Out: op.Out, Shape: op.Shape, Infs: c.Infs, NaNs: c.NaNs, Largest: math.NaN(), Scale: 1,
		counts: c, limit: math.Inf(1), Change: unchanged, order: len(d.origins),
	}
	b.Change.unknown = true
	if op.Out.IsFloat() {
		b.limit = tensor.FInfo(op.Out).Max
	}
	if r, known := d.rec.Results[op.ID]; known {
		if b.Largest = r.Wide.AbsMax; nonFinite(r.Wide) {
			b.Largest = math.Inf(1)
		}
	}
	e := &tensor.Event{EventInfo: tensor.EventInfo{Op: tensor.Info{Name: op.Name}, Backward: op.Backward, Of: op.Of}}
	e.Out.DType = op.Out
	v := &evidence{e: e, op: op.Name, largest: b.Largest, limit: b.limit, scale: 1, param: op.InPlace && d.isParameter(op.ID)}
	if op.Backward {
		v.scale = max(d.scale, 1)
	}
	for _, id := range op.InIDs {
		if known, ok := d.counts[id]; ok {
			v.in = append(v.in, known)
		} else if r, ok := d.rec.Results[id]; ok {
			v.in = append(v.in, r.Result)
		}
	}
	if len(v.in) == len(op.InIDs) && len(v.in) > 0 {
		b.operands = v.in
		b.factor = v.factor()
	}
	v.negative = v.masks() && !op.Backward // the sign is not recorded: a power of ten stands in for it
	b.Scale, b.intended = v.scale, v.asked()
	b.Cause = causes[slices.IndexFunc(causes, func(c cause) bool { return c.finds != nil && (len(v.in) > 0 || c.code != "factor") && c.finds(v) })].code
	for len(b.Before) < 6 {
		var next *trace.OpRecord
		for _, id := range op.InIDs {
			if m := d.makers[id]; m != nil && m != op && (next == nil || next.Param != "" && m.Param == "") {
				next = m
			}
		}
		if next == nil {
			break
		}
		b.Before = append(b.Before, occurrence(next))
		op = next
	}
	slices.Reverse(b.Before)
	d.origins = append(d.origins, b)
	return b
}

// call notes what inf or NaN reached.
func (d *detective) call(c *trace.LoopCall) {
	switch c.Name {
	case "backward", "scale":
		for _, b := range d.bad[c.ID] {
			b.Loss = true
		}
		if c.Name == "scale" {
			d.scale = c.Scale
			if roots := d.bad[c.ID]; roots != nil {
				d.bad[c.Scaled] = roots
			}
		}
	case "scaler.step":
		d.steps = append(d.steps, amp.StepResult{Step: c.Step, Skipped: c.Skipped, FoundInf: c.Skipped, Scale: c.Scale, FirstBadParam: -1, Param: c.Param})
	}
}

// gradient notes whose gradients inf or NaN reached.
func (d *detective) gradient(g *trace.RecordedGradient) {
	if g.ID == 0 || !nonFinite(g.Counts) {
		return
	}
	name := fmt.Sprint("parameter ", g.Parameter)
	for _, p := range d.rec.Parameters {
		if p.ID == g.Parameter {
			name = p.Name
		}
	}
	for _, b := range d.bad[g.ID] {
		if !slices.Contains(b.Params, name) {
			b.Params = append(b.Params, name)
		}
	}
}

// report chooses the culprit: what made NaN or inf of the loss, of a gradient or of a parameter, or what is absorbed and was only too large for its
// dtype; then what a scaler handled.
func (d *detective) report(looked int) *OverflowReport {
	r := &OverflowReport{Origins: d.origins, Steps: d.steps, Looked: looked}
	skips := 0
	for _, s := range d.steps {
		if s.Skipped {
			skips++
		}
	}
	rank := func(b *NonFinite) int {
		over := b.Largest > b.limit && !math.IsInf(b.Largest, 0)
		switch {
		case b.intended && !b.Loss && !b.updated:
			return 3
		case b.Harmless:
			return 2
		case b.Loss || b.updated:
			return 0
		case len(b.Params) > 0 || !b.Backward && len(b.Change.Absorbed) > 0 && over:
			return 1
		}
		return 3
	}
	for _, b := range d.origins {
		b.Harmless = skips > 0 && skips < max(len(d.steps), 2) && b.Cause == "loss-scale"
		b.word()
		if ofTorch(d.rec) {
			b.What, b.Cure = inTorch(b.What), inTorch(b.Cure)
		}
	}
	for _, b := range d.origins {
		if rank(b) < 3 && (r.Culprit == nil || rank(b) < rank(r.Culprit)) {
			r.Culprit = b
		}
	}
	return r
}
