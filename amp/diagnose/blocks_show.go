package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"halfnote/display"
	"halfnote/display/chart"
	"halfnote/internal/text"
)

// blockProduct is a product of a report, with the larger error of its two operands for each scheme.
type blockProduct struct {
	module string // and the shapes of a product of two matrices
	role   Role
	errors []float64
}

// short names the product: "0 fwd", "0 dx", "0 dw".
func (p blockProduct) short() string {
	return strings.TrimSpace(p.module + " " + map[Role]string{Forward: "fwd", InputGradient: "dx", WeightGradient: "dw"}[p.role])
}

// products returns the products in the order of layers: of each its forward pass and its gradients.
func (r *BlocksReport) products() []blockProduct {
	var list []blockProduct
	for _, b := range r.Stats {
		k := slices.Index(r.Schemes, b.Scheme)
		if k < 0 {
			continue
		}
		module := strings.TrimSpace(b.Module + " " + b.Shapes)
		i := slices.IndexFunc(list, func(p blockProduct) bool { return p.module == module && p.role == b.Role })
		if i < 0 {
			i = len(list)
			list = append(list, blockProduct{module, b.Role, make([]float64, len(r.Schemes))})
		}
		list[i].errors[k] = max(list[i].errors[k], b.Error())
	}
	order := map[string]int{}
	for _, p := range list {
		if _, ok := order[p.module]; !ok {
			order[p.module] = len(order)
		}
	}
	roles := []Role{Forward, InputGradient, WeightGradient}
	slices.SortStableFunc(list, func(a, b blockProduct) int {
		return 3*(order[a.module]-order[b.module]) + slices.Index(roles, a.role) - slices.Index(roles, b.role)
	})
	return list
}

// mostProducts is the largest number of products that the chart shows.
const mostProducts = 18

// Chart shows the error of each product's operands, the larger of both, under each scheme: fwd is the forward pass, dx the gradient of the
// input, dw the gradient of the weight. Of many products it shows those with the largest errors.
func (r *BlocksReport) Chart() *chart.Figure {
	list := r.products()
	if len(list) > mostProducts {
		by := func(p blockProduct) float64 { return slices.Max(p.errors) }
		sorted := slices.Clone(list)
		slices.SortStableFunc(sorted, func(a, b blockProduct) int { return cmp.Compare(by(b), by(a)) })
		least := by(sorted[mostProducts-1])
		list = slices.DeleteFunc(list, func(p blockProduct) bool { return by(p) < least })
		list = list[:min(len(list), mostProducts)]
	}
	var args []any
	var at []float64
	var names []string
	for i, p := range list {
		at, names = append(at, float64(i)), append(names, p.short())
	}
	for k, s := range r.Schemes {
		values := make([]float64, len(list))
		for i, p := range list {
			values[i] = p.errors[k]
		}
		args = append(args, at, values, s.String())
	}
	if len(list) == 0 {
		return chart.Plot()
	}
	return chart.Plot(args...).LogY().XTicks(at, names...).XLabel("product").YLabel("relative error").Title("The larger error of each product's two operands, by format")
}

// summary returns a sentence on the schemes.
func (r *BlocksReport) summary() string {
	if len(r.Stats) == 0 {
		return "No linear layer or product of matrices ran"
	}
	var parts []string
	for _, s := range r.Schemes {
		if w := r.Worst(s); w.Count > 0 {
			parts = append(parts, fmt.Sprintf("%v %.2g", s, w.Error()))
		}
	}
	return fmt.Sprintf("Largest relative errors of the operands of %s: %s", text.Count(len(r.products()), "product"), strings.Join(parts, ", "))
}

// String returns a sentence on the schemes, and one on the worst operand of each.
func (r *BlocksReport) String() string {
	lines := []string{r.summary() + "."}
	for _, s := range r.Schemes {
		w := r.Worst(s)
		if w.Count == 0 {
			continue
		}
		line := fmt.Sprintf("%v loses most in %s: error %.2g, %s flushed, %s saturated, up to 2^%.1f inside a block", s, w.title(), w.Error(), percent(w.FlushedShare()), percent(w.SaturatedShare()), w.BlockRange)
		switch gain := w.Rotated.Error() / w.Error(); {
		case gain < 0.9:
			line += fmt.Sprintf("; a rotation lowers the error to %.2g", w.Rotated.Error())
		case gain > 1.1:
			line += fmt.Sprintf("; a rotation raises the error to %.2g", w.Rotated.Error())
		}
		lines = append(lines, line+".")
	}
	for _, l := range r.Left {
		lines = append(lines, "Not measured: "+l.String()+".")
	}
	return strings.Join(lines, "\n")
}

// Table lists the statistics of each operand under each scheme.
func (r *BlocksReport) Table() display.Bundle {
	var rows [][]any
	for _, b := range r.Stats {
		scales := ""
		if b.ScaleMax > 0 {
			scales = power(b.ScaleMin) + " to " + power(b.ScaleMax)
		}
		rows = append(rows, []any{
			strings.TrimSpace(b.Module + " " + b.Shapes), string(b.Role), b.Tensor, b.Scheme.String(), errorText(b.Error()), percent(b.FlushedShare()), percent(b.SaturatedShare()), fmt.Sprintf("%.2g", b.MSE()),
			scales, fmt.Sprintf("%.1f", b.Range()), fmt.Sprintf("%.1f", b.BlockRange), fmt.Sprintf("%.3g", b.Outlier), errorText(b.Rotated.Error()),
		})
	}
	return display.Table([]string{"module", "product", "operand", "format", "error", "flushed", "saturated", "mean squared error", "scales", "range, powers of two", "inside a block", "outlier", "error, rotated"}, rows)
}

// HTML returns the sentences, the chart and the table.
func (r *BlocksReport) HTML() string { return r.page(r.Chart()) }

// InTheme implements display.Themed.
func (r *BlocksReport) InTheme(name string) any {
	return themed(r, r.page(inTheme(r.Chart(), name)))
}

func (r *BlocksReport) page(figure *chart.Figure) string {
	return page(r.String(), figure) + r.Table().Data["text/html"].(string) +
		paragraph("An error is the root of the mean squared error, relative to that of the numbers. An outlier is the largest magnitude of a channel over the median of all channels.")
}

// String returns what the rotation does.
func (r *OutliersReport) String() string {
	before, after := top(r.Before), top(r.After)
	verb := "changes"
	if a, b := r.Plain.Error(), r.Rotated.Error(); b < a {
		verb = "lowers"
	} else if b > a {
		verb = "raises"
	}
	return fmt.Sprintf("The largest of %s is %.3g times the median, and %.3g after a rotation of %d, which %s the error of %v from %.3g to %.3g", text.Count(len(r.Before), "channel"), before, after, r.Size, verb, r.Scheme, r.Plain.Error(), r.Rotated.Error())
}

// top returns the largest value over the median.
func top(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	if m := sorted[len(sorted)/2]; m > 0 {
		return sorted[len(sorted)-1] / m
	}
	return 0
}

// Chart shows the largest magnitude of each channel before and after the rotation.
func (r *OutliersReport) Chart() *chart.Figure {
	if len(r.Before) == 0 {
		return chart.Plot()
	}
	return chart.Step(r.Before, "before", r.After[:len(r.Before)], "after the rotation").LogY().XLabel("channel").YLabel("largest magnitude").Title(r.String())
}

// HTML returns the sentence and the chart.
func (r *OutliersReport) HTML() string { return r.Chart().HTML() }

// InTheme implements display.Themed.
func (r *OutliersReport) InTheme(name string) any {
	return themed(r, inTheme(r.Chart(), name).HTML())
}
