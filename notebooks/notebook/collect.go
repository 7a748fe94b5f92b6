package notebook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"

	"halfnote/internal/text"
)

// collector turns the messages of a kernel into outputs of cells, by the rules of
// nbclient, with one difference: it joins only adjacent outputs of one stream, so text
// printed before and after a displayed value stays apart.
type collector struct {
	mu    sync.Mutex
	areas map[string]*area     // keyed by the id of the execute request
	shown map[string][]*Output // keyed by display_id, of all cells
	line  string               // see live
	lines string               // display_id of the output with that line
}

// area is the output area of one cell.
type area struct {
	cell  *Cell
	clear bool                         // whether the next output clears the area
	raw   map[*Output]*strings.Builder // streams before \r and \b are applied
	err   error                        // first malformed message
}

func newCollector() *collector {
	return &collector{areas: map[string]*area{}, shown: map[string][]*Output{}}
}

// start empties a cell, for the outputs of a request.
func (c *collector) start(request string, cell *Cell) {
	c.mu.Lock()
	defer c.mu.Unlock()
	cell.Outputs, cell.Count = nil, 0
	c.line, c.lines = "", ""
	c.areas[request] = &area{cell: cell, raw: map[*Output]*strings.Builder{}}
}

// count sets a cell's count, if the kernel sent one. always replaces one that is known.
func (c *collector) count(cell *Cell, n int, always bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n > 0 && (always || cell.Count == 0) {
		cell.Count = n
	}
}

// message takes an iopub message that answers a request. Messages of requests
// that were not started here are dropped.
func (c *collector) message(request, kind string, content []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.areas[request]
	if a == nil {
		return
	}
	if err := c.add(a, kind, content); err != nil && a.err == nil {
		a.err = fmt.Errorf("the kernel sent a malformed %s message: %w", kind, err)
	}
}

// live returns the current text of the last output that may change, if it is one line, else "".
func (c *collector) live() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.line
}

// err returns the first malformed message of a request.
func (c *collector) err(request string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a := c.areas[request]; a != nil {
		return a.err
	}
	return nil
}

func (c *collector) add(a *area, kind string, content []byte) error {
	switch kind {
	case "execute_input", "clear_output", Stream, DisplayData, ExecuteResult, Error, "update_display_data":
	default:
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(content))
	dec.UseNumber()
	f := fields{m: map[string]any{}}
	if err := dec.Decode(&f.m); err != nil {
		return err
	}
	switch kind {
	case "execute_input":
		a.cell.Count = f.int("execution_count")
		return f.err
	case "clear_output":
		if a.clear = f.take("wait") == true; !a.clear {
			a.cell.Outputs = nil
		}
		return nil
	}
	transient := fields{m: f.object("transient")}
	id := transient.text("display_id")
	f.check(transient.err)
	if f.err != nil {
		return f.err
	}
	f.m["output_type"] = kind
	if kind == "update_display_data" {
		f.m["output_type"] = DisplayData
	}
	out, err := outputFromJSON(f.m)
	if err != nil {
		return err
	}
	out.extra = nil // the format does not store it
	if kind == DisplayData && id != "" {
		c.lines = id
	}
	if text, _ := out.Data["text/plain"].(string); id != "" && id == c.lines {
		if c.line = text; strings.Contains(text, "\n") {
			c.line = ""
		}
	}
	for _, o := range c.shown[id] {
		o.Data, o.Metadata = maps.Clone(out.Data), maps.Clone(out.Metadata)
	}
	if kind == "update_display_data" {
		return nil
	}
	if a.clear {
		a.cell.Outputs, a.clear = nil, false
	}
	if id != "" {
		c.shown[id] = append(c.shown[id], out)
	}
	a.append(out)
	return nil
}

func (a *area) append(out *Output) {
	if out.Type != Stream {
		a.cell.Outputs = append(a.cell.Outputs, out)
		return
	}
	n := len(a.cell.Outputs)
	if n == 0 || a.cell.Outputs[n-1].Type != Stream || a.cell.Outputs[n-1].Name != out.Name {
		a.cell.Outputs = append(a.cell.Outputs, out)
		a.raw[out] = &strings.Builder{}
		n++
	}
	a.raw[a.cell.Outputs[n-1]].WriteString(out.Text)
}

// settle applies control characters to the streams' text.
func (c *collector) settle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.areas {
		for out, raw := range a.raw {
			out.Text = text.Overwritten(raw.String())
		}
	}
}

// finish applies control characters and makes the collector drop later messages.
func (c *collector) finish() {
	c.settle()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.areas = nil
}
