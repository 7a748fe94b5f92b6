package notebook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"unicode/utf8"
)

// Read reads a notebook of format 4.0 to 4.5 and converts it to 4.5: every cell
// gets an id. Fields that the format does not define are kept. Fields that must not be
// stored (orig_nbformat, signature, a cell's trusted) are dropped, as nbformat does. The
// error names the cell and the field that are wrong.
func Read(r io.Reader) (*Notebook, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("notebook: read: %w", err)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errors.New("notebook: read: the file is empty, want a notebook in JSON")
	}
	if !utf8.Valid(data) {
		return nil, errors.New("notebook: read: the file is not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var top any
	if err := dec.Decode(&top); err != nil {
		return nil, fmt.Errorf("notebook: read: not JSON: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("notebook: read: text after the notebook's closing brace, at byte %d; want one JSON object", dec.InputOffset())
	}
	nb, err := fromJSON(top)
	if err != nil {
		return nil, fmt.Errorf("notebook: read: %w", err)
	}
	return nb, nil
}

func fromJSON(top any) (*Notebook, error) {
	m, ok := top.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("got %s, want an object with nbformat and cells", kind(top))
	}
	f := fields{m: m}
	if err := checkVersion(&f); err != nil {
		return nil, err
	}
	nb := &Notebook{Metadata: f.object("metadata")}
	for _, transient := range []string{"orig_nbformat", "orig_nbformat_minor", "signature"} {
		delete(nb.Metadata, transient)
	}
	cells := f.list("cells")
	nb.extra = f.rest()
	if f.err != nil {
		return nil, f.err
	}
	for i, c := range cells {
		cell, err := cellFromJSON(c)
		if err != nil {
			return nil, fmt.Errorf("cell %d: %w", i+1, err)
		}
		nb.Cells = append(nb.Cells, cell)
	}
	nb.giveIDs()
	return nb, nil
}

func checkVersion(f *fields) error {
	if _, ok := f.m["nbformat"]; !ok {
		return errors.New("no field nbformat: the file is not a notebook")
	}
	major, minor := f.int("nbformat"), f.int("nbformat_minor")
	switch {
	case f.err != nil:
		return f.err
	case major < 4:
		return fmt.Errorf("nbformat %d.%d, want 4.0 to 4.5: convert it with `jupyter nbconvert --to notebook --nbformat 4 FILE`", major, minor)
	case major > 4 || minor > 5:
		return fmt.Errorf("nbformat %d.%d is newer than 4.5, the newest known: save it as 4.5", major, minor)
	}
	return nil
}

func cellFromJSON(v any) (*Cell, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("got %s, want an object", kind(v))
	}
	f := fields{m: m}
	c := &Cell{Type: f.text("cell_type"), ID: f.text("id"), Source: f.text("source"), Metadata: f.object("metadata")}
	delete(c.Metadata, "trusted")
	if _, ok := m["attachments"]; ok {
		c.Attachments = map[string]map[string]any{}
		all := fields{m: f.object("attachments")}
		for name := range maps.Clone(all.m) {
			c.Attachments[name] = joinBundle(all.object(name))
		}
		f.check(all.err)
	}
	var outputs []any
	switch c.Type {
	case Code:
		c.Count = f.int("execution_count")
		outputs = f.list("outputs")
	case Markdown, Raw:
	default:
		f.check(fmt.Errorf("cell_type %q, want code, markdown or raw", c.Type))
	}
	c.extra = f.rest()
	if f.err != nil {
		return nil, f.err
	}
	for i, o := range outputs {
		out, err := outputFromJSON(o)
		if err != nil {
			return nil, fmt.Errorf("output %d: %w", i+1, err)
		}
		c.Outputs = append(c.Outputs, out)
	}
	return c, nil
}

func outputFromJSON(v any) (*Output, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("got %s, want an object", kind(v))
	}
	f := fields{m: m}
	o := &Output{Type: f.text("output_type")}
	switch o.Type {
	case Stream:
		o.Name, o.Text = f.text("name"), f.text("text")
	case DisplayData, ExecuteResult:
		o.Data, o.Metadata = joinBundle(f.object("data")), f.object("metadata")
		if o.Type == ExecuteResult {
			o.Count = f.int("execution_count")
		}
	case Error:
		o.ErrorName, o.ErrorValue, o.Traceback = f.text("ename"), f.text("evalue"), f.lines("traceback")
	case "":
		f.check(errors.New("no output_type"))
	}
	o.extra = f.rest()
	return o, f.err
}

// joinBundle joins, in place, text that the file holds as a list of lines. A list under a
// JSON type is not changed.
func joinBundle(data map[string]any) map[string]any {
	for mime, v := range data {
		if list, ok := v.([]any); ok && !isJSONType(mime) {
			if lines, ok := stringsOf(list); ok {
				data[mime] = strings.Join(lines, "")
			}
		}
	}
	return data
}

func isJSONType(mime string) bool {
	return mime == "application/json" || strings.HasPrefix(mime, "application/") && strings.HasSuffix(mime, "+json")
}

// fields takes fields out of a JSON object and keeps the first error. The fields that were
// not taken are the rest. A missing field has its zero value.
type fields struct {
	m   map[string]any
	err error
}

func (f *fields) check(err error) {
	if f.err == nil {
		f.err = err
	}
}

func (f *fields) take(name string) any {
	v := f.m[name]
	delete(f.m, name)
	return v
}

func (f *fields) wrong(name string, v any, want string) {
	f.check(fmt.Errorf("%s: got %s, want %s", name, kind(v), want))
}

// text takes a string, or a list of lines, which it joins.
func (f *fields) text(name string) string {
	switch v := f.take(name).(type) {
	case nil:
	case string:
		return v
	case []any:
		if lines, ok := stringsOf(v); ok {
			return strings.Join(lines, "")
		}
		f.wrong(name, v, "only strings in the list")
	default:
		f.wrong(name, v, "a string or a list of strings")
	}
	return ""
}

func (f *fields) lines(name string) []string {
	v := f.take(name)
	list, ok := v.([]any)
	if ok || v == nil {
		if lines, ok := stringsOf(list); ok {
			return lines
		}
	}
	f.wrong(name, v, "a list of strings")
	return nil
}

func (f *fields) list(name string) []any {
	v := f.take(name)
	list, ok := v.([]any)
	if !ok && v != nil {
		f.wrong(name, v, "a list")
	}
	return list
}

// object takes a JSON object. Its result is never nil.
func (f *fields) object(name string) map[string]any {
	v := f.take(name)
	if m, ok := v.(map[string]any); ok {
		return m
	}
	if v != nil {
		f.wrong(name, v, "an object")
	}
	return map[string]any{}
}

func (f *fields) int(name string) int {
	v := f.take(name)
	if v == nil {
		return 0
	}
	if n, ok := v.(json.Number); ok {
		if i, err := n.Int64(); err == nil && i >= 0 && i == int64(int(i)) {
			return int(i)
		}
	}
	f.wrong(name, v, "a whole number of at least 0")
	return 0
}

func (f *fields) rest() map[string]any {
	if len(f.m) == 0 {
		return nil
	}
	return f.m
}

func stringsOf(list []any) ([]string, bool) {
	lines := make([]string, len(list))
	for i, v := range list {
		s, ok := v.(string)
		if !ok {
			return nil, false
		}
		lines[i] = s
	}
	return lines, true
}

// kind names a JSON value for an error message.
func kind(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case json.Number:
		return "the number " + v.String()
	case string:
		return "a string"
	case []any:
		return "a list"
	}
	return "an object"
}
