package trace

import (
	"halfnote/internal/receipt"
	"halfnote/tensor"
)

// hasher hashes results of operations.
type hasher struct {
	made map[int]struct{} // IDs of tensors that operations have computed, and of views of these
	ops  int
}

// hashed holds digests for an operation: of its result, and of operands that no operation has computed.
type hashed struct {
	out receipt.Digest
	in  []receipt.Digest // without dtype for others; nil if there are only others
}

// event returns the digests for an operation, or nil after MaxOps operations.
func (h *hasher) event(e *tensor.Event) *hashed {
	if e.View {
		if _, ok := h.made[e.In[0].ID]; ok {
			h.made[e.Out.ID] = struct{}{}
		}
		return nil
	}
	if h.ops >= MaxOps {
		return nil
	}
	if !e.InCast {
		h.ops++
	}
	d := &hashed{}
	for i, x := range e.Operands {
		if _, ok := h.made[x.ID()]; ok || e.InPlace && i == 0 {
			continue
		}
		if d.in == nil {
			d.in = make([]receipt.Digest, len(e.Operands))
		}
		d.in[i] = digestOf(x)
	}
	d.out = digestOf(e.Result)
	h.made[e.Out.ID] = struct{}{}
	return d
}

// digestOf returns the digest of a tensor, without a dtype if its memory has been released.
func digestOf(t *tensor.Tensor) (d receipt.Digest) {
	var err error
	if tensor.Try(func() { d, err = receipt.Of(t.DType().String(), t.Shape(), t.WriteTo) }) != nil || err != nil {
		return receipt.Digest{}
	}
	return d
}

func (h *hashed) line() string { return lineOf(h.out) }

func (h *hashed) lines() (list []string) {
	for _, d := range h.in {
		list = append(list, lineOf(d))
	}
	return list
}

func lineOf(d receipt.Digest) string {
	if d.DType == "" {
		return ""
	}
	return d.String()
}

// hashesOf returns what lines say that line and lines have returned: of the result, then of the operands.
func hashesOf(lines []string) (*hashed, error) {
	h := &hashed{}
	for i, line := range lines {
		var d receipt.Digest
		if line != "" {
			var err error
			if d, err = receipt.Parse(line); err != nil {
				return nil, err
			}
		}
		if i == 0 {
			h.out = d
		} else {
			h.in = append(h.in, d)
		}
	}
	return h, nil
}
