// Package experiment provides the classic measurements of mixed precision as functions: those of
// Micikevicius et al., "Mixed Precision Training" (ICLR 2018), and those of the tutorials.
//
//	experiment.MasterWeights(10000, 1e-4)
//
// Each returns a report with the measured values as fields, a sentence, a table and in some
// cases a chart; a cell shows it as its last expression. Sizes, dtypes and seeds are arguments.
// Every number is computed when you call it; none is hard-coded.
//
// The arithmetic:
//
//   - [Ranges], [Spacing], [Bits], [SumOfOnes], [OnePlus], [Accumulation], [Residue], [DotProduct]
//   - [MasterWeights], [LostConstants], [Saturation], [DoubleSigmoid]
//
// Gradients and the loss scale:
//
//   - [LossScaleSweep], [GradientHistogram]
//   - [DefaultScale], [ForcedOverflows], [ScaleCollapse]
//   - [UnscaleMidway], [ClipOrder], [PenaltyUnscaled], [TwoOptimizers]
//
// Autocast: [DTypeWalk], [CastCache], [Poisoning], [MultiplesOf8].
//
// Training: [Ablation], [ThreeLoops], [NoBenefit], [TinyTextClassifier], [TinyResNet].
// [Sweep] runs your own function for each setting of a [Grid], and [Time] measures anything else.
package experiment
