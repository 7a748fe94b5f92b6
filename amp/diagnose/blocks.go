package diagnose

import (
	"cmp"
	"fmt"
	"slices"

	"halfnote/amp/trace"
	"halfnote/tensor"
	"halfnote/tensor/quant"
)

// BlockStats is what a scheme does to one operand of a product of a layer.
type BlockStats struct {
	Module string // path of the layer
	Source string // line of the cell that called it
	Role   Role
	Tensor string // "input", "weight" or "gradient", which is that of the result
	Scheme quant.Scheme

	quant.Stats             // with blocks along the dimension that the product sums over
	Rotated     quant.Stats // the same after a Hadamard transform of 16 along that dimension
	Outlier     float64     // largest magnitude of a channel, relative to the median of the channels; channels are the last dimension
}

// BlocksReport is the result of [Blocks].
type BlocksReport struct {
	Stats   []BlockStats // in the order of the products; the schemes of an operand are next to each other
	Schemes []quant.Scheme
}

// blockSchemes are the schemes that Blocks tries by default.
var blockSchemes = []quant.Scheme{quant.MX{Element: quant.E4M3FN, Mode: quant.RCeil}, quant.MX{Element: quant.E5M2, Mode: quant.RCeil}, quant.MXFP6, quant.NVFP4{}, quant.MXFP4}

// Blocks runs step, which trains for one or a few steps, and computes what block formats would do to the operands of its linear layers: in the forward pass, and
// in the two products of the backward pass. schemes need not be those of the step, which keeps its policy: a step in bfloat16 shows
// what MXFP4 would have lost. Without schemes, it is MXFP8 in E4M3 and E5M2, MXFP6, NVFP4 and MXFP4. The training step takes effect.
//
//	diagnose.Blocks(net, func() { … one step … })
//	diagnose.Blocks(net, step, quant.MXFP4, quant.NVFP4{TwoDimensional: true})
//
// It is Transformer Engine's LogFp8TensorStats and LogNvfp4TensorStats.
func Blocks(net any, step func(), schemes ...quant.Scheme) *BlocksReport {
	needStep("Blocks", step != nil)
	needLayers("Blocks", net, "")
	if len(schemes) == 0 {
		schemes = blockSchemes
	}
	for _, s := range schemes {
		quant.Measure(tensor.Zeros(1), s) // panics for one that is wrong
	}
	r := &BlocksReport{Schemes: schemes}
	var models []any
	if net != nil {
		models = append(models, net)
	}
	places := trace.NewPlaces(models...)
	w := gemmWatch{
		begun: func(g *gemm, _ *tensor.Event) {
			if g.linear() {
				tensor.Unobserved(func() { r.product(g, Forward) })
			}
		},
		known: func(g *gemm) {
			if g.linear() {
				if g.operands[0].RequiresGrad() {
					r.product(g, InputGradient)
				}
				r.product(g, WeightGradient)
			}
		},
	}
	defer observer{operation: func(e tensor.Event) { w.operation(&e, places.Find(e)) }}.watch()()
	defer w.stop()
	step()
	return r
}

// product measures the operands of a product with each scheme.
func (r *BlocksReport) product(g *gemm, role Role) {
	rows := func(t *tensor.Tensor) *tensor.Tensor {
		return t.Detach().Float().Reshape(-1, t.Shape()[t.Dim()-1])
	}
	names, list := []string{"input", "weight"}, []*tensor.Tensor{rows(g.operands[0]), rows(g.operands[1])}
	switch role {
	case InputGradient:
		names, list = []string{"gradient", "weight"}, []*tensor.Tensor{rows(g.dy), list[1]}
	case WeightGradient:
		names, list = []string{"gradient", "input"}, []*tensor.Tensor{rows(g.dy), list[0]}
	}
	for i, t := range list {
		if t.Numel() == 0 {
			continue
		}
		ratio := top(channels(t))
		if role == WeightGradient || role == InputGradient && i == 1 {
			t = t.T().Contiguous() // the product sums over the other dimension
		}
		turned := rotated(t, rotation)
		for _, s := range r.Schemes {
			r.add(BlockStats{Module: g.at.module, Source: g.at.source, Role: role, Tensor: names[i], Scheme: s, Stats: quant.Measure(t, s), Rotated: quant.Measure(turned, s), Outlier: ratio})
		}
	}
}

