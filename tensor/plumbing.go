package tensor

import "halfnote/internal/plumbing"

// Functions for the packages built on this one. They are not exported, so that they do not
// complete in cells.
func init() {
	plumbing.Provide(plumbing.Fused[*Tensor]{
		NewSteps:       func() plumbing.Steps[*Tensor] { return new(stepList) },
		NewStepCounts:  newStepCounts,
		GuardsSGD:      guardsSGD,
		GuardsAdam:     guardsAdam,
		Unscale:        unscaleGrads,
		UnscaleFlags:   unscaleFlags,
		UnscaleFlagsBy: unscaleFlagsBy,
		UpdateScale:    updateScale,
		CastWeight:     castWeight,
		Lasting:        lastingVector,
	})
	plumbing.Provide(plumbing.Capture{
		Capturing:  capturing,
		OnReplay:   onReplay,
		NotInGraph: notInGraph,
	})
	plumbing.Provide(plumbing.Marks[*Tensor]{Note: note, Observe: observeMarks})
	plumbing.Provide(plumbing.Casting[Info, *Tensor]{
		With:         withCaster,
		Enter:        enterCaster,
		CloseScopes:  closeScopes,
		Active:       activeCaster,
		Enclosing:    enclosingCaster,
		ActiveModule: activeModule,
	})
}
