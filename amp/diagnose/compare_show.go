package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"halfnote/amp"
	"halfnote/display"
	"halfnote/display/chart"
	"halfnote/tensor"
)

// name returns the operation in words.
func (r ErrorRow) name() string {
	text := r.Op
	if r.Backward {
		text = fmt.Sprintf("%s of the derivative of %s", r.Op, r.Of)
	}
	if r.Module != "" {
		text += " in module " + r.Module
	}
	return text
}

// String returns the error in words.
func (r ErrorRow) String() string {
	return fmt.Sprintf("%s: error %.2g (own %.2g, operands %.2g), worst %.2g, %.3g ulp", r.name(), r.Error, r.Own, r.In, r.Worst, r.ULP)
}

// title returns how a variant is named in charts: its code without packages.
func title(p amp.Policy) string {
	a, ok := p.Accumulation()
	q, _, _ := strings.Cut(strings.ReplaceAll(p.GoString(), "amp.", ""), ".Accumulate(")
	if q = strings.TrimSuffix(q, "()"); q == "Off" {
		q = "float32"
	}
	if !ok {
		return q
	}
	if a.DType != tensor.Float32 {
		q += fmt.Sprintf(", sums in %v", a.DType)
	}
	if a.Block > 0 {
		q += fmt.Sprintf(" by %d", a.Block)
	}
	if a.Reverse {
		q += ", reversed"
	}
	if a.Rounding != 0 {
		q += fmt.Sprintf(", %v", a.Rounding)
	}
	return q
}

// String returns a sentence on each variant.
func (r *CompareReport) String() string {
	var lines []string
	for i, v := range r.Variants {
		rows := r.of(i)
		if len(rows) == 0 {
			lines = append(lines, title(v)+": no operation ran.")
			continue
		}
		var last, back, born, grown, gone ErrorRow
		for _, row := range rows {
			if !row.Backward {
				last = row
			} else if row.Error > back.Error {
				back = row
			}
			if row.Own > born.Own {
				born = row
			}
			if row.Fate() == Grows && row.Error*grown.In > grown.Error*row.In || row.Fate() == Grows && grown.Op == "" {
				grown = row
			}
			if row.Fate() == Cancels && (gone.Op == "" || row.Error*gone.In < gone.Error*row.In) {
				gone = row
			}
		}
		line := fmt.Sprintf("%s: error of the last forward result %.2g", title(v), last.Error)
		if back.Op != "" {
			line += fmt.Sprintf(", largest error of a gradient %.2g", back.Error)
		}
		if born.Op != "" {
			line += fmt.Sprintf("; the largest error that an operation adds is %.2g, by %s", born.Own, born.name())
		}
		if grown.Op != "" {
			line += fmt.Sprintf("; it grows most, from %.2g to %.2g, in %s", grown.In, grown.Error, grown.name())
		}
		if gone.Op != "" {
			line += fmt.Sprintf("; it cancels most, from %.2g to %.2g, in %s", gone.In, gone.Error, gone.name())
		}
		lines = append(lines, line+".")
	}
	return strings.Join(lines, "\n")
}

// Chart shows the error of each layer's result and of its gradients, a line for each variant: forward from the left, then backward.
func (r *CompareReport) Chart() *chart.Figure {
	layers := r.layers()
	return r.lines(layers, func(row ErrorRow) float64 { return row.Error }).XLabel("layer; d: its gradients").YLabel("error against float64").Title(r.headline(layers))
}

// headline returns the range of the variants' errors in one sentence.
func (r *CompareReport) headline(layers []microLayer) string {
	worst := make([]float64, len(r.Variants))
	for _, l := range layers {
		for i, row := range l.rows {
			worst[i] = max(worst[i], row.Error)
		}
	}
	var parts []string
	for i, v := range r.Variants {
		parts = append(parts, fmt.Sprintf("%s %.1g", title(v), worst[i]))
	}
	return "Largest errors of a layer against float64: " + strings.Join(parts, "; ")
}

