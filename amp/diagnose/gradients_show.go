package diagnose

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strings"

	"halfnote/display/chart"
	"halfnote/internal/text"
)

// at returns the line and the module as text.
func (d *Underflow) at() string { return Finding{Source: d.Source, Module: d.Module}.where() }

// String returns a sentence on where and how gradients were lost.
func (d *Underflow) String() string {
	at := d.at()
	if at != "" {
		at = " (" + at + ")"
	}
	share := percent(d.Share)
	if d.Op == "" && d.Of == "" {
		lost := "flushed to 0"
		if d.Outcome == Overflowed {
			lost = "not finite"
		}
		return fmt.Sprintf("%s of the %s of the gradient of %s are %s in %v, by no single operation", share, text.Count(d.Elements, "nonzero element"), d.Param, lost, d.DType)
	}
	switch d.Outcome {
	case Flushed:
		if d.Forward {
			what := d.Of
			if what == "cast" {
				what = "the cast of " + cmp.Or(d.Param, "an operand")
			}
			return fmt.Sprintf("%s%s flushes %s of its %s to 0 in %v in the forward pass; derivatives that multiply by them are 0", what, at, share, text.Count(d.Elements, "nonzero element"), d.DType)
		}
		return fmt.Sprintf("the derivative of %s%s flushes %s of its %s to 0 in %v", d.Of, at, share, text.Count(d.Elements, "nonzero element"), d.DType)
	case Absorbed:
		return fmt.Sprintf("%s%s returns finite numbers for the inf of %s%s, so %s of its %s are wrong by half or more", Occurrence{Op: d.Op, Of: d.Of, Backward: !d.Forward}.title(), at, d.Inf.title(), d.Inf.at(), share, text.Count(d.Elements, "element"))
	case Overflowed:
		return fmt.Sprintf("the derivative of %s%s overflows %v", d.Of, at, d.DType)
	case DeadReLU:
		return fmt.Sprintf("%s%s blocks gradients: %s of those that reach it become 0, in float64 too", d.Of, at, share)
	case Saturated:
		return fmt.Sprintf("%s%s is flat: it removes %s of the gradient's magnitude, in float64 too", d.Of, at, share)
	}
	return fmt.Sprintf("the derivative of %s%s is 0, in float64 too", d.Of, at)
}

// cure returns the advice for an underflow, in the words of the program that was diagnosed.
func (r *GradientsReport) cure(d *Underflow) string {
	if r.torch {
		return inTorch(r.advice(d))
	}
	return r.advice(d)
}

func (r *GradientsReport) advice(d *Underflow) string {
	switch d.Outcome {
	case Absorbed:
		return "no loss scale helps, since the loss itself is wrong: run diagnose.Overflow, which says why " + d.Inf.Op + " overflows"
	case Flushed:
		if d.Forward {
			return "no loss scale helps in the forward pass: make these values larger (a normalisation layer, a larger initialisation), keep the operation in float32 with amp.Float16.With, or train in bfloat16"
		}
		need, over := r.Scale*r.need(), r.Scale*r.Ceiling*2
		top := max(r.Static, over/2/headroom)
		safe := fmt.Sprintf("from %s up at most one in a thousand of all gradients, those of activations included, is flushed, and up to %s none comes within a factor of %d of overflow", scaleText(need), scaleText(top), headroom)
		switch {
		case need > r.Scale*r.Ceiling && d.Of == "":
			return fmt.Sprintf("no loss scale saves them all: from a scale of %s all but one in a thousand survive, and from %s the largest overflow; train in bfloat16", scaleText(need), scaleText(over))
		case need > r.Scale*r.Ceiling:
			return fmt.Sprintf("no loss scale saves them all: from a scale of %s all but one in a thousand survive, and from %s the largest overflow; keep %s in float32 with amp.Float16.With(%q, amp.FP32), or train in bfloat16", scaleText(need), scaleText(over), d.Of, d.Of)
		case top < need:
			return fmt.Sprintf("from a loss scale of %s all but one in a thousand survive, and from %s the largest overflow, so none leaves a factor of %d: use amp.NewGradScaler(), which adapts the scale, or train in bfloat16", scaleText(need), scaleText(over), headroom)
		case need <= defaultScale && defaultScale <= top:
			return fmt.Sprintf("use amp.NewGradScaler(): its default loss scale, %s, is safe: %s", scaleText(defaultScale), safe)
		}
		return fmt.Sprintf("use amp.NewGradScaler(amp.InitScale(%s)): %s", literal(max(r.Static, min(top, need))), safe)
	case Overflowed:
		return "run diagnose.Overflow to find what overflows, and why"
	case DeadReLU:
		return "no loss scale helps: lower the learning rate that drove it there, check the bias before it, or use LeakyReLU or GELU"
	case Saturated:
		return "no loss scale helps: keep its operand near 0 (a normalisation layer before it, a smaller initialisation), or use ReLU instead; at the output, use a loss that includes it, such as BinaryCrossEntropyWithLogits"
	}
	return "no loss scale helps: look for zero weights, a Detach, a mask or a Clamp there"
}

