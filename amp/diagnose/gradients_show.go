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
	case Overflowed:
		return fmt.Sprintf("the derivative of %s%s overflows %v", d.Of, at, d.DType)
	case DeadReLU:
		return fmt.Sprintf("%s%s blocks gradients: %s of those that reach it become 0, in float64 too", d.Of, at, share)
	case Saturated:
		return fmt.Sprintf("%s%s is flat: it removes %s of the gradient's magnitude, in float64 too", d.Of, at, share)
	}
	return fmt.Sprintf("the derivative of %s%s is 0, in float64 too", d.Of, at)
}

// cure returns the advice for an underflow.
func (r *GradientsReport) cure(d *Underflow) string {
	switch d.Outcome {
	case Flushed:
		if d.Forward {
			return "no loss scale helps in the forward pass: make these values larger (a normalisation layer, a larger initialisation), keep the operation in float32 with amp.Float16.With, or train in bfloat16"
		}
		need, over := r.Scale*r.Rescue, r.Scale*r.Ceiling*2
		switch {
		case r.Rescue > r.Ceiling:
			return fmt.Sprintf("no loss scale saves them all: from a scale of %s all but one in a thousand survive, and from %s the largest overflow; keep %s in float32 with amp.Float16.With(%q, amp.FP32), or train in bfloat16", scaleText(need), scaleText(over), d.Of, d.Of)
		case r.Static < need:
			return fmt.Sprintf("from a loss scale of %s all but one in a thousand survive, and from %s the largest overflow, so none leaves a factor of %d: use amp.NewGradScaler(), which adapts the scale, or train in bfloat16", scaleText(need), scaleText(over), headroom)
		}
		return fmt.Sprintf("use a loss scale from %s, where all but one in a thousand gradients survive, those of activations included, to %s, which leaves a factor of %d before overflow: amp.NewGradScaler(amp.InitScale(%s))", scaleText(need), scaleText(max(r.Static, over/2/headroom)), headroom, literal(r.Static))
	case Overflowed:
		return "run diagnose.Overflow to find what overflows, and why"
	case DeadReLU:
		return "no loss scale helps: lower the learning rate that drove it there, check the bias before it, or use LeakyReLU or GELU"
	case Saturated:
		return "no loss scale helps: keep its operand near 0 (a normalisation layer before it, a smaller initialisation), or use ReLU instead; at the output, use a loss that includes it, such as BinaryCrossEntropyWithLogits"
	}
	return "no loss scale helps: look for zero weights, a Detach, a mask or a Clamp there"
}

// String returns sentences on which gradients were lost, where this happened first, and what to
// do.
func (r *GradientsReport) String() string {
	if len(r.Layers) == 0 {
		return "No gradients: the step has no backward pass, or the model has no parameters."
	}
	lines := []string{r.summary()}
	if r.First != nil {
		lines = append(lines, sentence("%s", "first, "+r.First.String()), sentence("%s", "what to do: "+r.cure(r.First)))
	}
	if r.First == nil && slices.ContainsFunc(r.Layers, func(l LayerGradient) bool { return l.Outcome == Overflowed }) {
		lines = append(lines, "They were non-finite before they reached the parameters: diagnose.Overflow finds the origin.")
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
		return fmt.Sprintf("The gradients of all %s arrive: at most %s of any one is flushed to 0.", text.Count(len(r.Layers), "parameter"), percent(worst))
	}
	var parts []string
	for _, f := range []struct {
		outcome Outcome
		text    string
	}{
		{Flushed, fmt.Sprintf("with %.0f %% or more flushed to zero", 100*lost)}, {Overflowed, "with inf or NaN"}, {DeadReLU, "behind a dead ReLU"},
		{Saturated, "behind a saturated activation"}, {Cut, "behind a derivative of 0"}, {Unused, "without a gradient"},
	} {
		if n := lostLayers[f.outcome]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, f.text))
		}
	}
	keep := "keep their gradients"
	if lostLayers[Preserved]+lostLayers[Zero] == 1 {
		keep = "keeps its gradient"
	}
	return fmt.Sprintf("%d of %s %s; the others: %s.", lostLayers[Preserved]+lostLayers[Zero], text.Count(len(r.Layers), "parameter"), keep, strings.Join(parts, ", "))
}

// String returns a line on the outcome of a parameter's gradient.
func (l LayerGradient) String() string {
	if l.Outcome == Unused {
		return l.Param + ": received no gradient"
	}
	line := fmt.Sprintf("%s, %v: %s flushed, %s zero in float64 too", l.Param, l.DType, percent(l.FlushedShare()), percent(l.ZeroShare()))
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
			Subnormal: l.Subnormal, Infinite: l.Infinite, Note: string(l.Outcome),
		})
	}
	return chart.GradientLayers(list)
}

// HTML returns the sentences, the chart and a table of the parameters.
func (r *GradientsReport) HTML() string { return r.page(r.Chart()) }

// InTheme implements display.Themed.
func (r *GradientsReport) InTheme(name string) any {
	return themed(r, r.page(inTheme(r.Chart(), name)))
}

func (r *GradientsReport) page(figure *chart.Figure) string {
	var b strings.Builder
	text, _, _ := strings.Cut(r.String(), "\n  ")
	b.WriteString(`<div style="font-size:13px">` + page(text, figure) + `<div style="overflow-x:auto"><table style="border-collapse:collapse"><tr>`)
	for _, h := range []string{"parameter", "outcome", "dtype", "flushed", "zero anyway", "subnormal", "not finite", "in float64", "scale needed", "lost in"} {
		fmt.Fprintf(&b, `<th style="text-align:left;white-space:nowrap;padding:2px 10px 2px 0">%s</th>`, h)
	}
	b.WriteString("</tr>")
	for _, l := range r.Layers {
		where, style := "", ""
		if l.Loss != nil {
			where = "derivative of " + l.Loss.Of + " " + l.Loss.at()
		}
		if !l.Outcome.well() {
			style = alarm
		}
		span := "0"
		if l.Highest > 0 {
			span = power(l.Lowest) + " to " + power(l.Highest)
		}
		cells := []string{l.Param, string(l.Outcome), l.DType.String(), percent(l.FlushedShare()), percent(l.ZeroShare()), percent(portion(l.Subnormal, l.Elements)), percent(portion(l.Infinite, l.Elements)), span, "× " + scaleText(l.Rescue), where}
		if l.Outcome == Unused {
			cells = []string{l.Param, string(l.Outcome), "", "", "", "", "", "", "", ""}
		}
		b.WriteString("<tr>")
		for i, c := range cells {
			c = html.EscapeString(c)
			if i == 1 && style != "" {
				c = `<span style="` + style + `">` + c + "</span>"
			}
			b.WriteString(`<td style="text-align:left;white-space:nowrap;padding:2px 10px 2px 0">` + c + "</td>")
		}
		b.WriteString("</tr>")
	}
	return b.String() + "</table></div></div>"
}
