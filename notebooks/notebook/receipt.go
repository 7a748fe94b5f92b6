package notebook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"halfnote/internal/receipt"
	"halfnote/internal/text"
	"halfnote/kernel/client"
)

// receipt returns the receipt in a notebook, or nil if it has none.
func (nb *Notebook) receipt() (*receipt.Receipt, error) {
	text, err := json.Marshal(nb.Metadata)
	if err != nil {
		return nil, fmt.Errorf("notebook: the receipt: %w", err)
	}
	r, err := receipt.Read(text)
	if err != nil {
		return nil, fmt.Errorf("notebook: %w", err)
	}
	return r, nil
}

// setReceipt stores a receipt, or removes it if it is nil.
func (nb *Notebook) setReceipt(r *receipt.Receipt) error {
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
	made    receipt.Receipt
	against *receipt.Receipt // nil to make one
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
		source := receipt.Hash(c.Source)
		find := func(same func(r receipt.Entry) bool) int {
			if i := slices.IndexFunc(recorded[next:], same); i >= 0 {
				return next + i
			}
			return -1
		}
		at := find(func(r receipt.Entry) bool { return r.Source == source })
		if at < 0 {
			at = find(func(r receipt.Entry) bool { return r.ID == c.ID })
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
	p.made.Version, p.made.Release = receipt.Version, k.Info().ImplementationVersion
	return ask(ctx, k, "%hashes on", nil)
}

// starts prepares a cell that is about to run: hashing would lengthen the times that it shows.
func (p *keeper) starts(ctx context.Context, k *client.Kernel, c *Cell) error {
	if p == nil || !c.varies() {
		return nil
	}
	return ask(ctx, k, "%hashes off", nil)
}

// ran takes the hashes of a cell that has run, the nth from 0, and reports whether the run may go on.
func (p *keeper) ran(ctx context.Context, k *client.Kernel, n int, c *Cell) (goOn bool, err error) {
	if p == nil {
		return true, nil
	}
	if c.varies() {
		defer func() {
			if e := ask(ctx, k, "%hashes on", nil); err == nil {
				err = e
			}
		}()
	}
	r := receipt.Entry{ID: c.ID, Source: receipt.Hash(c.Source)}
	if p.against == nil {
		err := ask(ctx, k, "%hashes", &r.State)
		if c.varies() {
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
		if !list[n].varies() {
			c.Outputs = outputHashes(list[n])
		}
		c.Chain = c.Chained(chain)
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
			line, after, before := receipt.Parting(covered(c.Outputs[i]).Text, covered(old.Outputs[i]).Text)
			p.say(n, "output %d, line %d: %q; recorded %q", i+1, line, text.Cut(after, 80), text.Cut(before, 80))
			return
		}
		p.say(n, "output %d differs", i+1)
		return
	}
}

// varies reports whether a cell's outputs, operations and charts differ from run to run.
func (c *Cell) varies() bool { return c.HasTag(timing) || receipt.Compares(c.Source) }

// outputHashes returns a hash of each output.
func outputHashes(c *Cell) (list []string) {
	for _, o := range c.Outputs {
		list = append(list, covered(o).Hash())
	}
	return list
}

// covered returns what a receipt covers of an output. The data of charts count in the kernel.
func covered(o *Output) receipt.Output {
	switch o.Type {
	case DisplayData, ExecuteResult:
		s, _ := o.Data["text/plain"].(string)
		return receipt.Output{Text: s}
	case Error:
		return receipt.Output{Name: "error", Text: o.ErrorName + ": " + o.ErrorValue}
	}
	return receipt.Output{Name: o.Name, Text: o.Text}
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
