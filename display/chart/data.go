package chart

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"halfnote/internal/save"
)

// Data returns all numbers of the figure as CSV (RFC 4180) with a header line.
func (f *Figure) Data() string {
	var b strings.Builder
	f.WriteCSV(&b) // a strings.Builder returns no error
	return b.String()
}

// all returns the names of the columns of the figure's data, which differ, and its rows.
func (f *Figure) all() (head []string, rows [][]any) {
	head, rows = f.head, f.rows
	if f.data != nil {
		head, rows = f.data()
	}
	head = slices.Clone(head)
	for i, name := range head {
		if name == "" {
			name = words.headValue
		}
		head[i] = name
		for n := 2; slices.Contains(head[:i], head[i]); n++ {
			head[i] = fmt.Sprint(name, " ", n)
		}
	}
	return head, rows
}

var errNoWriter = errors.New("chart: write: the writer is nil; want an io.Writer")

// WriteCSV writes all numbers of the figure to w as CSV (RFC 4180) with a header line.
func (f *Figure) WriteCSV(w io.Writer) error {
	if w == nil {
		return errNoWriter
	}
	head, rows := f.all()
	c := csv.NewWriter(w)
	c.Write(head)
	for _, r := range rows {
		line := make([]string, len(r))
		for i, v := range r {
			if v != nil {
				line[i] = fmt.Sprint(v)
			}
		}
		c.Write(line)
	}
	c.Flush()
	return c.Error()
}

// WriteJSON writes all numbers of the figure to w as an array with an object for each row. Its keys
// are the columns of WriteCSV in their order. A number that is not finite becomes null.
func (f *Figure) WriteJSON(w io.Writer) error {
	if w == nil {
		return errNoWriter
	}
	head, rows := f.all()
	var b bytes.Buffer
	b.WriteByte('[')
	for i, r := range rows {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n {")
		for j, v := range r {
			if j == len(head) {
				break
			}
			if j > 0 {
				b.WriteString(", ")
			}
			b.Write(jsonText(head[j]))
			b.WriteString(": ")
			b.Write(jsonText(v))
		}
		b.WriteByte('}')
	}
	b.WriteString("\n]\n")
	_, err := w.Write(b.Bytes())
	return err
}

// jsonText returns the JSON text of a number, bool or string, and null for a number that JSON lacks.
func jsonText(v any) []byte {
	switch x := v.(type) {
	case float64:
		v = jsonNumber(x)
	case nil, bool, int, string:
	default:
		v = fmt.Sprint(v)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(v) // these types can be encoded
	return bytes.TrimSpace(b.Bytes())
}

// Save writes the figure to a file, in the format that the end of path names: .png, .svg or .html
// for the picture, .csv or .json for its data. It is matplotlib.pyplot.savefig.
func (f *Figure) Save(path string) error {
	var b bytes.Buffer
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".png":
		b.Write(f.PNG())
	case ".svg":
		b.Write(f.SVG())
	case ".html":
		b.WriteString(f.HTML())
	case ".csv":
		f.WriteCSV(&b) // a bytes.Buffer returns no error
	case ".json":
		f.WriteJSON(&b)
	default:
		return fmt.Errorf("chart: save %q: want a file name that ends in .png, .svg, .html, .csv or .json", path)
	}
	return save.Text(path, b.Bytes())
}
