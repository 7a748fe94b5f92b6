package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"halfnote/amp/trace"
	"halfnote/internal/text"
	"halfnote/tensor"
	"halfnote/tensor/quant"
)

// BlockStats is what a scheme does to one operand of a product.
type BlockStats struct {
	Module string // path of the layer
	Source string // line of the cell that called it
	Shapes string // of two matrices, such as "(2, 32, 48) (2, 48, 32)"; "" for a layer
	Role   Role   // in a product of two matrices the input is the first one and the weight the second
	Tensor string // "input" and "weight", or "first" and "second" of two matrices, or "gradient", which is that of the result
	Scheme quant.Scheme

	quant.Stats             // with blocks along the dimension that the product sums over
	Rotated     quant.Stats // the same after a Hadamard transform of 16 along that dimension
	Outlier     float64     // largest magnitude of a channel, relative to the median of the channels; channels are the last dimension
}

// BlocksReport is the result of [Blocks].
type BlocksReport struct {
	Stats   []BlockStats // in the order of the products; the schemes of an operand are next to each other
	Schemes []quant.Scheme
	Left    []LeftProduct
}

// LeftProduct is an operation with products that [Blocks] does not measure.
type LeftProduct struct {
	Module, Source string // as in BlockStats
	Op             string
	Why            string
}

// String names the operation and the reason.
func (l LeftProduct) String() string {
	at := ""
	if l.Module != "" {
		at = " of module " + l.Module
	}
	return l.Op + at + ": " + l.Why
}

// blockSchemes are the schemes that Blocks tries by default.
var blockSchemes = []quant.Scheme{quant.MX{Element: quant.E4M3FN, Mode: quant.RCeil}, quant.MX{Element: quant.E5M2, Mode: quant.RCeil}, quant.MXFP6, quant.NVFP4{}, quant.MXFP4}

// Blocks runs step, which trains for one or a few steps, and computes what block formats would do to the operands of its linear layers and products of matrices: in the
// forward pass, and in the two products of the backward pass. Other products, those of convolutions and of attention in one operation, are not measured, and
// Left names them. schemes need not be those of the step, which keeps its policy: a step in bfloat16 shows
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
			if g.linear() || g.matrices() {
				tensor.Unobserved(func() { r.product(g, Forward) })
			} else {
				r.leave(g)
			}
		},
		known: func(g *gemm) {
			if linear := g.linear(); linear || g.matrices() {
				if g.operands[0].RequiresGrad() {
					r.product(g, InputGradient)
				}
				if linear || g.operands[1].RequiresGrad() {
					r.product(g, WeightGradient)
				}
			}
		},
	}
	defer observer{operation: func(e tensor.Event) { w.operation(&e, places.Find(e)) }}.watch()()
	defer w.stop()
	step()
	return r
}

// leave notes an operation whose products are not measured.
func (r *BlocksReport) leave(g *gemm) {
	if g.custom || g.op == "prelu" {
		return
	}
	why := fmt.Sprintf("operands of shapes %s and %s are not those of a linear layer or of two lists of as many matrices", text.Shape(g.operands[0].Shape()), text.Shape(g.operands[1].Shape()))
	switch {
	case strings.HasPrefix(g.op, "conv"):
		why = "its products are those of windows of the input, which no format here stores; with kernels of size 1 a linear layer is the same"
	case g.op == "scaled_dot_product_attention":
		why = "it is two products in one operation; written as q.MatMul(k.Transpose(-1, -2)), Softmax and MatMul both are measured"
	}
	if left := (LeftProduct{g.at.module, g.at.source, g.op, why}); !slices.Contains(r.Left, left) {
		r.Left = append(r.Left, left)
	}
}

// product measures the operands of a product with each scheme.
func (r *BlocksReport) product(g *gemm, role Role) {
	// As lists of matrices, x (…, m, k), w (…, n, k) and dy (…, m, n).
	matrices := func(t *tensor.Tensor) *tensor.Tensor {
		t = t.Detach().Float()
		if g.linear() {
			return t.Reshape(-1, t.Shape()[t.Dim()-1])
		}
		return t
	}
	first, second, shapes := "input", "weight", ""
	x, w := matrices(g.operands[0]), matrices(g.operands[1])
	if !g.linear() {
		first, second, shapes = "first", "second", text.Shape(g.operands[0].Shape())+" "+text.Shape(g.operands[1].Shape())
		w = w.Transpose(-1, -2).Contiguous()
	}
	names, list := []string{first, second}, []*tensor.Tensor{x, w}
	switch role {
	case InputGradient:
		names, list = []string{"gradient", second}, []*tensor.Tensor{matrices(g.dy), w}
	case WeightGradient:
		names, list = []string{"gradient", first}, []*tensor.Tensor{matrices(g.dy), x}
	}
	for i, t := range list {
		if t.Numel() == 0 {
			continue
		}
		ratio := top(channels(t.Reshape(-1, t.Shape()[t.Dim()-1])))
		if role == WeightGradient || role == InputGradient && i == 1 {
			t = t.Transpose(-1, -2).Contiguous() // the product sums over the other dimension
		}
		t = t.Reshape(-1, t.Shape()[t.Dim()-1])
		turned := rotated(t, rotation)
		for _, s := range r.Schemes {
			r.add(BlockStats{Module: g.at.module, Source: g.at.source, Shapes: shapes, Role: role, Tensor: names[i], Scheme: s, Stats: quant.Measure(t, s), Rotated: quant.Measure(turned, s), Outlier: ratio})
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
		if old := &r.Stats[i]; old.Module == s.Module && old.Source == s.Source && old.Shapes == s.Shapes && old.Role == s.Role && old.Tensor == s.Tensor && old.Scheme == s.Scheme {
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
	title := fmt.Sprintf("%s, %s", b.Role, b.Tensor)
	if b.Shapes != "" {
		title = fmt.Sprintf("product of %s, %s", b.Shapes, title)
	}
	if b.Module != "" {
		title = fmt.Sprintf("module %s, %s", b.Module, title)
	}
	return title
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
