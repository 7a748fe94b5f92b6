package widget

import (
	"encoding/base64"
	"fmt"
	"html"
	"strings"

	"halfnote/display"
)

// text describes the widget's current state.
func (m *model) text() string {
	var lines []string
	for _, c := range m.children() {
		lines = append(lines, c.text())
	}
	if m.kind.name == "HBox" {
		return strings.Join(lines, "  ")
	}
	for _, o := range m.outputs() {
		lines = append(lines, strings.TrimSuffix(o.text(), "\n"))
	}
	if len(lines) > 0 {
		return strings.Join(lines, "\n")
	}
	label, _ := m.get("description").(string)
	value := m.value()
	switch {
	case m.kind.name == "Button", m.kind.name == "ToggleButton" && value == "on":
		return "[" + label + "]"
	case m.kind.name == "ToggleButton":
		return label
	case label != "" && value != "":
		return label + ": " + value
	case value != "":
		return value
	case label != "":
		return label
	}
	return m.kind.name
}

// value formats the widget's value.
func (m *model) value() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.state
	switch v := s["value"].(type) {
	case bool:
		if v {
			return "on"
		}
		return "off"
	case float64:
		if base, ok := s["base"]; ok {
			return fmt.Sprintf("%.6g (%g^%g to %g^%g)", v, base, s["min"], base, s["max"])
		}
		if lo, ok := s["min"]; ok {
			return fmt.Sprintf("%.6g (%g to %g)", v, lo, s["max"])
		}
		return fmt.Sprintf("%.6g", v)
	case int:
		if lo, ok := s["min"]; ok {
			return fmt.Sprintf("%d (%d to %d)", v, lo, s["max"])
		}
		return fmt.Sprint(v)
	case string:
		return v
	case []byte:
		return fmt.Sprintf("picture of %d bytes", len(v))
	}
	if i, ok := s["index"].(index); ok {
		labels := s["_options_labels"].([]string)
		var list []string
		for j, l := range labels {
			if j == int(i) {
				l = "[" + l + "]"
			}
			list = append(list, l)
		}
		return strings.Join(list, " ")
	}
	return ""
}

func (m *model) outputs() []output {
	list, _ := m.get("outputs").([]output)
	return list
}

func (o output) text() string {
	if o.Type == "stream" {
		return o.Text
	}
	return display.Bundle{Data: o.Data}.String()
}

// html formats text with the little HTML that untrusted notebooks keep.
func (m *model) html() string {
	var b strings.Builder
	switch m.kind.name {
	case "VBox", "HBox":
		direction := "column"
		if m.kind.name == "HBox" {
			direction = "row"
		}
		fmt.Fprintf(&b, `<div style="display:flex;flex-direction:%s;gap:4px">`, direction)
		for _, c := range m.children() {
			b.WriteString(c.html())
		}
		b.WriteString("</div>")
	case "Output":
		b.WriteString("<div>")
		for _, o := range m.outputs() {
			b.WriteString(o.html())
		}
		b.WriteString("</div>")
	case "HTML":
		return "<div>" + m.get("value").(string) + "</div>"
	case "Image":
		fmt.Fprintf(&b, `<img alt="a picture" src="data:image/png;base64,%s">`, base64.StdEncoding.EncodeToString(m.get("value").([]byte)))
	case "IntProgress", "FloatProgress":
		m.mu.Lock()
		label, _ := m.state["description"].(string)
		lo, hi, v := number(m.state["min"]), number(m.state["max"]), number(m.state["value"])
		m.mu.Unlock()
		fmt.Fprintf(&b, `<div>%s <progress max="%g" value="%g"></progress></div>`, html.EscapeString(label), hi-lo, v-lo)
	default:
		return `<div style="white-space:pre-wrap">` + html.EscapeString(m.text()) + "</div>"
	}
	return b.String()
}

func (o output) html() string {
	if text, ok := o.Data["text/html"].(string); ok {
		return text
	}
	return `<pre style="margin:0">` + html.EscapeString(o.text()) + "</pre>"
}

func number(v any) float64 {
	switch v := v.(type) {
	case int:
		return float64(v)
	case float64:
		return v
	}
	return 0
}
