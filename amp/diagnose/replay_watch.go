package diagnose

import (
	"halfnote/amp"
	"halfnote/amp/trace"
	"halfnote/tensor"
)

// watcher observes forward operations to find the tensors with low-precision gradients:
// parameters and activations used in a product, and results that the policy does not keep in
// float32. For a run without autocast the policy is Float16. Parameters are observed in the
// first step only.
type watcher struct {
	replay      *Replay
	names       *trace.Places
	used, low   map[int]bool   // parameters by ID: met at all, and used in the low precision
	activations bool           // also hooks activations
	float16     bool           // the run computes in float16
	half        map[int]bool   // results in the low precision, or that would be
	made        map[int]string // names of results, by ID; "" once they have a hook
	got         []*gradient
}

func (w *watcher) op(e tensor.Event) {
	place := w.names.Find(e)
	if e.Backward || e.InPlace {
		return
	}
	policy := amp.Active()
	if !policy.IsEnabled() {
		policy = amp.Float16
	}
	category := policy.Category(e.Op)
	w.replay.mu.Lock()
	defer w.replay.mu.Unlock()
	w.float16 = w.float16 || e.Out.DType == tensor.Float16
	for i, m := range e.In {
		x := e.Operands[i]
		if x.ID() != m.ID || !x.RequiresGrad() {
			continue
		}
		if x.IsLeaf() && !e.View {
			w.used[m.ID] = true
			if category == amp.LowerPrecision || e.InCast && e.Out.DType == policy.DType() {
				w.low[m.ID] = true
			}
		}
		if name := w.made[m.ID]; name != "" {
			w.made[m.ID] = ""
			x.RegisterHook(func(g *tensor.Tensor) *tensor.Tensor {
				w.gradient(g, name)
				return nil
			})
		}
	}
	w.half[e.Out.ID] = w.makesHalf(e, category)
	if w.activations && !e.View && e.Op.Name != "cast" && w.half[e.Out.ID] {
		name := e.Op.Name
		if place.Module != "" {
			name = place.Module + ", " + name
		}
		w.made[e.Out.ID] = name
	}
}

// makesHalf reports whether the result of an operation is in low precision, or would be under
// autocast: by its category, or because all operands are.
func (w *watcher) makesHalf(e tensor.Event, category amp.Category) bool {
	switch {
	case !e.Out.DType.IsFloat():
		return false
	case e.Out.DType != tensor.Float32 || amp.Active().IsEnabled() || category == amp.FP32:
		return e.Out.DType.Size() == 2
	case category == amp.LowerPrecision:
		return true
	}
	some := false
	for _, m := range e.In {
		if m.DType.IsFloat() && (len(m.Shape) > 0 || len(e.Out.Shape) == 0) {
			if !w.half[m.ID] {
				return false
			}
			some = true
		}
	}
	return some
}

func (w *watcher) gradient(g *tensor.Tensor, name string) {
	w.replay.mu.Lock()
	defer w.replay.mu.Unlock()
	out := w.replay.gradient(g, name, w.replay.scale, float32(1/w.replay.scale))
	out.activation, out.rounded = true, g.DType() == tensor.Float16
	w.got = append(w.got, out)
}

// wide reports whether a parameter's gradient is never in low precision, such as that of a
// normalisation.
func (w *watcher) wide(p *tensor.Tensor) bool { return w.used[p.ID()] && !w.low[p.ID()] }

// step returns the gradients of activations since the last step.
func (w *watcher) step() []*gradient {
	got := w.got
	w.got, w.made, w.half = nil, map[int]string{}, map[int]bool{}
	return got
}
