package display

import (
	"encoding/json"
	"strings"
)

// Text returns an output of plain text.
func Text(s string) Bundle { return single("text/plain", s) }

// Markdown returns an output that front ends typeset; its text/plain is the source.
func Markdown(s string) Bundle {
	return Bundle{Data: map[string]any{"text/markdown": s, "text/plain": s}}
}

// LaTeX returns an output of mathematics, given with or without dollar signs; its text/plain is
// the source.
func LaTeX(s string) Bundle {
	math := s
	if !strings.Contains(s, "$") && !strings.Contains(s, `\begin`) {
		math = "$$" + s + "$$"
	}
	return Bundle{Data: map[string]any{"text/latex": math, "text/plain": s}}
}

// JSON returns an output that front ends show as a tree; its text/plain is the indented source.
// Values that JSON cannot represent, such as channels or NaN, are displayed as an error text.
func JSON(v any) Bundle {
	raw, err := json.Marshal(v)
	if err != nil {
		return Text("display: JSON: " + err.Error() + "; value: " + plain(v))
	}
	indented, _ := json.MarshalIndent(v, "", "  ")
	return Bundle{Data: map[string]any{"application/json": json.RawMessage(raw), "text/plain": string(indented)}}
}
