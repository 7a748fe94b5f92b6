package chart

// language holds the texts of charts as format strings of package fmt. A translation is another
// value of this type.
type language struct {
	// Texts of several charts.
	empty, step, count, notFinite, listAnd, moreRows, data, headStep, headDType, headTimes        string
	headWhy, headRun, fewer, controlShow, controlShowAll, controlZoom, controlZoomY, controlPlace string
	controlHint, controlHintLegend, controlHintZoom, controlHintData                              string

	// LossScale.
	scale, scaleNone, scaleSteady, scaleMoved, scaleSkips, scaleOneStep, scaleSteps      string
	legendSkip, legendGrow, legendShrink, headScale, headAfter, headEvent, skipped, grew string
	shrank                                                                               string

	// DTypes.
	whyLower, whyFP32, whyUnlisted, whyPromote, whyOf, whyIs                                 string
	opsNone, opsIn, opsCasts, opsOneCast, opsCached, opsFirst, opsFirstOne, opsEach, opsMost string
	legendCast, legendCached, continued, more, headOp, headModule, headPhase, headCasts      string
	headCached                                                                               string

	// Throughput.
	rateNone, rateOne, rateAgainst, ratePredicted, rateUnknown, legendPredicted, legendRange    string
	headLow, headHigh, headRatio, headMeasured, headRepetition, headNote, headElements, yes, no string

	// Lines.
	lineNone, lineEnds, lineMost, lineBad, lineAll, headSteps, headFirst, headLast, headMin, headBad string

	// Lines whose values end, or have positions.
	notPositive, lineOver, lineFrom, lineIs, headName, headPoints, headFrom, headTo, headMax, headMean string

	// Plot and Scatter.
	plotNone, plotX, plotY, plotEnd, plotBetween, plotOver string
	scatterPoint, scatterPoints, scatterSpan, scatterTies  string

	// BoxPlot, BarPlot and TwinX.
	imagesOne, imagesSome, imagesGray, imagesColour, headPicture, headLabel                                                        string
	boxOf, boxMedian, boxQuartiles, boxWhiskers, boxOutliers, barsOf, headError, headArea, headBelow, headAbove, twinOf, twinRight string

	// Hist, Imshow and Grid.
	histX, histSome, histOne, histNone, histBad                string
	matrixSome, matrixNone, matrixBlocks, headRow, headColumns string
	gridOne, gridAll, headChart                                string

	// Spectrum.
	gradNone, gradShare, gradOver, gradFine, gradZero, gradAxis, gradBad, bandLost       string
	bandSubnormal, bandNormal, bandInfinite, bandZero, headBand, headShare, headExponent string

	// GradientLayers.
	layersNone, layersFineOne, layersFine, layersWorst, layersNormal, layersZero, headParam string

	// ScaleSweep.
	sweepSafe, sweepEnd, sweepNone, sweepAt, sweepFlushed, sweepOver, sweepTaken, sweepAxis, sweepBand string

	// HeatMap.
	heatNone, heatAll0, heatWorst, heatSteps, heatUnknown, headColumn string

	// Ranges.
	rangeNone, rangeOne, rangeMany, rangeInside, rangeAbove, rangeAboveOne, rangeBelow, rangeBelowOne, rangeAlso, rangeAlsoOne, headSmallest, headLargest string

	// Bars.
	barNone, barTotal, barPart, headPart, headValue, headExactly string

	// NumberLine and BitFields.
	numbersNone, numbersAre, numbersOf, numbersGap, numbersGaps, numbersMissing, headFormat, headGap, headNumbers, headGapLeast, headGapMost string
	bitsNone, bitsSign, bitsExponent, bitsMantissa, bitsExact, bitsULP, bitsIn, bitsAll, bitsBecomes, bitsSome                               string
	headBit, headBits, headWorth, headULP                                                                                                    string

	// RunningSum, Residue and Difference.
	sumExact, sumNone, sumTerms, sumAxis, sumOf, sumEnds, sumStops, sumNever, headStop                                                         string
	residueNone, residueAxis, residueOf, residueLost, headOrder, headInexact, headWorst                                                        string
	differenceRuns, differenceNone, differenceAxis, differenceIs, differenceMost, differenceSame, differenceLost, differenceEqual, headDiffers string

	// Timeline and CastGraph.
	timeNone, timeShares, timeJoined, timeLane, headLane, headStart, headTook, headOps string
	graphNone, graphOf, headReads, headReader, headCastTo, headCastsInside             string

	// Ratios.
	ratioNone, ratioSome, ratioAxis, headSpread string

	// Panels.
	panelsNone, panelsEnds, panelsSkipped string

	// Roofline.
	roofNone, roofBound, roofIntensity, roofRate, headFLOPs, headBytes, headSeconds, headBound string
}

