package diagnose

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"

	"halfnote/amp"
	"halfnote/amp/trace"
	"halfnote/display"
	"halfnote/display/chart"
	"halfnote/internal/text"
)

// Functions shared by the reports.

// scaleText writes a loss scale: "65,536 (2¹⁶)".
func scaleText(v float64) string {
	f, e := math.Frexp(v)
	power := text.Power(2, e-1)
	switch {
	case f != .5 || v == 1 || v == 2:
		return fmt.Sprintf("%.6g", v)
	case v < 1./1024 || v > 1<<30:
		return power
	case v >= 1:
		return text.Thousands(int(v)) + " (" + power + ")"
	}
	return literal(v) + " (" + power + ")"
}

// literal writes a loss scale as Go.
func literal(v float64) string {
	if v >= 1e15 {
		return fmt.Sprint(v)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// number writes a magnitude: "65,504", "4.5e+07".
func number(v float64) string {
	switch {
	case v < 1000:
		return fmt.Sprintf("%.4g", v)
	case v < 1e6:
		return text.Thousands(int(math.Round(v)))
	}
	return fmt.Sprintf("%.2g", v)
}

func steps(n int) string {
	if n == 1 {
		return "1 step"
	}
	return fmt.Sprintf("%d steps", n)
}

func paragraph(text string) string {
	return "<p style=\"padding:0 8px\">" + strings.ReplaceAll(html.EscapeString(text), "\n", "<br>") + "</p>"
}

// page returns lines of text and a chart as HTML.
func page(text string, figure *chart.Figure) string { return paragraph(text) + figure.HTML() }

// themed returns the bundle of a report whose HTML was made for a theme.
func themed(report fmt.Stringer, html string) display.Bundle {
	return display.Bundle{Data: map[string]any{"text/plain": report.String(), "text/html": html}}
}

func inTheme(f *chart.Figure, name string) *chart.Figure { return f.InTheme(name).(*chart.Figure) }

// needStep panics unless the step function is present.
func needStep(call string, there bool) {
	if !there {
		panic(&amp.Error{Code: "nil_argument", Call: call, Why: "step is nil", Cure: "pass a function that runs a training step"})
	}
}

// needLayers panics if net is a recording, which has no layers that could run. in is the call for recordings, "" without one.
func needLayers(call string, net any, in string) {
	cure := "build the model with package nn, load its weights with nn.LoadStateDictPartly, and pass that"
	switch rec := net.(type) {
	case *trace.Recording:
		if rec == nil || rec.Recorder == nil {
			break
		}
		if code := goModel(rec); code != "" {
			cure = "its state dict fits " + code + ": load it with nn.LoadStateDict, and pass that model"
		}
	case *trace.Recorder:
	default:
		return
	}
	if in != "" {
		cure = "call diagnose." + in + "(rec), or " + cure
	}
	panic(&amp.Error{Code: "recording", Call: call, Why: "net is a recording, whose layers cannot run again", Cure: cure})
}
