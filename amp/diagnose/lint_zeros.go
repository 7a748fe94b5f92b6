package diagnose

import (
	"fmt"
	"math"
	"slices"

	"halfnote/internal/text"
	"halfnote/tensor"
)

// Rules about products that carry nothing: all zeros, or one magnitude.

// leastAlike is the smallest number of elements of which one magnitude is a finding.
const leastAlike = 16

// gradientArrived checks the gradient of an operand of a product when it is complete.
func (w *watch) gradientArrived(g *gemm, operand int, grad *tensor.Tensor) {
	if operand > 1 || grad.Numel() < 2 || grad.Numel() > largest || g.dy.Counts().Zeros == g.dy.Numel() || g.operands[1-operand].Counts().Zeros == g.operands[1-operand].Numel() {
		return
	}
	zero := grad.Counts().Zeros == grad.Numel()
	if !zero && (grad.Numel() < leastAlike || !alike(grad)) {
		return
	}
	exact := g.gradient(operand)
	if exact != nil && quietAfter(exact, g.dy, g.operands[1-operand]) || !zero && (exact == nil || alike(exact)) {
		return // in float64 too
	}
	at := g.at
	at.role = [...]Role{InputGradient, WeightGradient}[operand]
	what := fmt.Sprintf("the %s of %s is 0 in all %s places, although the gradient of its result is up to %s", at.role, g.op, text.Thousands(grad.Numel()), shown(g.dy.Counts().AbsMax))
	if !zero {
		what = fmt.Sprintf("the %s of %s has the magnitude %s in all %s places, and in float64 many", at.role, g.op, shown(grad.Counts().AbsMax), text.Thousands(grad.Numel()))
	}
	code := "all-zero"
	if !zero {
		code = "all-alike"
	}
	w.find(ruleOf(code), at, "%s", what)
}

// ruleOf returns the rule of a code.
func ruleOf(code string) *rule {
	return &rules[slices.IndexFunc(rules, func(r rule) bool { return r.code == code })]
}

// gradient returns the gradient of an operand of a linear layer in float64, or nil for other products.
func (g *gemm) gradient(operand int) *tensor.Tensor {
	if !g.linear() {
		return nil
	}
	rows := func(t *tensor.Tensor) *tensor.Tensor {
		return t.Detach().Double().Reshape(-1, t.Shape()[t.Dim()-1])
	}
	if operand == 0 {
		return rows(g.dy).MatMul(rows(g.operands[1]))
	}
	return rows(g.dy).T().MatMul(rows(g.operands[0]))
}

// quietAfter reports whether a product of a and b in float64 is 0 but for rounding.
func quietAfter(product, a, b *tensor.Tensor) bool {
	return !(product.Counts().AbsMax > 0x1p-20*a.Counts().AbsMax*b.Counts().AbsMax) // NaN for zeros
}

// alike reports whether all elements have one magnitude.
func alike(t *tensor.Tensor) bool {
	flat := t.Detach().Reshape(-1)
	for _, part := range []*tensor.Tensor{flat.Slice(0, 0, min(leastAlike, flat.Numel())), flat} { // most differ at once
		values := part.Float64s()
		if slices.ContainsFunc(values, func(x float64) bool { return math.Abs(x) != math.Abs(values[0]) }) {
			return false
		}
	}
	return true
}

// zeroResult finds a layer whose result is all zeros although it is not in float64.
func (w *watch) zeroResult(e *tensor.Event) {
	if e.Backward || e.InPlace || e.Op.Torch == "torch.autograd.Function" || !isGemm(e) || e.Result.Numel() < 2 || e.Result.Numel() > largest || e.Result.Counts().Zeros < e.Result.Numel() {
		return
	}
	for _, t := range e.Operands[:2] {
		if t.Counts().Zeros == t.Numel() {
			return
		}
	}
	biggest := 0.0
	for _, x := range rerun64(e) {
		biggest = max(biggest, math.Abs(x))
	}
	if biggest <= 0x1p-20*e.Operands[0].Counts().AbsMax*e.Operands[1].Counts().AbsMax {
		return
	}
	at := w.here
	at.role = Forward
	w.find(ruleOf("all-zero"), at, "%s", text.Sprintf("the result of %s, %v, is 0 in all places, and in float64 up to %s", e.Op.Name, e.Out.Shape, shown(biggest)))
}

// zeroGradients finds a step of an optimizer all of whose gradients are 0.
func zeroGradients(w *watch, m *call) string {
	if m.Name != "optimizer.step" {
		return ""
	}
	n, elements := 0, 0
	for _, p := range m.Tensors {
		g := p.Grad()
		if g == nil {
			continue
		}
		if g.Counts().Zeros < g.Numel() {
			return ""
		}
		n, elements = n+1, elements+g.Numel()
	}
	if elements < 2 {
		return ""
	}
	return fmt.Sprintf("the optimizer stepped, and the gradients of all its %s are 0 in all %s places", text.Count(n, "parameter"), text.Thousands(elements))
}