// words is the language of the charts.
var words = english

var english = language{
	empty:       "nothing to show",
	step:        "step",
	count:       "count",
	notFinite:   "inf or NaN",
	listAnd:     ", ",
	moreRows:    "… %d more",
	data:        "Data",
	headStep:    "step",
	headDType:   "dtype",
	headTimes:   "times",
	headWhy:     "why",
	headRun:     "run",
	fewer:       "%d of %d points, with the extremes",
	controlShow: "Names ", controlShowAll: "all, or a part of them", controlZoom: "Zoom × ", controlZoomY: "Vertical zoom × ", controlPlace: "centre (%) ",
	controlHint:       "Hover for values.",
	controlHintLegend: "Click the legend to isolate a line.",
	controlHintZoom:   "Scroll to zoom, drag to pan, double-click to reset.",
	controlHintData:   "fig.Data() returns all numbers as CSV, and fig.Picture() the picture.",

	scale:        "loss scale",
	scaleNone:    "Loss scale: no steps recorded",
	scaleSteady:  "Loss scale over %s: none skipped, %s throughout",
	scaleMoved:   "Loss scale over %s: %s skipped, from %s to %s",
	scaleSkips:   "none",
	scaleOneStep: "1 step",
	scaleSteps:   "%d steps",
	legendSkip:   "step skipped",
	legendGrow:   "scale grew",
	legendShrink: "scale shrank",
	headScale:    "scale",
	headAfter:    "after",
	headEvent:    "event",
	skipped:      "✗ skipped",
	grew:         "▲ grew",
	shrank:       "▼ shrank",

	whyLower:    "on the list of operations that run in half precision",
	whyFP32:     "on the list of those that run in float32",
	whyUnlisted: "on no list: keeps its input's dtype",
	whyPromote:  "takes the widest dtype of its operands",
	whyOf:       "of linear, for example: the derivative of linear, in the same dtype",
	whyIs:       "%s: %s",

	opsNone:      "Dtype of every operation: none recorded",
	opsIn:        "%d in %s",
	opsCasts:     "%d casts",
	opsOneCast:   "1 cast",
	opsCached:    "%d more from the cache",
	opsFirst:     "%d operations in %s",
	opsFirstOne:  "%d operation in %s",
	opsEach:      "Each of %d steps: %s",
	opsMost:      "%d of %d steps: %s",
	legendCast:   "operand cast",
	legendCached: "cast taken from the cache",
	continued:    "%s, continued",
	more:         "… %d more operations",
	headOp:       "operation",
	headModule:   "module",
	headPhase:    "phase",
	headCasts:    "casts",
	headCached:   "from cache",

	rateNone:        "Throughput: no run given",
	rateOne:         "%s runs at %s %s",
	rateAgainst:     "Against %s at %s %s: %s",
	ratePredicted:   "%s (predicted)",
	rateUnknown:     "unknown",
	legendPredicted: "predicted, not measured",
	legendRange:     "slowest to fastest repetition",
	headLow:         "lowest",
	headHigh:        "highest",
	headRatio:       "ratio",
	headMeasured:    "measured",
	headRepetition:  "repetition",
	headNote:        "note",
	headElements:    "elements",
	yes:             "yes",
	no:              "no",

	ratioNone:  "%s: nothing to compare",
	ratioSome:  "%s: %d of %d at least as good; from %s (%s) to %s (%s)",
	ratioAxis:  "right of 1 is better",
	headSpread: "spread",

	lineNone:  "%s: no values recorded",
	lineEnds:  "%s after %s: %s",
	lineMost:  "%s: at most %s",
	lineBad:   "%s (%d not finite ▲)",
	lineAll:   "%s not finite",
	headSteps: "steps",
	headFirst: "first",
	headLast:  "last",
	headMin:   "lowest",
	headBad:   "not finite",

	notPositive: "0 or negative",
	lineOver:    "%s over %s from %s to %s: %s",
	lineFrom:    "%s from %s %s",
	lineIs:      "%s is %s",
	headName:    "name",
	headPoints:  "points",
	headFrom:    "from",
	headTo:      "to",
	headMax:     "highest",
	headMean:    "mean",

	plotNone:      "chart.%s: nothing given",
	plotX:         "x",
	plotY:         "y",
	plotEnd:       "%s ends at %s",
	plotBetween:   ", between %s and %s",
	plotOver:      "%s; %s from %s to %s",
	scatterPoint:  "1 point",
	scatterPoints: "%d points",
	scatterSpan:   "%s: %s from %s to %s, %s from %s to %s",
	scatterTies:   ", correlation %s",

	imagesOne:    "Picture of %d × %d %s",
	imagesSome:   "%d pictures of %d × %d %s",
	imagesGray:   "(height × width), black at %s, white at %s",
	imagesColour: "(height × width), colours from %s to %s",
	headPicture:  "picture",
	headLabel:    "label",
	boxOf:        "%s: median %s, half of the values from %s to %s",
	boxMedian:    "median",
	boxQuartiles: "quartiles",
	boxWhiskers:  "whiskers",
	boxOutliers:  "beyond",
	barsOf:       "%s from %s (%s) to %s (%s)",
	headError:    "error",
	headArea:     "band",
	headBelow:    "%s below",
	headAbove:    "%s above",
	twinOf:       "%s; %s (axis at the right)",
	twinRight:    "%s (right)",

	histX:        "value",
	histSome:     "%s from %s to %s: mean %s, standard deviation %s",
	histOne:      "1 value",
	histNone:     "%d values",
	histBad:      "; %d not finite",
	matrixSome:   "Matrix %s: values from %s to %s, mean %s",
	matrixNone:   "Matrix %s",
	matrixBlocks: "of each %d × %d elements, the one farthest from the mean",
	headRow:      "row",
	headColumns:  "column",
	gridOne:      "1 chart",
	gridAll:      "%d charts",
	headChart:    "chart",

	gradNone:      "Gradient spectrum: no gradients given",
	gradShare:     "%s of the nonzero gradients become 0 in float16",
	gradOver:      "%s overflow",
	gradFine:      "All nonzero gradients survive in float16",
	gradZero:      "%s are 0 already",
	gradAxis:      "absolute value",
	gradBad:       "∞ NaN",
	bandLost:      "lost (→ 0)",
	bandSubnormal: "subnormal",
	bandNormal:    "normal in float16",
	bandInfinite:  "→ ∞",
	bandZero:      "zero",
	headBand:      "in float16",
	headShare:     "share",
	headExponent:  "exponent",

	layersNone:    "Gradients by parameter: none recorded",
	layersFineOne: "Gradients of 1 parameter: none flushed to 0",
	layersFine:    "Gradients of %d parameters: none flushed to 0",
	layersWorst:   "Gradients by parameter: %s loses most, %s flushed to 0",
	layersNormal:  "normal",
	layersZero:    "zero anyway",
	headParam:     "parameter",

	sweepSafe:    "%s: safe from loss scale %s to %s",
	sweepEnd:     ", the largest tried",
	sweepNone:    "%s: no loss scale is safe",
	sweepAt:      "; at %s %s flushed to 0, %s subnormal, %s overflow",
	sweepFlushed: "flushed to 0",
	sweepOver:    "overflow",
	sweepTaken:   "taken by the run",
	sweepAxis:    "% of the gradients",
	sweepBand:    "safe",

	heatNone:    "%s: nothing recorded",
	heatAll0:    "%s: none in %s",
	heatWorst:   "%s: most in %s, %s in step %d",
	heatSteps:   "step",
	heatUnknown: "not counted",
	headColumn:  "from step",

	rangeNone:     "Ranges: nothing recorded",
	rangeOne:      "1 result",
	rangeMany:     "%d results",
	rangeInside:   "Magnitudes of %s: all inside float16's normal numbers",
	rangeAbove:    "%d of %s exceed float16's largest number",
	rangeAboveOne: "%d of %s exceeds float16's largest number",
	rangeBelow:    "%d of %s reach below float16's normal numbers",
	rangeBelowOne: "%d of %s reaches below float16's normal numbers",
	rangeAlso:     "%d reach below its normal numbers",
	rangeAlsoOne:  "%d reaches below its normal numbers",
	headSmallest:  "smallest",
	headLargest:   "largest",

	barNone:     "%s: nothing recorded",
	barTotal:    "%s: %s",
	barPart:     "%s %s (%s)",
	headPart:    "part",
	headValue:   "value",
	headExactly: "exactly",

	panelsNone:    "No step recorded yet",
	panelsEnds:    "%s: %s",
	panelsSkipped: " (%d skipped)",

	numbersNone:    "Numbers from %s to %s: no format or no such range",
	numbersAre:     "Numbers from %s to %s: %s",
	numbersOf:      "%s in %s",
	numbersGap:     "%s apart",
	numbersGaps:    "%s to %s apart",
	numbersMissing: "none",
	headFormat:     "format",
	headGap:        "gap",
	headNumbers:    "numbers",
	headGapLeast:   "smallest gap",
	headGapMost:    "largest gap",

	bitsNone:     "%s: no format given",
	bitsSign:     "sign",
	bitsExponent: "exponent",
	bitsMantissa: "mantissa",
	bitsExact:    "exact",
	bitsULP:      "error %s%s ulp",
	bitsIn:       "%s in %s",
	bitsAll:      "%s is exact in every format",
	bitsBecomes:  "%s becomes %s",
	bitsSome:     "%s: exact in %s; %s",
	headBit:      "bit",
	headBits:     "bits",
	headWorth:    "worth",
	headULP:      "error in ulp",

	sumExact: "exact",
	sumNone:  "Running sum: no terms given",
	sumTerms: "terms",
	sumAxis:  "running sum",
	sumOf:    "Sum of %s terms, exactly %s: %s",
	sumEnds:  "%s ends at %s",
	sumStops: "%s stops at %s from term %s on",
	sumNever: "never",
	headStop: "stops at term",

	residueNone: "Residue of a sum: no terms given",
	residueAxis: "lost so far",
	residueOf:   "Lost in a sum of %d terms: %s",
	residueLost: "%s %s",
	headOrder:   "order",
	headInexact: "rounded additions",
	headWorst:   "largest loss of one",

	differenceRuns:  "%s against %s",
	differenceNone:  "%s: no values recorded",
	differenceAxis:  "relative difference",
	differenceIs:    "%s: %s",
	differenceMost:  "%s up to %s apart (step %s), %s at the end",
	differenceLost:  "%s finite in only one of them at step %s, %s apart at the end",
	differenceSame:  "%s never apart",
	differenceEqual: "equal",
	headDiffers:     "differs from step",

	timeNone:   "Timeline: no operations with times recorded",
	timeShares: "%s %s: %s, %s outside of operations",
	timeJoined: "%d operations",
	timeLane:   "%s on %s",
	headLane:   "lane",
	headStart:  "start",
	headTook:   "duration",
	headOps:    "operations",

	graphNone:       "Casts of a network: no operations recorded",
	graphOf:         "Modules: %s; %s between them, %d inside",
	headReads:       "reads",
	headReader:      "to",
	headCastTo:      "cast to",
	headCastsInside: "casts inside",

	roofNone:      "Roofline of %s: no operation",
	roofBound:     "Operations below the roofs of %s: %s",
	roofIntensity: "FLOP for each byte",
	roofRate:      "FLOP/s",
	headFLOPs:     "FLOP",
	headBytes:     "bytes",
	headSeconds:   "seconds",
	headBound:     "bound by",
}