// lines draws a value of each layer for each variant.
func (r *CompareReport) lines(layers []microLayer, of func(row ErrorRow) float64) *chart.Figure {
	if len(layers) == 0 {
		return chart.Plot()
	}
	var names []string
	var at []float64
	for i, l := range layers {
		name := l.module
		if l.backward {
			name = "d" + name
		}
		at, names = append(at, float64(i)), append(names, name)
	}
	var args []any
	for i, v := range r.Variants {
		var x, y []float64
		for k, l := range layers {
			if value := of(l.rows[i]); l.rows[i].Op != "" && value > 0 {
				x, y = append(x, at[k]), append(y, value)
			}
		}
		if len(x) > 0 {
			args = append(args, x, y, title(v))
		}
	}
	if len(args) == 0 {
		return chart.Plot()
	}
	return chart.Plot(args...).LogY().XTicks(at, names...)
}

// Bounds shows the own errors of the matrix products of one variant, in the order in which they run, with the bounds n·u and √n·u, times the product's condition and with
// the rounding of its result. It panics with an *[amp.Error] for a variant that the report does not have.
func (r *CompareReport) Bounds(variant int) *chart.Figure {
	if variant < 0 || variant >= len(r.Variants) {
		panic(&amp.Error{Code: "variant", Call: "Bounds", Why: fmt.Sprintf("variant %d of %d", variant, len(r.Variants)), Cure: "give an index of Variants"})
	}
	var own, bound, likely []float64
	over := 0
	_, accumulates := r.Variants[variant].Accumulation()
	for _, row := range r.of(variant) {
		if row.N == 0 || accumulates && row.Op != "accumulated_matmul" {
			continue
		}
		own, bound, likely = append(own, row.Own), append(bound, row.Bound), append(likely, row.Likely)
		if row.Own > row.Bound {
			over++
		}
	}
	if len(own) == 0 {
		return chart.Plot()
	}
	said := "all products stay below n·u"
	if over > 0 {
		said = fmt.Sprintf("%d of %d products are above n·u: numbers below the smallest normal one, or above the largest", over, len(own))
	}
	return chart.Plot(own, "own error", bound, "n·u", likely, "√n·u").LogY().XLabel("product").YLabel("relative error").Title(fmt.Sprintf("%s: %s", title(r.Variants[variant]), said))
}

// widest returns the variant with the largest bound.
func (r *CompareReport) widest() int {
	best, most := 0, 0.0
	for _, row := range r.Rows {
		if row.N > 0 && row.Bound > most {
			best, most = row.Variant, row.Bound
		}
	}
	return best
}

// Table lists, for each variant, the operations that add or move the most error.
func (r *CompareReport) Table() display.Bundle {
	const most = 8 // of a variant
	var rows [][]any
	for i, v := range r.Variants {
		list := r.of(i)
		weight := func(row ErrorRow) float64 { return max(row.Own, math.Abs(row.Error-row.In)) }
		order := slices.Clone(list)
		slices.SortStableFunc(order, func(a, b ErrorRow) int { return cmp.Compare(weight(b), weight(a)) })
		least := 0.0
		if len(order) > most {
			least = weight(order[most])
		}
		for _, row := range list {
			if weight(row) <= least {
				continue
			}
			bound := ""
			if row.N > 0 {
				bound = fmt.Sprintf("%.2g, %.2g", row.Likely, row.Bound)
			}
			op := row.Op
			if row.Backward {
				op = row.Op + " for " + row.Of
			}
			rows = append(rows, []any{title(v), row.Module, op, string(row.Fate()), fmt.Sprintf("%.2g", row.Own), fmt.Sprintf("%.2g", row.In), fmt.Sprintf("%.2g", row.Error), fmt.Sprintf("%.2g", row.Worst), fmt.Sprintf("%.3g", row.ULP), bound})
		}
	}
	return display.Table([]string{"variant", "module", "operation", "error", "own", "of its operands", "against float64", "worst element", "ulp", "√n·u, n·u"}, rows)
}

// HTML returns the sentences, the charts and the table.
func (r *CompareReport) HTML() string { return r.page(r.Chart(), r.bounds()) }

func (r *CompareReport) bounds() *chart.Figure {
	if len(r.Variants) == 0 {
		return chart.Plot()
	}
	return r.Bounds(r.widest())
}

// InTheme implements display.Themed.
func (r *CompareReport) InTheme(name string) any {
	return themed(r, r.page(inTheme(r.Chart(), name), inTheme(r.bounds(), name)))
}

func (r *CompareReport) page(errors, bounds *chart.Figure) string {
	return page(r.String(), errors) + bounds.HTML() + r.Table().Data["text/html"].(string)
}
