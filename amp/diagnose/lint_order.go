package diagnose

import (
	"fmt"
	"strings"

	"halfnote/amp"
	"halfnote/internal/text"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// Rules about the order of calls.

func backwardInside(w *watch, m *call) string {
	if m.Name != "backward" || !on(amp.Active()) {
		return ""
	}
	return fmt.Sprintf("Backward was called in the region of %v", amp.Active())
}

func clipBeforeUnscale(w *watch, m *call) string {
	// A limit that was multiplied by the scale is meant for scaled gradients.
	if !strings.HasPrefix(m.Name, "clip_grad_") || !w.carry(m.Tensors) || m.Number/w.scale >= 0.01 {
		return ""
	}
	return fmt.Sprintf("gradients were clipped to %g while they carried the scale %g: to %.2g in true units", m.Number, w.scale, m.Number/w.scale)
}

func stepInside(w *watch, m *call) string {
	if m.Name != "optimizer.step" || !on(amp.Active()) {
		return ""
	}
	return fmt.Sprintf("the optimizer stepped in the region of %v", amp.Active())
}

func updateInside(w *watch, e *tensor.Event) string {
	if !e.InPlace || w.optimizing || !on(amp.Active()) || w.params[e.In[0].ID] == "" {
		return ""
	}
	return fmt.Sprintf("%s was changed in place, by %s, in the region of %v", w.params[e.In[0].ID], e.Op.Name, amp.Active())
}

func staleGradient(w *watch, m *call) string {
	if m.Name != "optimizer.step" {
		return ""
	}
	return w.stale(m.Tensors)
}

func staleAtSkip(w *watch, e *amp.ScalerEvent) string {
	if e.Kind != amp.EventStep {
		return ""
	}
	return w.stale(e.Optimizer.Params())
}

// stale finds gradients that an earlier step used and that have changed since.
func (w *watch) stale(params []*tensor.Tensor) string {
	n := 0
	var one *tensor.Tensor
	for _, p := range params {
		before, g := w.used[p.ID()], gradientNow(p)
		if before.id == 0 || before.id != g.id || before.version == g.version {
			continue
		}
		one, n = p, n+1
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s of %s, such as that of %s, were used by an earlier step and have been added to since", text.Count(n, "gradient"), text.Count(len(params), "parameter"), w.named(one))
}

func noGradients(w *watch, m *call) string {
	if m.Name != "optimizer.step" {
		return ""
	}
	for _, p := range m.Tensors {
		if p.Grad() != nil {
			return ""
		}
	}
	return fmt.Sprintf("none of the optimizer's %d parameters has a gradient", len(m.Tensors))
}

func schedulerOnSkip(w *watch, m *call) string {
	if m.Name != "lr_scheduler.step" {
		return ""
	}
	before, id := w.seen[m.By], first(m.Tensors)
	switch taken, passed := w.taken[id]-before[0], w.passed[id]-before[1]; {
	case taken > 0:
		return ""
	case passed > 0:
		return fmt.Sprintf("the scheduler stepped although %s skipped and none taken since its last call", counted(passed, "step was", "steps were"))
	}
	return "the scheduler stepped before its optimizer"
}

func counted(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// unscaledLoss checks a scaler's step for backward passes that were not scaled.
func unscaledLoss(w *watch, e *amp.ScalerEvent) string {
	if e.Kind != amp.EventStep || len(w.plain) == 0 {
		return ""
	}
	return "Backward was called on a loss that was not scaled" + w.plain[0].said()
}

func stepPastScaler(w *watch, found found) {
	if w.direct != nil {
		found(*w.direct, fmt.Sprintf("the optimizer stepped by itself while gradients carried the scale %g", w.scale))
	}
}

func unscaleInAccumulation(w *watch, found found) {
	for p, before := range w.before {
		if w.grads[p] == unscaled && gradientNow(p) != before && before.id != 0 {
			found(w.passAt, "a backward pass added scaled gradients to gradients that Unscale had divided")
			return
		}
	}
}

func scaleBelow1(w *watch, e *amp.ScalerEvent) string {
	switch {
	case e.Kind != amp.EventUpdate:
		return ""
	case e.After < 1:
		return fmt.Sprintf("the loss scale is %g", e.After)
	case w.shrunk >= 7 && e.After < e.Before:
		return fmt.Sprintf("the loss scale shrank %d times in a row, to %g", w.shrunk+1, e.After)
	}
	return ""
}

func ignoredSkips(w *watch, found found) {
	steps := 0
	for _, n := range w.scalers {
		steps += n
	}
	if steps >= 4 && w.skipped == steps {
		found(spot{}, fmt.Sprintf("all %d steps were skipped, the last because the gradient of %s holds inf or NaN", steps, w.bad))
	}
}

func scalerPerStep(w *watch, found found) {
	for _, n := range w.scalers {
		if n != 1 {
			return
		}
	}
	if len(w.scalers) > 1 {
		found(spot{}, fmt.Sprintf("%d scalers took one step each", len(w.scalers)))
	}
}

func missingUpdate(w *watch, found found) {
	if w.due != nil {
		found(*w.due, "no Update followed the step")
	}
}

func updateWithoutStep(w *watch, found found) {
	if w.verdicts > 1 && w.steps == 0 && len(w.trains) > 0 {
		found(w.trains[len(w.trains)-1], fmt.Sprintf("%s, and no optimizer stepped", counted(len(w.trains), "backward pass", "backward passes")))
	}
}

func leftover(w *watch, found found) {
	if w.over != nil && w.steps > 0 {
		found(*w.over, "no step followed the last backward pass")
	}
}

func evalInTraining(w *watch, m *call) string {
	if m.Name != "backward" || w.net == nil {
		return ""
	}
	modes, name := 0, ""
	for _, n := range nn.NamedModules(w.net) {
		if l, ok := n.Module.(interface{ Training() bool }); ok {
			if l.Training() {
				return ""
			}
			modes, name = modes+1, n.Name
		}
	}
	if modes == 0 {
		return ""
	}
	return fmt.Sprintf("Backward was called while all %d layers that have two modes were in evaluation mode, such as %q", modes, name)
}

// layerOutside records layers that ran in float32 outside regions, for a check at the end.
func layerOutside(w *watch, e *tensor.Event) string {
	if e.Backward || amp.Listed(e.Op) != amp.LowerPrecision || e.Computed != tensor.Float32 || casting.Active() != nil || !tensor.IsGradEnabled() {
		return ""
	}
	for _, m := range e.In {
		if w.leaves[w.origin(m.ID)] || w.params[w.origin(m.ID)] != "" {
			w.outside = append(w.outside, w.here)
			return ""
		}
	}
	return ""
}

func forwardOutside(w *watch, found found) {
	if !w.lower[tensor.Float16] && !w.lower[tensor.BFloat16] {
		return
	}
	for _, at := range w.outside {
		found(at, "a layer ran in float32 outside the region")
	}
}

func noScaler(w *watch, found found) {
	if w.lower[tensor.Float16] && len(w.trains) > 0 && len(w.losses) == 0 && !w.byHand {
		found(w.trains[0], "backward passes of float16 operations started from a loss that was not scaled")
	}
}

func needlessScaler(w *watch, found found) {
	if !w.scaling || w.lower[tensor.Float16] || w.halfNet {
		return
	}
	what := "a scaler scaled losses, and no operation ran under autocast"
	if w.lower[tensor.BFloat16] {
		what = "a scaler scaled losses of a region in bfloat16"
	}
	found(spot{}, what)
}
