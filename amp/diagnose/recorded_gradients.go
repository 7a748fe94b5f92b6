package diagnose

import (
	"math"
	"slices"

	"halfnote/amp/trace"
	"halfnote/tensor"
)

// GradientsIn finds in a recording where gradients were lost, as [Gradients] does while a step runs: for each parameter the share of its gradient that
// rounding flushed to 0, was subnormal or overflowed, the derivative that lost it, and the loss scale that would fit. It takes the last step whose
// gradients were recorded, one that was not skipped if there is one. Each derivative is compared with itself in float32 on the same operands: zeros
// that its operands brought count where they were made. Without recorded gradients the report is empty. It panics if rec is nil.
func GradientsIn(rec *trace.Recording) *GradientsReport {
	needRecording("GradientsIn", rec)
	step, r := gradientStep(rec), &GradientsReport{recorded: true, torch: ofTorch(rec), Scale: 1, Rescue: 1, Ceiling: math.Inf(1)}
	ops := slices.DeleteFunc(rec.Ops(), func(op trace.OpRecord) bool { return op.Step != step })
	g := &recordedGradients{rec: rec, makers: map[int]*trace.OpRecord{}, underflows: map[int]*Underflow{}, hidden: map[int]*Underflow{}, bad: map[int]*trace.OpRecord{}}
	for i := range ops {
		if op := &ops[i]; op.Backward {
			g.makers[op.ID] = op
			g.note(op, i)
		} else if !op.InPlace {
			g.hide(op, i)
		}
	}
	for _, one := range rec.Gradients {
		if one.Step != step {
			continue
		}
		r.Scale = one.Scale
		if l, ok := g.layer(&one); ok {
			r.Layers = append(r.Layers, l)
			if l.Loss != nil && (r.First == nil || l.Loss.order < r.First.order) {
				r.First = l.Loss
			}
		}
	}
	for _, u := range g.underflows {
		if u.Share >= lost || u.Outcome != Flushed {
			r.Underflows = append(r.Underflows, u)
		}
	}
	slices.SortFunc(r.Underflows, func(a, b *Underflow) int { return a.order - b.order })
	r.Rescue, r.Ceiling = g.all.rescue(), g.all.ceiling()
	if g.all.margin > 0 {
		need, top := r.Scale*g.all.enough(), staticScale(1/(g.all.margin*r.Scale), 1)
		r.Static = recommended(need, top)
	}
	return r
}

// gradientStep returns the step that GradientsIn looks at.
func gradientStep(rec *trace.Recording) int {
	step, taken := -1, -1
	for _, g := range rec.Gradients {
		step = max(step, g.Step)
	}
	skipped := map[int]bool{}
	for _, s := range rec.Steps() {
		skipped[s.Of] = skipped[s.Of] || s.Skipped
	}
	for _, g := range rec.Gradients {
		if !skipped[g.Step] {
			taken = max(taken, g.Step)
		}
	}
	if taken >= 0 {
		return taken
	}
	return step
}

// recordedGradients follows gradients through the backward pass of a recording.
type recordedGradients struct {
	rec        *trace.Recording
	makers     map[int]*trace.OpRecord
	underflows map[int]*Underflow      // by the ID of the result
	bad        map[int]*trace.OpRecord // forward operations that overflowed, by the ID of what is not finite because of them
	hidden     map[int]*Underflow      // results that depend on an inf that became finite numbers, by ID
	all        magnitudes64
}

// hide follows an overflow in the forward pass into finite numbers, and these further.
func (g *recordedGradients) hide(op *trace.OpRecord, order int) {
	for _, c := range op.Cast {
		id := op.InIDs[c.Operand]
		if u := g.hidden[c.ID]; u != nil {
			g.hidden[id] = u
		}
		if from := g.bad[c.ID]; from != nil {
			g.bad[id] = from
		}
	}
	var from *trace.OpRecord
	for _, id := range op.InIDs {
		if u := g.hidden[id]; u != nil {
			g.hidden[op.ID] = u
			return
		}
		if from == nil {
			from = g.bad[id]
		}
	}
	switch {
	case !op.Counted:
	case nonFinite(op.Counts) && from != nil:
		g.bad[op.ID] = from
	case nonFinite(op.Counts) && op.Rounding.Overflowed > 0:
		g.bad[op.ID] = op
	case from != nil:
		inf := occurrence(from)
		g.hidden[op.ID] = &Underflow{Forward: true, Op: op.Name, Of: op.Name, Place: op.Place, Source: op.Source, DType: op.Out, Outcome: Absorbed, Elements: op.Counts.Count, Share: 1, Inf: &inf, order: order}
	}
}

