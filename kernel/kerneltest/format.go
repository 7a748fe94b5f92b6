package kerneltest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"halfnote/kernel/client"
)

// lines formats messages as in scripts: channel, type, content with sorted keys,
// without values that differ between runs. The division of a stream into messages
// differs, so adjacent ones are joined.
func lines(said []client.Message) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	var before map[string]any
	for i, m := range said {
		var content any
		if err := m.Decode(&content); err != nil {
			fmt.Fprintf(&b, "%s %s %v\n", m.Channel, m.Header.Type, err)
			continue
		}

		stream, _ := content.(map[string]any)
		if m.Header.Type == "stream" && i+1 < len(said) && continues(m, said[i+1]) {
			before = join(before, stream)
			continue
		}
		if m.Header.Type == "stream" {
			content = join(before, stream)
			before = nil
		}
		fmt.Fprintf(&b, "%s %s ", m.Channel, m.Header.Type)
		for _, buffer := range m.Buffers {
			fmt.Fprintf(&b, "buffer %q ", buffer)
		}
		if err := e.Encode(blur(content)); err != nil {
			panic(err)
		}
	}
	return b.String()
}

var uuid = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// number replaces ids by ID1, ID2, …, in order of appearance.
func (s *script) number(text string) string {
	return uuid.ReplaceAllStringFunc(text, func(id string) string {
		i := slices.Index(s.ids, id)
		if i < 0 {
			i = len(s.ids)
			s.ids = append(s.ids, id)
		}
		return fmt.Sprintf("ID%d", i+1)
	})
}

var (
	stackTrace = regexp.MustCompile(`(?s)\ngoroutine \d+.*`)
	portNumber = regexp.MustCompile(`_port$`)
)

// continues reports whether b is a stream message of the same stream and cell as a.
func continues(a, b client.Message) bool {
	var x, y struct{ Name string }
	return b.Header.Type == "stream" && a.Parent.ID == b.Parent.ID &&
		a.Decode(&x) == nil && b.Decode(&y) == nil && x == y
}

func join(a, b map[string]any) map[string]any {
	if a == nil {
		return b
	}
	x, _ := a["text"].(string)
	y, _ := b["text"].(string)
	return map[string]any{"name": b["name"], "text": x + y}
}

// blur replaces ports and the stack traces of the evaluator's own panics.
func blur(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, x := range v {
			if _, ok := x.(float64); ok && portNumber.MatchString(name) {
				v[name] = "PORT"
				continue
			}
			v[name] = blur(x)
		}
	case []any:
		for i, x := range v {
			if s, ok := x.(string); ok && strings.HasPrefix(s, "goroutine ") {
				return append(v[:i:i], "STACK")
			}
			v[i] = blur(x)
		}
	case string:
		return stackTrace.ReplaceAllString(v, "\nSTACK")
	}
	return v
}
