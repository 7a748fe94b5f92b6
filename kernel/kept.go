package kernel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Limits on the kept outputs. A cell with more output loses its oldest; beyond the others, the
// oldest cells are forgotten.
const (
	maxKeptCell   = 8 << 20         // bytes of one cell
	maxKeptMemory = 32 << 20        // bytes in memory
	maxRecent     = 100             // cells in memory, whose outputs may still change
	saveEvery     = 2 * time.Second // between two writes of one cell
)

// kept keeps the outputs of cells: those of recent cells in memory, where output that arrives late
// changes them, and all of them next to the history.
type kept struct {
	history History
	stored  KeptOutputs // of the same history

	mu      sync.Mutex
	cells   []*keptCell // recent cells, oldest first
	size    int
	waiting bool // flush is due
}

// keptCell holds the outputs of one cell. The mutex of kept guards it.
type keptCell struct {
	all      *kept
	line     int
	id       string // id of the notebook's cell; "" if the front end does not send it
	source   string
	request  string // msg_id of the cell's request
	session  string // its session
	began    time.Time
	took     time.Duration // 0 until the cell has ended
	items    []*keptItem
	size     int
	dropped  int  // bytes of output that exceeded the limit
	cleared  bool // the outputs were cleared in the front end
	clearing bool // clear_output is due at the next output
	changed  bool // has changes that are not on disk
	saved    bool
	gone     bool // no longer in memory
}

// keptItem is one output: text of a stream, or the content of another output.
type keptItem struct {
	stream  string // "stdout" or "stderr"
	text    []byte
	kind    string // nbformat's output_type, for output that is not a stream
	content object
	id      string // display_id
	size    int
}

// start begins to keep the outputs of a cell.
func (k *kept) start(line int, source string, r *request) *keptCell {
	if k == nil {
		return nil
	}
	var metadata struct {
		CellID string `json:"cellId"` // JupyterLab's
	}
	json.Unmarshal(r.Metadata, &metadata) // it is optional
	c := &keptCell{all: k, line: line, id: metadata.CellID, source: source, request: r.Header.ID, session: r.Header.Session, began: time.Now()}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.cells = append(k.cells, c)
	k.forget()
	return c
}

// forget removes the oldest cells from memory. mu must be held.
func (k *kept) forget() {
	for len(k.cells) > maxRecent || len(k.cells) > 1 && k.size > maxKeptMemory {
		c := k.cells[0]
		c.save()
		c.gone = true
		k.size -= c.size
		k.cells = slices.Delete(k.cells, 0, 1)
	}
}

// print keeps text of a stream.
func (c *keptCell) print(stream, text string) {
	if c == nil || text == "" {
		return
	}
	c.all.mu.Lock()
	defer c.all.mu.Unlock()
	if c.gone {
		return
	}
	c.clear(false)
	if n := len(c.items); n > 0 && c.items[n-1].stream == stream {
		i := c.items[n-1]
		i.text = append(i.text, text...)
		i.size += len(text)
	} else {
		c.items = append(c.items, &keptItem{stream: stream, text: []byte(text), size: len(text)})
	}
	c.grow(len(text))
	c.all.forget()
}

// say keeps any other message of the cell.
func (c *keptCell) say(msgType string, content object) {
	if c == nil {
		return
	}
	c.all.mu.Lock()
	defer c.all.mu.Unlock()
	if c.gone {
		return
	}
	switch msgType {
	case "clear_output":
		c.clearing = true
		if wait, _ := content["wait"].(bool); !wait {
			c.clear(true)
		}
	case "update_display_data":
		c.all.update(newItem("display_data", content))
	case "display_data", "execute_result", "error":
		c.clear(false)
		i := newItem(msgType, content)
		c.items = append(c.items, i)
		c.grow(i.size)
	}
	c.all.forget()
}

func newItem(kind string, content object) *keptItem {
	i := &keptItem{kind: kind, content: object{}}
	for name, v := range content {
		if name == "transient" {
			t, _ := v.(object)
			i.id, _ = t["display_id"].(string)
			continue
		}
		i.content[name] = v
	}
	for _, part := range []any{content["data"], content["metadata"]} {
		m, _ := part.(object)
		for _, v := range m {
			raw, _ := v.(json.RawMessage)
			i.size += len(raw)
		}
	}
	return i
}

