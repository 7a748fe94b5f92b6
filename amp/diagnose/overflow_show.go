package diagnose

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"halfnote/display/chart"
	"halfnote/internal/text"
	"halfnote/tensor"
)

// span writes the range of magnitudes: "2⁻³ to 2¹⁵".
func span(c tensor.Counts) string {
	if math.IsNaN(c.AbsMax) {
		if c.Zeros > 0 { // any others are not finite
			return "0"
		}
		return "nothing finite"
	}
	low, high := power(c.AbsMin), power(c.AbsMax)
	if low == high {
		return low
	}
	return low + " to " + high
}

func power(x float64) string {
	_, e := math.Frexp(x)
	return text.Power(2, e-1)
}

// ranges writes the ranges of operands.
func ranges(list []tensor.Counts) string {
	var parts []string
	for _, c := range list {
		line := span(c)
		for _, odd := range []struct {
			n    int
			name string
		}{{c.Zeros, "zero"}, {c.Infs, "inf"}, {c.NaNs, "NaN"}} {
			if odd.n > 0 && odd.n < c.Count {
				line += fmt.Sprintf(" (%s %s)", text.Thousands(odd.n), odd.name)
			}
		}
		parts = append(parts, line)
	}
	return strings.Join(parts, ", ")
}

// title names the operation: "linear", "derivative of linear (matmul)", "cast for
// linear".
func (b *NonFinite) title() string {
	switch {
	case b.Cause == "data":
		return "an operand of " + cmp.Or(b.For, b.Op) + " that no operation of the step computed"
	case b.Op == "":
		return map[string]string{"parameter": "the parameter ", "buffer": "the buffer ", "stale-gradient": "the gradient of "}[b.Cause] + b.Param
	case b.Backward && b.Op != b.Of:
		return fmt.Sprintf("the derivative of %s (%s)", b.Of, b.Op)
	case b.Backward:
		return "the derivative of " + b.Of
	case b.Op == "cast" && b.Param != "":
		return fmt.Sprintf("the cast of %s to %v", b.Param, b.Out)
	case b.For != "":
		return fmt.Sprintf("the cast of %s's operand to %v", b.For, b.Out)
	}
	return b.Op
}

// at returns the line and the module as text.
func (b *NonFinite) at() string {
	if b.Op == "" {
		return ""
	}
	return Occurrence{Source: b.Source, Module: b.Module}.at()
}

// String returns two sentences: the origin and the cure.
func (b *NonFinite) String() string {
	return fmt.Sprintf("%s in %s%s: %s\n%s", b.Cause, b.title(), b.at(), sentence("%s", b.What), sentence("%s", b.Cure))
}

// reach describes what it reached.
func (b *NonFinite) reach() string {
	var parts []string
	if b.Loss {
		parts = append(parts, "the loss")
	}
	if n := len(b.Params); n > 0 {
		parts = append(parts, "the gradient of "+some(b.Params, 4))
	}
	if b.updated {
		parts = append(parts, "the parameters themselves")
	}
	absorbed := b.Change.text()
	switch {
	case parts == nil && absorbed != "":
		return absorbed
	case parts == nil && b.Backward:
		return "Give the model to see whose gradients it reached."
	case parts == nil:
		return "It reached neither the loss nor a gradient."
	}
	return strings.TrimSpace("It reached " + strings.Join(parts, ", and ") + ". " + absorbed)
}

// some lists the first names and the number of the others.
func some(names []string, most int) string {
	if extra := len(names) - most; extra > 0 {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", extra)
	}
	return strings.Join(names, ", ")
}