// need returns the factor by which the loss scale must grow for all but one in a thousand of the gradients to survive: of all
// gradients together or, if these do already, of each parameter.
func (r *GradientsReport) need() float64 {
	factor := r.Rescue
	if factor <= 1 {
		for _, l := range r.Layers {
			factor = max(factor, l.Rescue)
		}
	}
	return factor
}

// String returns sentences on which gradients were lost, where this happened first, and what to
// do.
func (r *GradientsReport) String() string {
	if len(r.Layers) == 0 {
		return "No gradients: the step has no backward pass, or the model has no parameters."
	}
	return r.said(r.text())
}

// said writes a text about a recording, whose operations were compared in float32.
func (r *GradientsReport) said(text string) string {
	if r.recorded {
		return strings.ReplaceAll(text, "float64", "float32")
	}
	return text
}

func (r *GradientsReport) text() string {
	lines := []string{r.summary()}
	if r.First != nil {
		lines = append(lines, sentence("%s", "first, "+r.First.String()), sentence("%s", "what to do: "+r.cure(r.First)))
	}
	for _, l := range r.Layers {
		if !l.Outcome.well() {
			lines = append(lines, "  "+l.String())
		}
	}
	return strings.Join(lines, "\n")
}

func (r *GradientsReport) summary() string {
	lostLayers := map[Outcome]int{}
	for _, l := range r.Layers {
		lostLayers[l.Outcome]++
	}
	if r.Preserved() {
		worst := 0.0
		for _, l := range r.Layers {
			worst = max(worst, l.FlushedShare())
		}
		few := ""
		if n := lostLayers[Subnormal]; n > 0 {
			few = fmt.Sprintf(" In %d of them half of the elements or more are subnormal and have fewer bits.", n)
		}
		flushed := fmt.Sprintf("at most %s of any one is", percent(worst))
		if worst == 0 {
			flushed = "none is"
		}
		return fmt.Sprintf("The gradients of all %s arrive: %s flushed to 0.", text.Count(len(r.Layers), "parameter"), flushed) + few
	}
	var parts []string
	for _, f := range []struct {
		outcome   Outcome
		one, many string
	}{
		{Flushed, fmt.Sprintf("loses %.0f %% or more of its gradient to zero", 100*lost), fmt.Sprintf("lose %.0f %% or more of their gradients to zero", 100*lost)},
		{Overflowed, "has inf or NaN in its gradient", "have inf or NaN in their gradients"},
		{Absorbed, "has a gradient computed from an inf that became finite numbers", "have gradients computed from an inf that became finite numbers"},
		{DeadReLU, "is behind a dead ReLU", "are behind a dead ReLU"},
		{Saturated, "is behind a saturated activation", "are behind a saturated activation"},
		{Cut, "is behind a derivative of 0", "are behind a derivative of 0"},
		{Unused, "has no gradient", "have no gradient"},
	} {
		n := lostLayers[f.outcome]
		if n == 0 {
			continue
		}
		what, of := f.many, ""
		if n == 1 {
			what = f.one
		}
		if len(parts) == 0 {
			of = " of " + text.Count(len(r.Layers), "parameter")
		}
		parts = append(parts, fmt.Sprintf("%d%s %s", n, of, what))
	}
	said := strings.Join(parts, ", ")
	switch kept := lostLayers[Preserved] + lostLayers[Subnormal] + lostLayers[Zero]; kept {
	case 0:
	case 1:
		said += "; the other one keeps its gradient"
	default:
		said += fmt.Sprintf("; the other %d keep their gradients", kept)
	}
	return said + "."
}

// String returns a line on the outcome of a parameter's gradient.
func (l LayerGradient) String() string {
	if l.Outcome == Unused {
		return l.Param + ": received no gradient"
	}
	line := fmt.Sprintf("%s, %v: %s flushed", l.Param, l.DType, percent(l.FlushedShare()))
	if l.Subnormal > 0 {
		line += ", " + percent(l.SubnormalShare()) + " subnormal"
	}
	line += ", " + percent(l.ZeroShare()) + " zero in float64 too"
	if l.Infinite > 0 {
		line += fmt.Sprintf(", %s of %s not finite", text.Thousands(l.Infinite), text.Thousands(l.Elements))
	}
	return line
}

// Chart shows, for each parameter, the shares of its gradient that are normal, subnormal,
// flushed, zero anyway and infinite.
func (r *GradientsReport) Chart() *chart.Figure {
	var list []chart.GradientLayer
	for _, l := range r.Layers {
		list = append(list, chart.GradientLayer{
			Name: l.Param, DType: l.DType.String(), Elements: l.Elements, Zeros: l.Zeros, Flushed: l.Flushed,
			Subnormal: l.Subnormal, Infinite: l.Infinite, Note: l.note(),
		})
	}
	return chart.GradientLayers(list)
}

