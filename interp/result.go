package interp

import (
	"strings"

	"halfnote/display"
)

// outs is a bounded history of values.
type outs struct{}

// render shows the value of the last expression.
func (s *Session) render(c *cell) error {
	if len(c.results) == 0 {
		return nil
	}
	var shown []display.Bundle
	for _, r := range c.results {
		v, ok := s.engine.Slot(r.slot)
		if !ok {
			return nil
		}
		if isNilInterface(v) && len(c.results) == 1 {
			return nil
		}
		shown = append(shown, s.show(c, v, r.typ))
	}
	if len(shown) == 1 {
		c.value = &shown[0]
		return nil
	}
	var texts []string
	for _, b := range shown {
		text, _ := b.Data["text/plain"].(string)
		texts = append(texts, text)
	}
	b := display.Text(strings.Join(texts, ", "))
	c.value = &b
	return nil
}
