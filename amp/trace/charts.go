package trace

import (
	"halfnote/display/chart"
)

// LossScale shows the loss scale of each step, and which were skipped.
func (r *Recorder) LossScale() *chart.Figure {
	var list []chart.ScaleStep
	for _, s := range r.Steps() {
		c := chart.ScaleStep{Scale: s.Scale, After: s.After, Skipped: s.Skipped}
		if s.Skipped {
			c.Why = s.Param
		}
		list = append(list, c)
	}
	return chart.LossScale(list)
}

// DTypes shows which dtype each operation of a step ran in, forward and backward.
func (r *Recorder) DTypes() *chart.Figure {
	var list []chart.Op
	for _, op := range r.Ops() {
		list = append(list, chart.Op{
			Name: op.Name, Module: op.Module, Phase: op.phase(),
			DType: op.ranIn().String(), Casts: op.Casts, Cached: op.Cached, Why: op.brief(),
		})
	}
	return chart.DTypes(list)
}
