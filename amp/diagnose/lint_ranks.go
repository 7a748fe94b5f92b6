package diagnose

import (
	"fmt"

	"halfnote/dist"
	"halfnote/tensor"
)

// Mistakes that need several processes.

// transfer observes a collective of package dist.
func (w *watch) transfer(t dist.Transfer) {
	w.run.Lock()
	defer w.run.Unlock()
	if t.Overflowed == 0 || w.flooded {
		return
	}
	w.flooded = true
	for i := range rules {
		if rules[i].code == "reduce-overflow" {
			w.find(&rules[i], spot{module: t.Module, source: t.Source}, "%d elements became inf in a reduction in %v, though all ranks have finite gradients", t.Overflowed, t.DType)
		}
	}
}

// samplerWithoutEpoch finds a second epoch with the order of the first. Lint runs the step twice; an epoch is a shuffled order.
func samplerWithoutEpoch(w *watch, m *call) string {
	if m.Name != "distributed_sampler" {
		return ""
	}
	epoch := int(m.Number)
	if last, known := w.epochs[m.By]; known && last == epoch {
		return fmt.Sprintf("the distributed sampler gives epoch %d again, in the same order", epoch)
	}
	w.epochs[m.By] = epoch
	return ""
}

// ranksDiffer compares the scalers' decisions and scales of all ranks, once, at the end of the run.
func (w *watch) ranksDiffer() {
	w.skips, w.scales = nil, nil
	if !dist.IsInitialized() || dist.WorldSize() == 1 {
		return
	}
	for _, x := range dist.AllGather(tensor.NewAs(tensor.Float64, []float64{float64(w.skipped), w.scale})) {
		w.skips = append(w.skips, x.At(0))
		w.scales = append(w.scales, x.At(1))
	}
}

func foundInfLocal(w *watch, found found) {
	if differ(w.skips) {
		found(spot{}, fmt.Sprintf("the ranks skipped %v steps", w.skips))
	}
}

func scaleDiffers(w *watch, found found) {
	if differ(w.scales) && !differ(w.skips) {
		found(spot{}, fmt.Sprintf("the loss scales of the ranks are %v", w.scales))
	}
}

// differ reports whether numbers are not all the same.
func differ(list []float64) bool {
	for _, x := range list {
		if x != list[0] {
			return true
		}
	}
	return false
}