// update replaces the displays with the display_id of i, in any recent cell. mu must be held.
func (k *kept) update(i *keptItem) {
	if i.id == "" {
		return
	}
	for _, c := range k.cells {
		for _, old := range c.items {
			if old.id == i.id {
				grown := i.size - old.size
				old.content["data"], old.content["metadata"], old.size = i.content["data"], i.content["metadata"], i.size
				c.grow(grown)
			}
		}
	}
}

// clear removes the outputs if a clear_output is due. If now is set, no output follows.
func (c *keptCell) clear(now bool) {
	if !c.clearing {
		return
	}
	c.clearing = false
	c.all.size -= c.size
	c.items, c.size, c.dropped = nil, 0, 0
	if now {
		c.grow(0)
	}
}

// grow counts n more bytes, drops the oldest output beyond the limit, and schedules a save. It
// drops a quarter more than it must, so that long output is seldom moved.
func (c *keptCell) grow(n int) {
	c.size += n
	c.all.size += n
	if c.size > maxKeptCell {
		c.trim(maxKeptCell / 4 * 3)
	}
	c.changed = true
	if !c.all.waiting {
		c.all.waiting = true
		time.AfterFunc(saveEvery, c.all.flush)
	}
}

// trim drops the oldest output until at most limit bytes are left.
func (c *keptCell) trim(limit int) {
	before := c.size
	for c.size > limit && len(c.items) > 0 {
		i := c.items[0]
		over := c.size - limit
		if i.stream != "" && i.size > over {
			if line := bytes.IndexByte(i.text[over:], '\n'); line >= 0 && over+line+1 < len(i.text) {
				over += line + 1
			}
			i.text = bytes.Clone(i.text[over:])
			i.size -= over
			c.size -= over
			break
		}
		c.items = slices.Delete(c.items, 0, 1)
		c.size -= i.size
	}
	c.dropped += before - c.size
	c.all.size -= before - c.size
}

// end records that the cell has ended, and saves its outputs.
func (c *keptCell) end() {
	if c == nil {
		return
	}
	c.all.mu.Lock()
	defer c.all.mu.Unlock()
	c.took, c.changed = max(time.Since(c.began), 1), true
	c.save()
}

// save passes the outputs to the history, which writes them. mu must be held.
func (c *keptCell) save() {
	if !c.changed || c.gone || len(c.items) == 0 && !c.saved {
		return
	}
	c.changed, c.saved = false, true
	k := KeptCell{Took: c.took}
	for _, i := range c.items {
		switch {
		case i.stream != "":
			k.Lines += bytes.Count(i.text, []byte("\n"))
		case i.kind == "error":
			k.Failed, _ = i.content["ename"].(string)
		default:
			k.Displays++
		}
	}
	c.all.history.Put(Entry{Count: c.line, Kind: OutputsOf, Text: string(mustEncode(c.outputs())), CellID: c.id, Kept: k})
}

// outputs returns the outputs as a notebook holds them (nbformat 4).
func (c *keptCell) outputs() []object {
	list := []object{}
	if c.dropped > 0 {
		list = append(list, object{"output_type": "stream", "name": "stderr", "text": fmt.Sprintf("%d bytes of earlier output were not kept\n", c.dropped)})
	}
	for _, i := range c.items {
		if i.stream != "" {
			list = append(list, object{"output_type": "stream", "name": i.stream, "text": string(bytes.ToValidUTF8(i.text, []byte("\uFFFD")))})
			continue
		}
		o := object{"output_type": i.kind}
		for name, v := range i.content {
			o[name] = v
		}
		if i.id != "" {
			o["transient"] = object{"display_id": i.id}
		}
		list = append(list, o)
	}
	return list
}

// flush saves all changes.
func (k *kept) flush() {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.waiting = false
	for _, c := range k.cells {
		c.save()
	}
}

// The methods of [KeptOutputs], which find the changes of this kernel too.

func (k *kept) Cells(back int) ([]KeptCell, error) {
	k.flush()
	return k.stored.Cells(back)
}

func (k *kept) Sources(back int) ([]KeptCell, error) {
	k.flush()
	return k.stored.Sources(back)
}

func (k *kept) Outputs(back, count int) ([]KeptOutput, error) {
	k.flush()
	return k.stored.Outputs(back, count)
}