// String returns sentences on the origin of inf or NaN, the operations before it, what it
// reached and what to do.
func (r *OverflowReport) String() string {
	if r.Culprit == nil {
		return r.clean()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n%s", r.Culprit.headline(), sentence("%s", r.Culprit.What), r.Culprit.reach())
	if len(r.Culprit.Before) > 0 {
		b.WriteString("\nBefore it:")
		for _, p := range r.Culprit.Before {
			b.WriteString("\n  " + p.String())
		}
	}
	if len(r.Culprit.Spread) > 0 {
		b.WriteString("\nIt spread to:")
		for _, p := range r.Culprit.Spread[:min(len(r.Culprit.Spread), 8)] {
			b.WriteString("\n  " + p.String())
		}
	}
	for _, s := range r.Steps {
		if s.Skipped {
			b.WriteString("\nThe scaler: " + s.String() + ".")
		}
	}
	fmt.Fprintf(&b, "\nWhat to do: %s.", r.Culprit.Cure)
	return b.String()
}

func (r *OverflowReport) clean() string {
	sentence := fmt.Sprintf("No inf or NaN: %s checked.", text.Count(r.Looked, "operation"))
	if n := len(r.Origins); n > 0 {
		sentence = fmt.Sprintf("inf or NaN appeared %s, but reached neither the loss nor a gradient: %s checked.", times(n), text.Count(r.Looked, "operation"))
	}
	for _, b := range r.Origins[:min(len(r.Origins), 8)] {
		if absorbed := b.Change.text(); absorbed != "" {
			sentence += fmt.Sprintf("\n%s %s", b.headline(), absorbed)
		}
	}
	return sentence
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// headline says where inf or NaN first appeared.
func (b *NonFinite) headline() string {
	kind := "inf"
	if b.Infs == 0 {
		kind = "NaN"
	}
	text := fmt.Sprintf("%s first appeared in %s%s.", kind, b.title(), b.at())
	if b.Op == "" {
		text = fmt.Sprintf("%s was present before the run, in %s.", kind, b.title())
	}
	if b.Harmless {
		text += " It is harmless."
	}
	return text
}

// title names the operation: "linear", "derivative of linear".
func (p Occurrence) title() string {
	if p.Backward {
		return "derivative of " + p.Of
	}
	return p.Op
}

// at returns the line and the module in parentheses, after a space.
func (p Occurrence) at() string {
	if at := (Finding{Source: p.Source, Module: p.Module}).where(); at != "" {
		return " (" + at + ")"
	}
	return ""
}

// span returns the range of magnitudes; "" for integers and bool.
func (p Occurrence) span() string {
	if !p.DType.IsFloat() {
		return ""
	}
	return span(p.Counts)
}

// String returns the occurrence as one line.
func (p Occurrence) String() string {
	line := fmt.Sprintf("%s%s, %v", p.title(), p.at(), p.DType)
	if span := p.span(); span != "" {
		line += ": " + span
	}
	if n := p.Counts.Infs + p.Counts.NaNs; n > 0 {
		line += fmt.Sprintf(", %s of %s not finite", text.Thousands(n), text.Thousands(p.Counts.Count))
	}
	return line
}

// Chart shows the ranges of the results before and after the culprit, over float16's range.
func (r *OverflowReport) Chart() *chart.Figure {
	var list []chart.ValueRange
	if c := r.Culprit; c != nil {
		for _, p := range slices.Concat(c.Before, []Occurrence{c.here()}, c.Spread, c.Change.Absorbed) {
			list = append(list, chart.ValueRange{
				Name: strings.TrimSpace(p.title() + " " + p.Module), DType: p.DType.String(), Min: p.Counts.AbsMin, Max: p.Counts.AbsMax, Bad: nonFinite(p.Counts),
			})
		}
	}
	return chart.Ranges(list)
}

// alarm is the style of the word that names a culprit. It brings its own background, because no
// colour of text has a contrast of 4.5:1 with both a white and a black page.
const alarm = "background:#B00020;color:#FFFFFF;border-radius:3px;padding:0 6px;font-weight:600"

// here returns the origin as an occurrence.
func (b *NonFinite) here() Occurrence {
	return Occurrence{b.title(), b.Of, false, b.Module, b.Source, b.Out, b.counts}
}

// HTML returns the report as sentences and a table of the operations before and after. Its
// styles are inline, so that it also works in an untrusted notebook.
func (r *OverflowReport) HTML() string {
	if r.Culprit == nil {
		return paragraph(r.clean())
	}
	c := r.Culprit
	var b strings.Builder
	b.WriteString(`<div>` + paragraph(c.headline()) + paragraph(sentence("%s", c.What)+"\n"+c.reach()))
	b.WriteString(`<div style="overflow-x:auto"><table style="border-collapse:collapse"><tr>`)
	for _, h := range []string{"", "operation", "module", "line", "dtype", "range", "not finite"} {
		fmt.Fprintf(&b, `<th style="text-align:left;white-space:nowrap;padding:2px 10px 2px 0">%s</th>`, h)
	}
	b.WriteString("</tr>")
	row := func(when, style string, p Occurrence) {
		odd := ""
		if n := p.Counts.Infs + p.Counts.NaNs; n > 0 {
			odd = fmt.Sprintf("%s of %s", text.Thousands(n), text.Thousands(p.Counts.Count))
		}
		b.WriteString("<tr>")
		for i, cell := range []string{when, p.title(), p.Module, p.Source, p.DType.String(), p.span(), odd} {
			cell = html.EscapeString(cell)
			weight := ""
			if style != "" {
				weight = ";font-weight:600"
				if i == 0 {
					cell = `<span style="` + style + `">` + cell + "</span>"
				}
			}
			fmt.Fprintf(&b, `<td style="text-align:left;white-space:nowrap;padding:2px 10px 2px 0%s">%s</td>`, weight, cell)
		}
		b.WriteString("</tr>")
	}
	for _, p := range c.Before {
		row("before", "", p)
	}
	row("here", alarm, c.here())
	for _, p := range c.Spread {
		row("after", "", p)
	}
	for _, p := range c.Change.Absorbed {
		row("made finite", "", p)
	}
	b.WriteString("</table></div>")
	for _, s := range r.Steps {
		if s.Skipped {
			b.WriteString(paragraph("The scaler: " + s.String() + "."))
		}
	}
	return b.String() + paragraph("What to do: "+c.Cure+".") + "</div>"
}
