package notebook

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Write writes the same bytes as nbformat: sorted keys, an indent of one space, text as
// a list of lines, only the escapes that JSON requires, and a newline at the end.
func (nb *Notebook) Write(w io.Writer) error {
	var b strings.Builder
	if err := encode(&b, nb.toJSON(), "\n"); err != nil {
		return fmt.Errorf("notebook: write: %w", err)
	}
	b.WriteByte('\n')
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("notebook: write: %w", err)
	}
	return nil
}

func (nb *Notebook) toJSON() map[string]any {
	cells := make([]any, len(nb.Cells))
	for i, c := range nb.Cells {
		cells[i] = c.toJSON()
	}
	m := with(nb.extra)
	m["cells"], m["metadata"], m["nbformat"], m["nbformat_minor"] = cells, nonNil(nb.Metadata), 4, 5
	return m
}

func (c *Cell) toJSON() map[string]any {
	m := with(c.extra)
	m["cell_type"], m["id"], m["metadata"], m["source"] = c.Type, c.ID, nonNil(c.Metadata), splitLines(c.Source)
	if c.Attachments != nil {
		all := map[string]any{}
		for name, bundle := range c.Attachments {
			all[name] = splitBundle(bundle)
		}
		m["attachments"] = all
	}
	if c.Type == Code {
		outputs := make([]any, len(c.Outputs))
		for i, o := range c.Outputs {
			outputs[i] = o.toJSON()
		}
		m["outputs"], m["execution_count"] = outputs, countJSON(c.Count)
	}
	return m
}

func (o *Output) toJSON() map[string]any {
	m := with(o.extra)
	m["output_type"] = o.Type
	switch o.Type {
	case Stream:
		m["name"], m["text"] = o.Name, splitLines(o.Text)
	case DisplayData, ExecuteResult:
		m["data"], m["metadata"] = splitBundle(o.Data), nonNil(o.Metadata)
		if o.Type == ExecuteResult {
			m["execution_count"] = countJSON(o.Count)
		}
	case Error:
		m["ename"], m["evalue"], m["traceback"] = o.ErrorName, o.ErrorValue, o.Traceback
	}
	return m
}

func with(extra map[string]any) map[string]any {
	m := make(map[string]any, len(extra)+6)
	maps.Copy(m, extra)
	return m
}

func nonNil(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

func countJSON(n int) any {
	if n == 0 {
		return nil
	}
	return n
}

// splitBundle turns text into lines for the types that nbformat splits.
func splitBundle(data map[string]any) map[string]any {
	m := make(map[string]any, len(data))
	for mime, v := range data {
		s, ok := v.(string)
		if ok && (strings.HasPrefix(mime, "text/") || mime == "application/javascript" || mime == "image/svg+xml") {
			m[mime] = splitLines(s)
		} else {
			m[mime] = v
		}
	}
	return m
}

// splitLines cuts text after each line end that Python's str.splitlines recognizes, as
// nbformat does.
func splitLines(s string) []string {
	lines := []string{}
	start, cr := 0, false
	for i, r := range s {
		if cr && r != '\n' {
			lines, start = append(lines, s[start:i]), i
		}
		cr = r == '\r'
		switch r {
		case '\n', '\v', '\f', '\x1c', '\x1d', '\x1e', '\u0085', '\u2028', '\u2029':
			end := i + len(string(r))
			lines, start = append(lines, s[start:end]), end
		}
	}
	if start < len(s) {
		lines = append(lines, s[start:])
	}
	return lines
}

// encode writes a JSON value in the layout of Python's json.dumps with indent 1
// and sorted keys. nl is a newline and the indent of the line on which the value
// starts.
func encode(b *strings.Builder, v any, nl string) error {
	switch v := v.(type) {
	case string:
		encodeString(b, v)
	case []string:
		return encodeList(b, v, nl)
	case []any:
		return encodeList(b, v, nl)
	case map[string]any:
		if len(v) == 0 {
			b.WriteString("{}")
			return nil
		}
		sep := "{"
		for _, key := range slices.Sorted(maps.Keys(v)) {
			b.WriteString(sep + nl + " ")
			encodeString(b, key)
			b.WriteString(": ")
			if err := encode(b, v[key], nl+" "); err != nil {
				return err
			}
			sep = ","
		}
		b.WriteString(nl + "}")
	default: // null, booleans and numbers look the same everywhere
		data, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if len(data) > 0 && (data[0] == '{' || data[0] == '[' || data[0] == '"') {
			return fmt.Errorf("cannot encode a %T, want a value that encoding/json decodes to", v)
		}
		b.Write(data)
	}
	return nil
}

func encodeList[T any](b *strings.Builder, list []T, nl string) error {
	if len(list) == 0 {
		b.WriteString("[]")
		return nil
	}
	sep := "["
	for _, v := range list {
		b.WriteString(sep + nl + " ")
		if err := encode(b, v, nl+" "); err != nil {
			return err
		}
		sep = ","
	}
	b.WriteString(nl + "]")
	return nil
}

var shortEscapes = map[rune]string{'"': `\"`, '\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '\f': `\f`, '\b': `\b`}

func encodeString(b *strings.Builder, s string) {
	b.WriteByte('"')
	for _, r := range s {
		if e, ok := shortEscapes[r]; ok {
			b.WriteString(e)
		} else if r < 0x20 {
			fmt.Fprintf(b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
}