// rotation is the size of the Hadamard transform, that of NVFP4's recipe.
const rotation = 16

// rotated returns t (rows, n) after a Hadamard transform along the rows, with zeros at the end if a group is incomplete.
func rotated(t *tensor.Tensor, size int) *tensor.Tensor {
	if rest := -t.Shape()[1] & (size - 1); rest > 0 {
		t = t.Pad([]int{0, rest}, tensor.PadOptions{})
	}
	return quant.Hadamard(t, size)
}

// add adds s to that of the same operand and scheme.
func (r *BlocksReport) add(s BlockStats) {
	for i := range r.Stats {
		if old := &r.Stats[i]; old.Module == s.Module && old.Source == s.Source && old.Role == s.Role && old.Tensor == s.Tensor && old.Scheme == s.Scheme {
			old.Stats, old.Rotated, old.Outlier = old.Stats.Add(s.Stats), old.Rotated.Add(s.Rotated), max(old.Outlier, s.Outlier)
			return
		}
	}
	r.Stats = append(r.Stats, s)
}

// channels returns the largest magnitude of each column of t (rows, n).
func channels(t *tensor.Tensor) []float64 { return t.Abs().Amax(0).Float64s() }

// Of returns the statistics of one scheme.
func (r *BlocksReport) Of(s quant.Scheme) []BlockStats {
	var list []BlockStats
	for _, b := range r.Stats {
		if b.Scheme == s {
			list = append(list, b)
		}
	}
	return list
}

// Worst returns the operand with the largest error under a scheme, or a zero BlockStats if the report has no operand under it.
func (r *BlocksReport) Worst(s quant.Scheme) BlockStats {
	list := r.Of(s)
	if len(list) == 0 {
		return BlockStats{}
	}
	return slices.MaxFunc(list, func(a, b BlockStats) int { return cmp.Compare(a.Error(), b.Error()) })
}

// String returns what the scheme does to the operand.
func (b BlockStats) String() string {
	return fmt.Sprintf("%v, %s: %v; rotated error %.3g, outlier %.3g", b.Scheme, b.title(), b.Stats, b.Rotated.Error(), b.Outlier)
}

// title names the operand.
func (b BlockStats) title() string {
	if b.Module == "" {
		return fmt.Sprintf("%s, %s", b.Role, b.Tensor)
	}
	return fmt.Sprintf("module %s, %s, %s", b.Module, b.Role, b.Tensor)
}

// OutliersReport is the result of [Outliers].
type OutliersReport struct {
	Before, After  []float64 // largest magnitude of each channel, before and after the rotation
	Scheme         quant.Scheme
	Plain, Rotated quant.Stats
	Size           int // of the rotation
}

// Outliers returns the largest magnitude of each channel of x (…, n), the last dimension, before and after a Hadamard transform of the given size, and what a scheme
// does to the numbers of both. A rotation spreads an outlier over its group: blocks with one lose less, and those without may lose more. It
// panics if the size is not a power of two, or for a scheme that is wrong.
func Outliers(x *tensor.Tensor, s quant.Scheme, size int) *OutliersReport {
	r := &OutliersReport{Scheme: s, Size: size}
	tensor.Unobserved(func() {
		r.Plain = quant.Measure(x, s)
		if x.Numel() == 0 {
			return
		}
		t := x.Detach().Float().Reshape(-1, x.Shape()[max(x.Dim()-1, 0)])
		turned := t
		if size < 1 || size&(size-1) != 0 {
			turned = quant.Hadamard(t, size) // panics
		} else {
			turned = rotated(t, size)
		}
		r.Before, r.After, r.Rotated = channels(t), channels(turned), quant.Measure(turned, s)
	})
	return r
}
