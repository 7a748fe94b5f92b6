package diagnose

import (
	"errors"
	"fmt"
	"slices"

	"halfnote/amp/trace"
	"halfnote/internal/receipt"
	"halfnote/internal/text"
)

// Parting is where two recordings part.
type Parting struct {
	// Op is the number of the first operation that differs, from 0, or -1 if all are equal.
	Op int
	// A and B are that operation in both recordings; nil in one that has ended before.
	A, B *trace.OpRecord
	// Operand is the first operand that no operation has computed and that differs already, such as a weight or a batch. It is -1 if all such operands agree.
	Operand int
	// Why is a sentence on what differs: the operation, its dtypes and shapes, an operand, or elements of the result.
	Why string

	ops int // operations of the longer recording
}

// FirstDifference returns where two recordings of [trace.Hashes] part: the first operation that is another, or whose result has other bits, with its module, its line and
// the elements. The recordings may be of other runs, seeds, dtypes, versions or machines, and come from files: [trace.Open]. Hashes narrow the elements down to one if
// it alone differs, or if there are at most 16; otherwise to a sixteenth of them. NaNs are equal. Views are not compared: their elements are those of their operands.
// The error says which recording has no hashes. It is what log_tensor_hashes of torch.utils._debug_mode is read for.
func FirstDifference(a, b *trace.Recorder) (*Parting, error) {
	if a == nil || b == nil {
		return nil, errors.New("diagnose: first_difference: a recording is nil; want two of trace.Start(trace.Hashes())")
	}
	ops, others := a.Ops(), b.Ops()
	for i, list := range [][]trace.OpRecord{ops, others} {
		if k := slices.IndexFunc(list, func(op trace.OpRecord) bool { return op.Hash == "" }); k >= 0 {
			return nil, fmt.Errorf("diagnose: first_difference: operation %d of recording %d has no hash; want recordings of trace.Start(trace.Hashes())", k, i+1)
		}
	}
	p := &Parting{Op: -1, Operand: -1, ops: max(len(ops), len(others))}
	for i := range min(len(ops), len(others)) {
		if p.compare(&ops[i], &others[i]); p.Why != "" {
			p.Op, p.A, p.B = i, &ops[i], &others[i]
			return p, nil
		}
	}
	switch n := min(len(ops), len(others)); {
	case n < len(ops):
		p.Op, p.A, p.Why = n, &ops[n], "the second recording has ended before"
	case n < len(others):
		p.Op, p.B, p.Why = n, &others[n], "the first recording has ended before"
	}
	return p, nil
}

// compare sets Why and Operand if two operations differ.
func (p *Parting) compare(a, b *trace.OpRecord) {
	switch {
	case a.Name != b.Name || a.Of != b.Of:
		p.Why = fmt.Sprintf("%s in the first recording, %s in the second", opName(a), opName(b))
	case a.Computed != b.Computed || a.Out != b.Out:
		p.Why = fmt.Sprintf("computed in %v with a result in %v in the first recording, in %v with one in %v in the second", a.Computed, a.Out, b.Computed, b.Out)
	case !slices.Equal(a.Shape, b.Shape):
		p.Why = fmt.Sprintf("the result is %v in the first recording, %v in the second", a.Shape, b.Shape)
	}
	if p.Why != "" {
		return
	}
	for i := range min(len(a.InHashes), len(b.InHashes)) {
		if a.InHashes[i] != "" && b.InHashes[i] != "" {
			if why := elements(a.InHashes[i], b.InHashes[i]); why != "" {
				p.Operand, p.Why = i, fmt.Sprintf("operand %d differs already: %s", i, why)
				return
			}
		}
	}
	if why := elements(a.Hash, b.Hash); why != "" {
		p.Why = "equal operands, another result: " + why
	}
}

func opName(op *trace.OpRecord) string {
	if op.Of != "" {
		return op.Name + " of the derivative of " + op.Of
	}
	return op.Name
}

// elements says how the tensor of the second hash differs from that of the first.
func elements(first, second string) string {
	a, err := receipt.Parse(first)
	b, err2 := receipt.Parse(second)
	if err != nil || err2 != nil {
		return errors.Join(err, err2).Error()
	}
	return b.Against(a, nil)
}

// String returns a sentence: the number, the name, the module and the line of the operation, and what differs.
func (p *Parting) String() string {
	op := p.A
	switch {
	case p.Op < 0:
		return fmt.Sprintf("no difference in %s", text.Count(p.ops, "operation"))
	case op == nil:
		op = p.B
	}
	s := fmt.Sprintf("operation %d, %s", p.Op, opName(op))
	if op.Module != "" {
		s += " in module " + op.Module
	}
	if op.Source != "" {
		s += " (" + op.Source + ")"
	}
	return fmt.Sprintf("%s, step %d: %s", s, op.Step, p.Why)
}
