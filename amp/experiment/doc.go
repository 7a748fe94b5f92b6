// Package experiment has the measurements that mixed precision is taught with, as
// functions: those of Micikevicius et al., "Mixed Precision Training" (ICLR 2018),
// and those of the tutorials.
//
//	experiment.MasterWeights(10000, 1e-4)
//
// Each returns a report: fields with what was measured, a sentence, and a table, with a
// chart where that says more, which a cell shows as its last expression. Sizes, dtypes
// and seeds are arguments, to be varied. Everything is computed by the library, at the
// time of the call; nothing is written down beforehand.
//
// The arithmetic:
//
//   - [Ranges], [SumOfOnes], [OnePlus], [Accumulation], [DotProduct]
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
// [Time] measures anything else.
package experiment
