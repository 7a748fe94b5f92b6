package diagnose

import (
	"cmp"
	"fmt"
	"html"
	"strings"

	"halfnote/display"
	"halfnote/internal/text"
)

// sentence formats what happened as a sentence.
func sentence(format string, args ...any) string {
	s := fmt.Sprintf(format, args...)
	if s != "" && !strings.HasSuffix(s, ".") {
		s += "."
	}
	return strings.ToUpper(s[:min(1, len(s))]) + s[min(1, len(s)):]
}

// where returns the line and the module as text.
func (f Finding) where() string {
	var parts []string
	if f.Source != "" {
		parts = append(parts, f.Source)
	}
	if f.Module != "" {
		parts = append(parts, "module "+f.Module)
	}
	if f.Role != "" {
		parts = append(parts, string(f.Role))
	}
	if f.Count > 1 {
		parts = append(parts, fmt.Sprintf("%d times", f.Count))
	}
	return strings.Join(parts, ", ")
}

// String returns the finding in two lines.
func (f Finding) String() string {
	at := f.where()
	if at != "" {
		at = " (" + at + ")"
	}
	return fmt.Sprintf("%s: %s%s: %s %s\n    %s", f.Severity, f.Code, at, f.What, f.Why, f.Cure)
}

// String returns a sentence, and the findings below it.
func (r *LintReport) String() string {
	var b strings.Builder
	b.WriteString(r.summary())
	for _, f := range r.Findings {
		b.WriteString("\n" + f.String())
	}
	return b.String()
}

func (r *LintReport) summary() string {
	seen := fmt.Sprintf("%s and %s checked", text.Count(r.Operations, "operation"), text.Count(r.Steps, "optimizer step"))
	if r.Clean() {
		return fmt.Sprintf("No findings: %s with %d rules.", seen, cmp.Or(r.rules, len(rules)))
	}
	var n [3]int
	for _, f := range r.Findings {
		n[f.Severity]++
	}
	var parts []string
	for s, k := range n {
		switch {
		case k > 0 && Severity(s) == Advice:
			parts = append(parts, text.Count(k, "piece")+" of advice")
		case k > 0:
			parts = append(parts, text.Count(k, Severity(s).String()))
		}
	}
	return fmt.Sprintf("%s: %s.", strings.Join(parts, ", "), seen)
}

// colours of severities have a contrast of 4.5:1 with white.
var severityColour = [...]string{Mistake: "#B00020", Risk: "#C2410C", Advice: "#1072D2"}

// HTML returns the findings: the severity, the code and the place of each on one line, and below what happens, why and what to do, so that it
// fits narrow pages. Its styles are inline, so that it also works in an untrusted notebook.
func (r *LintReport) HTML() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<div style="max-width:60em;padding:0 8px"><p>%s</p>`, html.EscapeString(r.summary()))
	for _, f := range r.Findings {
		line := []string{
			fmt.Sprintf(`<span style="background:%s;color:#FFFFFF;border-radius:3px;padding:0 6px">%s</span>`, severityColour[f.Severity], f.Severity),
			"<code>" + html.EscapeString(f.Code) + "</code>",
		}
		if at := f.where(); at != "" {
			line = append(line, html.EscapeString(at))
		}
		texts := []string{html.EscapeString(f.What + " " + f.Why), "<b>" + html.EscapeString(f.Cure) + "</b> <i>" + html.EscapeString(f.From) + "</i>"}
		fmt.Fprintf(&b, `<p style="margin:12px 0 0">%s</p>`, strings.Join(line, " "))
		for _, t := range texts {
			fmt.Fprintf(&b, `<p style="margin:2px 0 0">%s</p>`, t)
		}
	}
	return b.String() + "</div>"
}

// LintRules lists the rules of [Lint] with their references.
func LintRules() display.Bundle {
	var rows [][]any
	for _, r := range rules {
		rows = append(rows, []any{r.code, r.severity.String(), r.finds, r.cure, r.source})
	}
	return display.Table([]string{"code", "severity", "finds", "what to do", "from"}, rows)
}