// HTML returns the sentences, the chart and a table of the parameters.
func (r *GradientsReport) HTML() string { return r.said(r.page(r.Chart())) }

// InTheme implements display.Themed.
func (r *GradientsReport) InTheme(name string) any {
	return themed(r, r.said(r.page(inTheme(r.Chart(), name))))
}

func (r *GradientsReport) page(figure *chart.Figure) string {
	var b strings.Builder
	text, _, _ := strings.Cut(r.String(), "\n  ")
	b.WriteString(page(text, figure) + `<div style="overflow-x:auto"><table style="border-collapse:collapse"><tr>`)
	columns := r.columns()
	for _, c := range columns {
		fmt.Fprintf(&b, `<th style="text-align:left;white-space:nowrap;padding:2px 10px 2px 0">%s</th>`, c.head)
	}
	b.WriteString("</tr>")
	for _, l := range r.Layers {
		b.WriteString("<tr>")
		for i, c := range columns {
			value := html.EscapeString(c.of(l))
			if i == 1 && !l.Outcome.well() {
				value = `<span style="` + alarm + `">` + value + "</span>"
			}
			b.WriteString(`<td style="text-align:left;white-space:nowrap;padding:2px 10px 2px 0">` + value + "</td>")
		}
		b.WriteString("</tr>")
	}
	return b.String() + "</table></div>" + paragraph(fmt.Sprintf("Shares are of the elements that are not 0 in float64. A gradient counts as flushed if it loses %.0f %% or more, and as subnormal if half or more lose bits.", 100*lost))
}

// share returns the share of the elements that an outcome is about.
func (l LayerGradient) share(o Outcome) float64 {
	switch o {
	case Preserved:
		return 1 - l.FlushedShare() - l.SubnormalShare() - l.InfiniteShare()
	case Flushed:
		return l.FlushedShare()
	case Subnormal:
		return l.SubnormalShare()
	case Overflowed:
		return l.InfiniteShare()
	}
	return 1
}

// note returns the outcome with its share: "10.3 % flushed".
func (l LayerGradient) note() string {
	if share := l.share(l.Outcome); share < 1 {
		return percent(share) + " " + string(l.Outcome)
	}
	return string(l.Outcome)
}

// outcome returns all shares of a gradient that arrives in part: "89.7 % preserved, 10.3 % flushed".
func (l LayerGradient) outcome() string {
	shared := []Outcome{Preserved, Flushed, Subnormal, Overflowed}
	if !slices.Contains(shared, l.Outcome) || l.share(l.Outcome) == 1 {
		return string(l.Outcome)
	}
	var parts []string
	for _, o := range shared {
		if share := l.share(o); share >= leastShown || o == l.Outcome {
			parts = append(parts, percent(share)+" "+string(o))
		}
	}
	return strings.Join(parts, ", ")
}

// leastShown is the least share that an outcome names.
const leastShown = 0.001

// gradientColumn is a column of a report's table.
type gradientColumn struct {
	head string
	of   func(l LayerGradient) string
}

// columns returns the columns of the table. Those that would be the same in each row are left out, except for the first ones.
func (r *GradientsReport) columns() []gradientColumn {
	used := func(f func(l LayerGradient) string) func(l LayerGradient) string {
		return func(l LayerGradient) string {
			if l.Outcome == Unused {
				return ""
			}
			return f(l)
		}
	}
	list := []gradientColumn{
		{"parameter", func(l LayerGradient) string { return l.Param }},
		{"outcome", LayerGradient.outcome},
		{"flushed", used(func(l LayerGradient) string { return percent(l.FlushedShare()) })},
		{"in float64", used(func(l LayerGradient) string {
			if l.Highest > 0 {
				return power(l.Lowest) + " to " + power(l.Highest)
			}
			return "0"
		})},
	}
	for _, c := range []gradientColumn{
		{"subnormal", used(func(l LayerGradient) string { return percent(l.SubnormalShare()) })},
		{"zero anyway", used(func(l LayerGradient) string { return percent(l.ZeroShare()) })},
		{"not finite", used(func(l LayerGradient) string { return percent(portion(l.Infinite, l.Elements)) })},
		{"dtype", used(func(l LayerGradient) string { return l.DType.String() })},
	} {
		if slices.ContainsFunc(r.Layers, func(l LayerGradient) bool { return c.of(l) != c.of(r.Layers[0]) }) {
			list = append(list, c)
		}
	}
	if slices.ContainsFunc(r.Layers, func(l LayerGradient) bool { return l.Loss != nil }) {
		list = slices.Insert(list, 2, gradientColumn{"lost in", func(l LayerGradient) string {
			if l.Loss == nil {
				return ""
			}
			if l.Loss.Op == "" && l.Loss.Of == "" {
				return "no single operation"
			}
			return Occurrence{Op: l.Loss.Op, Of: l.Loss.Of, Backward: !l.Loss.Forward}.title() + " " + l.Loss.at()
		}})
	}
	return list
}
