package notebook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"halfnote/internal/receipt"
	"halfnote/internal/text"
	"halfnote/kernel/client"
)

// A receipt stands in the notebook's metadata, under halfnote and receipt: what a run of the notebook computed, as hashes.
type notebookReceipt struct {
	Version int           `json:"version"` // receiptVersion
	Release string        `json:"release"` // version of halfnote
	Cells   []receiptCell `json:"cells"`   // the code cells that run, in order
}

// receiptVersion is the version of the form of receipts.
const receiptVersion = 1

// receiptCell is what a cell of a receipt holds. A cell tagged timing has no outputs, operations and charts in it: they depend on time.
type receiptCell struct {
	ID      string       `json:"id"`
	Source  string       `json:"source"`
	Outputs []string     `json:"outputs,omitempty"`
	State   receipt.Cell `json:"state"`
	Chain   string       `json:"chain"` // hash of the chain before, and of the fields above
}

// chained returns the chain of a cell after the one before.
func (c receiptCell) chained(before string) string {
	c.Chain = before
	text, _ := json.Marshal(c) // it has no values that JSON lacks
	return shortHash(string(text))
}

func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// receipt returns the receipt in a notebook, or nil if it has none.
func (nb *Notebook) receipt() (*notebookReceipt, error) {
	own, _ := nb.Metadata["halfnote"].(map[string]any)
	value, ok := own["receipt"]
	if !ok {
		return nil, nil
	}
	r := &notebookReceipt{}
	text, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(text, r)
	}
	if err == nil && r.Version != receiptVersion {
		err = fmt.Errorf("its form has version %d, and this halfnote reads version %d: make it again with halfnote run --receipt", r.Version, receiptVersion)
	}
	if err != nil {
		return nil, fmt.Errorf("notebook: the receipt: %w", err)
	}
	return r, nil
}

// setReceipt stores a receipt, or removes it if it is nil.
func (nb *Notebook) setReceipt(r *notebookReceipt) error {
	own, _ := nb.Metadata["halfnote"].(map[string]any)
	if own == nil {
		own = map[string]any{}
	}
	delete(own, "receipt")
	if r != nil {
		text, err := json.Marshal(r)
		var value any
		if err == nil {
			err = json.Unmarshal(text, &value)
		}
		if err != nil {
			return err
		}
		own["receipt"] = value
	}
	if nb.Metadata == nil {
		nb.Metadata = map[string]any{}
	}
	if nb.Metadata["halfnote"] = own; len(own) == 0 {
		delete(nb.Metadata, "halfnote")
	}
	return nil
}

// keeper makes a receipt of a run, or compares the run with one.
type keeper struct {
	made    notebookReceipt
	against *notebookReceipt // nil to make one
	before  []*Cell          // cells with the outputs of the file, which the run replaces
	at      []int            // for each cell that runs, its index in against.Cells, or -1
	said    map[int][]string // differences by the number of a cell, from 0
	same    bool             // the results of all cells are the recorded ones
}

// hashesType is the MIME type in which the kernel answers to %hashes.
const hashesType = "application/vnd.halfnote.hashes+json"

// errNoHashes is the error of a kernel that does not answer to %hashes.
var errNoHashes = errors.New("notebook: this kernel has no hashes for a receipt; want halfnote's")