// note notes what a derivative lost.
func (g *recordedGradients) note(op *trace.OpRecord, order int) {
	if !op.Counted {
		return
	}
	if c := op.Counts; half(op.Out) && c.AbsMax > 0 {
		g.survive(c, op.Out)
	}
	r := g.rec.Results[op.ID]
	for power, n := range r.Lost {
		g.lose(power, n, op.Out)
	}
	u := &Underflow{Op: op.Name, Of: op.Of, Place: op.Place, Source: op.Source, DType: op.Out, order: order}
	switch c := op.Counts; {
	case op.Rounded && op.Rounding.Flushed > 0:
		u.Outcome, u.Elements = Flushed, c.Count-c.Zeros+op.Rounding.Flushed
		u.Share = portion(op.Rounding.Flushed, u.Elements)
	case nonFinite(c) && !g.spoiled(op):
		u.Outcome, u.Elements, u.Share = Overflowed, c.Count, portion(c.Infs+c.NaNs, c.Count)
	case op.Name == "threshold_backward" && c.Zeros == c.Count:
		u.Outcome, u.Elements, u.Share = DeadReLU, c.Count, 1
	default:
		return
	}
	g.underflows[op.ID] = u
}

// spoiled reports whether an operand was not finite already.
func (g *recordedGradients) spoiled(op *trace.OpRecord) bool {
	return slices.ContainsFunc(op.InIDs, func(id int) bool { m := g.makers[id]; return m != nil && m != op && m.Counted && nonFinite(m.Counts) })
}

// survive counts magnitudes that arrived. Only the smallest and the largest are known.
func (g *recordedGradients) survive(c tensor.Counts, d tensor.DType) {
	g.all.add([]float64{c.AbsMin, c.AbsMax}, d)
	g.all.count += max(0, c.Count-c.Zeros-c.Infs-c.NaNs-2)
}

// lose counts magnitudes that became 0.
func (g *recordedGradients) lose(power, n int, d tensor.DType) {
	if n <= 0 || !d.IsFloat() {
		return
	}
	g.all.add([]float64{math.Ldexp(1, power)}, d)
	at := math.Ilogb(math.Ldexp(1, power) / (tensor.FInfo(d).Subnormal / 2))
	g.all.above[at] += n - 1
	g.all.count += n - 1
}

// layer returns what became of a parameter's gradient.
func (g *recordedGradients) layer(one *trace.RecordedGradient) (l LayerGradient, ok bool) {
	for _, p := range g.rec.Parameters {
		if p.ID == one.Parameter {
			l.Param, l.Module, l.DType, ok = p.Name, parent(p.Name), p.DType, p.Trainable
		}
	}
	if !ok {
		return l, false
	}
	l.Rescue, l.Lowest, l.Highest = 1, math.NaN(), math.NaN()
	if one.ID == 0 {
		l.Outcome = Unused
		return l, true
	}
	c := one.Counts
	l.Elements, l.Zeros, l.Infinite, l.Lowest, l.Highest = c.Count, c.Zeros, c.Infs+c.NaNs, c.AbsMin, c.AbsMax
	way := g.way(one.ID)
	for _, op := range way { // the derivatives that computed it, in half precision
		if len(op.Shape) > 0 && size(op.Shape) == l.Elements && half(op.Out) {
			l.DType = op.Out
			l.Flushed = min(op.Rounding.Flushed, l.Zeros)
			l.Subnormal = op.Counts.Subnormals
			break
		}
	}
	l.Zeros -= l.Flushed
	var on []*Underflow
	for _, op := range way {
		if u := g.underflows[op.ID]; u != nil {
			on = append(on, u)
		}
		for _, id := range op.InIDs {
			if u := g.hidden[id]; u != nil && l.Zeros == l.Elements && !slices.Contains(on, u) {
				on = append(on, u)
			}
		}
	}
	slices.SortFunc(on, func(a, b *Underflow) int { return a.order - b.order })
	if i := slices.IndexFunc(on, func(u *Underflow) bool { return u.Outcome == Flushed && u.Share > 1-lost }); i >= 0 && l.Zeros == l.Elements { // nothing was left of what led to it
		l.Flushed, l.Zeros, l.Outcome, l.Loss = l.Zeros, 0, Flushed, on[i]
		return l, true
	}
	judged := &layer{LayerGradient: l}
	if slices.ContainsFunc(on, func(u *Underflow) bool { return u.Outcome == Absorbed }) {
		judged.wrong = 1
	}
	judged.judge(on)
	return judged.LayerGradient, true
}

// way returns the derivatives that led to a tensor, the last one first.
func (g *recordedGradients) way(id int) (list []*trace.OpRecord) {
	seen := map[int]bool{}
	ids := []int{id}
	for len(ids) > 0 && len(list) < 4096 {
		id, ids = ids[0], ids[1:]
		op := g.makers[id]
		if op == nil || seen[id] {
			continue
		}
		seen[id] = true
		list, ids = append(list, op), append(ids, op.InIDs...)
	}
	return list
}
