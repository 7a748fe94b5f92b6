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
	plumbing.Provide(plumbing.Functional[*Tensor]{
		MSELoss:                      (*Tensor).mseLoss,
		L1Loss:                       (*Tensor).l1Loss,
		SmoothL1Loss:                 (*Tensor).smoothL1Loss,
		HuberLoss:                    (*Tensor).huberLoss,
		CrossEntropy:                 (*Tensor).crossEntropy,
		NLLLoss:                      (*Tensor).nllLoss,
		BinaryCrossEntropy:           (*Tensor).binaryCrossEntropy,
		BinaryCrossEntropyWithLogits: (*Tensor).binaryCrossEntropyWithLogits,
		KLDiv:                        (*Tensor).klDiv,
		PoissonNLLLoss:               (*Tensor).poissonNLLLoss,
		GaussianNLLLoss:              (*Tensor).gaussianNLLLoss,
		HingeEmbeddingLoss:           (*Tensor).hingeEmbeddingLoss,
		CosineEmbeddingLoss:          (*Tensor).cosineEmbeddingLoss,
		MarginRankingLoss:            (*Tensor).marginRankingLoss,
		SoftMarginLoss:               (*Tensor).softMarginLoss,
		MultiLabelSoftMarginLoss:     (*Tensor).multiLabelSoftMarginLoss,
		MultiLabelMarginLoss:         (*Tensor).multiLabelMarginLoss,
		MultiMarginLoss:              (*Tensor).multiMarginLoss,
		TripletMarginLoss:            (*Tensor).tripletMarginLoss,
		CTCLoss:                      (*Tensor).ctcLoss,
		MaxPool:                      (*Tensor).maxPool,
		MaxPoolIndices:               (*Tensor).maxPoolIndices,
		AvgPool:                      (*Tensor).avgPool,
		LPPool:                       (*Tensor).lpPool,
		AdaptiveAvgPool:              (*Tensor).adaptiveAvgPool,
		AdaptiveMaxPool:              (*Tensor).adaptiveMaxPool,
		MaxUnpool:                    (*Tensor).maxUnpool2d,
		LocalResponseNorm:            (*Tensor).localResponseNorm,
		ScaledDotProductAttention:    attend,
	})
	plumbing.Provide(plumbing.Capture{
		Capturing:  capturing,
		OnReplay:   onReplay,
		NotInGraph: notInGraph,
	})
	plumbing.Provide(plumbing.Modules{In: inModule})
	plumbing.Provide(plumbing.Gradients[*Tensor]{OnReady: onReady, Peek: peekGrad})
	plumbing.Provide(plumbing.Memory[*Tensor]{Bytes: memoryOf, Shared: sharedOf, Withdraw: withdraw, Lend: lend})
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