// ask sends a line to the kernel as an expression of a silent cell, and decodes its answer into value unless that is nil.
func ask(ctx context.Context, k *client.Kernel, line string, value any) error {
	r, err := k.Execute(ctx, "", client.ExecuteOptions{Silent: true, ContinueOnError: true, UserExpressions: map[string]string{"hashes": line}}, nil)
	if err != nil {
		return err
	}
	var answer struct {
		Status string                     `json:"status"`
		Value  string                     `json:"evalue"`
		Data   map[string]json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(r.UserExpressions["hashes"], &answer); err != nil || answer.Status != "ok" {
		return errors.Join(errNoHashes, errors.New(answer.Value))
	}
	if value == nil {
		return nil
	}
	data, ok := answer.Data[hashesType]
	if !ok {
		return errNoHashes
	}
	return json.Unmarshal(data, value)
}

// newKeeper returns the keeper of a run of a notebook. It compares with the receipt of the notebook if verify is set.
func newKeeper(nb *Notebook, verify bool) (*keeper, error) {
	p := &keeper{said: map[int][]string{}, same: true}
	if !verify {
		return p, nil
	}
	var err error
	if p.against, err = nb.receipt(); err != nil {
		return nil, err
	}
	if p.against == nil {
		return nil, errors.New("notebook: it has no receipt; halfnote run --receipt makes one")
	}
	chain := ""
	for i, c := range p.against.Cells {
		if chain = c.chained(chain); chain != c.Chain {
			return nil, fmt.Errorf("notebook: the receipt has been changed: its hashes of cell %d do not fit the chain", i+1)
		}
	}
	list := nb.CodeCells()
	for _, c := range list {
		copied := *c
		p.before = append(p.before, &copied)
	}
	p.align(list)
	return p, nil
}

// align finds the recorded cell of each cell: the next one with its source, or else with its id. A cell without one is new.
func (p *keeper) align(list []*Cell) {
	recorded, next := p.against.Cells, 0
	for n, c := range list {
		source := shortHash(c.Source)
		find := func(same func(r receiptCell) bool) int {
			if i := slices.IndexFunc(recorded[next:], same); i >= 0 {
				return next + i
			}
			return -1
		}
		at := find(func(r receiptCell) bool { return r.Source == source })
		if at < 0 {
			at = find(func(r receiptCell) bool { return r.ID == c.ID })
		}
		if at >= 0 {
			if at > next {
				p.say(n, "%s of the receipt before this one %s missing in the notebook", text.Count(at-next, "cell"), isAre(at-next))
			}
			if recorded[at].Source != source {
				p.say(n, "the source of the cell differs")
			}
			next = at + 1
		} else if twin := slices.IndexFunc(list[:n], func(earlier *Cell) bool { return earlier.Source == c.Source }); twin >= 0 {
			p.say(n, "the cell is not in the receipt; it runs the source of In[%d] again", twin+1)
		} else {
			p.say(n, "the cell is not in the receipt")
		}
		p.at = append(p.at, at)
	}
	if missing := len(recorded) - next; missing > 0 {
		p.say(len(list)-1, "%s of the receipt after this one %s missing in the notebook", text.Count(missing, "cell"), isAre(missing))
	}
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func (p *keeper) say(n int, format string, args ...any) {
	p.said[n] = append(p.said[n], fmt.Sprintf(format, args...))
}

// begin makes the kernel collect hashes.
func (p *keeper) begin(ctx context.Context, k *client.Kernel) error {
	if p == nil {
		return nil
	}
	p.made.Version, p.made.Release = receiptVersion, k.Info().ImplementationVersion
	return ask(ctx, k, "%hashes on", nil)
}

// ran takes the hashes of a cell that has run, the nth from 0, and reports whether the run may go on.
func (p *keeper) ran(ctx context.Context, k *client.Kernel, n int, c *Cell) (goOn bool, err error) {
	if p == nil {
		return true, nil
	}
	r := receiptCell{ID: c.ID, Source: shortHash(c.Source)}
	if p.against == nil {
		err := ask(ctx, k, "%hashes", &r.State)
		if c.HasTag(timing) {
			r.State.Timed, r.State.Trail, r.State.Figures = true, receipt.Trail{}, nil
		}
		p.made.Cells = append(p.made.Cells, r)
		return true, err
	}
	p.made.Cells = append(p.made.Cells, r)
	if p.at[n] < 0 {
		return true, ask(ctx, k, "%hashes", nil)
	}
	recorded, err := json.Marshal(p.against.Cells[p.at[n]].State)
	if err != nil {
		return false, err
	}
	var list []string
	err = ask(ctx, k, "%hashes against "+string(recorded), &list)
	p.said[n] = append(p.said[n], list...)
	p.same = p.same && len(list) == 0
	return len(list) == 0, err
}

// finish completes the receipt with the outputs of the cells that have run, or compares them.
func (p *keeper) finish(nb *Notebook) error {
	list, chain := nb.CodeCells(), ""
	for n := range p.made.Cells {
		c := &p.made.Cells[n]
		if !list[n].HasTag(timing) {
			c.Outputs = outputHashes(list[n])
		}
		c.Chain = c.chained(chain)
		chain = c.Chain
		if p.against != nil && p.at[n] >= 0 {
			p.compareOutputs(n, list[n], p.against.Cells[p.at[n]].Outputs, c.Outputs)
		}
	}
	if p.against != nil {
		return nil
	}
	return nb.setReceipt(&p.made)
}

// compareOutputs compares a cell's outputs with the recorded ones, and shows the text of the first that differs if the file has the recorded text.
func (p *keeper) compareOutputs(n int, c *Cell, was, now []string) {
	p.same = p.same && slices.Equal(was, now)
	for i := range max(len(was), len(now)) {
		switch {
		case i >= len(now) || i >= len(was):
			p.say(n, "%s; recorded %d", text.Count(len(now), "output"), len(was))
			return
		case was[i] == now[i]:
			continue
		}
		old := p.before[n]
		if hashes := outputHashes(old); i < len(hashes) && hashes[i] == was[i] {
			before, after := strings.Split(comparable(old.Outputs[i]), "\n"), strings.Split(comparable(c.Outputs[i]), "\n")
			for k := range max(len(before), len(after)) {
				if line := func(list []string) string { return strings.Join(list[min(k, len(list)):min(k+1, len(list))], "") }; line(before) != line(after) {
					p.say(n, "output %d, line %d: %q; recorded %q", i+1, k, text.Cut(line(after), 80), text.Cut(line(before), 80))
					return
				}
			}
		}
		p.say(n, "output %d differs", i+1)
		return
	}
}

// outputHashes returns a hash of each output.
func outputHashes(c *Cell) (list []string) {
	for _, o := range c.Outputs {
		list = append(list, shortHash(comparable(o)))
	}
	return list
}

// comparable returns the text of an output that a receipt covers: its kind in the first line, then streams, errors and plain text. Pictures and HTML show the same
// values; their bytes depend on libraries. The data of charts count in the kernel.
func comparable(o *Output) string {
	s := o.Text
	switch o.Type {
	case DisplayData, ExecuteResult:
		s, _ = o.Data["text/plain"].(string)
	case Error:
		s = o.ErrorName + ": " + o.ErrorValue
	}
	return strings.TrimSpace(o.Type+" "+o.Name) + "\n" + s
}

// Difference is the error of a run that differs from the receipt of its notebook.
type Difference struct {
	// Lines are the differences, cell by cell, up to the first cell whose results differ.
	Lines []string
}

func (d *Difference) Error() string {
	return text.Count(len(d.Lines), "difference") + " from the receipt: " + d.Lines[0]
}

// difference returns the differences, or nil.
func (p *keeper) difference() *Difference {
	var lines []string
	for n := range p.before {
		for _, s := range p.said[n] {
			lines = append(lines, fmt.Sprintf("In[%d]: %s", n+1, s))
		}
	}
	if lines == nil {
		return nil
	}
	return &Difference{lines}
}
