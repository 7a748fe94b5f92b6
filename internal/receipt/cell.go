// Package receipt is the form of the hashes that a run of a notebook leaves in it, and the comparison of those of two runs. It
// knows texts and bytes, not tensors, kernels or notebooks: a kernel collects a [Cell] for each cell, and package notebook
// adds what it knows.
package receipt

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"halfnote/internal/text"
)

// Cell is what the kernel knows of a cell that has run.
type Cell struct {
	Timed bool `json:"timed,omitempty"` // operations and charts depend on time and are not compared
	Trail
	// Figures are hashes of the data of the charts that the cell showed, in order.
	Figures []string `json:"figures,omitempty"`
	// Tensors are the digests of the tensors of variables that are new since the cell before, or that have changed, by name.
	Tensors map[string]string `json:"tensors,omitempty"`
	// Gone are the names of tensors that no variable holds any more.
	Gone []string `json:"gone,omitempty"`
	// Random is a hash of the state of the default generator at the end of the cell.
	Random string `json:"random,omitempty"`
}

// Trail holds hashes of operations' results, each one together with all before it. Operation i is the one after i others.
type Trail struct {
	Ops    int    `json:"ops,omitempty"`
	Stride int    `json:"stride,omitempty"` // only each Stride-th hash is kept, and the last
	Hashes string `json:"hashes,omitempty"` // base64 of 16 bits for each
}

// maxTrail is the maximum number of hashes of a trail.
const maxTrail = 1024

// Trailer collects a trail.
type Trailer struct {
	chain  uint64
	ops    int
	stride int
	kept   []uint16
}

// Add adds the hash of a result.
func (t *Trailer) Add(hash uint64) {
	if t.stride == 0 {
		t.stride = 1
	}
	t.chain = Mix(t.chain, hash)
	if t.ops++; t.ops%t.stride != 0 {
		return
	}
	t.kept = append(t.kept, uint16(t.chain>>48))
	if len(t.kept) == 2*maxTrail {
		t.kept, t.stride = every(t.kept, 2), 2*t.stride
	}
}

// every returns each n-th hash.
func every(list []uint16, n int) []uint16 {
	var out []uint16
	for i := n - 1; i < len(list); i += n {
		out = append(out, list[i])
	}
	return out
}

// Trail returns the hashes so far.
func (t *Trailer) Trail() Trail {
	if t.ops == 0 {
		return Trail{}
	}
	list, stride := t.kept, t.stride
	for len(list) > maxTrail {
		list, stride = every(list, 2), 2*stride
	}
	var b []byte
	for _, h := range append(slices.Clip(list), uint16(t.chain>>48)) {
		b = binary.LittleEndian.AppendUint16(b, h)
	}
	return Trail{Ops: t.ops, Stride: stride, Hashes: base64.RawStdEncoding.EncodeToString(b)}
}

// read returns the kept hashes and the last.
func (t Trail) read() (list []uint16, last uint16) {
	b, err := base64.RawStdEncoding.DecodeString(t.Hashes)
	if err != nil || len(b) < 2 || t.Stride < 1 {
		return nil, 0
	}
	for ; len(b) > 1; b = b[2:] {
		list = append(list, binary.LittleEndian.Uint16(b))
	}
	return list[:len(list)-1], list[len(list)-1]
}

// Parting returns the operations among which the first is that differs from those of a recorded trail: from first up to, not including, after. They are
// counted from 0 and may lie behind the last of one trail. ok is false if none differs.
func (t Trail) Parting(was Trail) (first, after int, ok bool) {
	a, lastA := t.read()
	b, lastB := was.read()
	stride := max(t.Stride, was.Stride, 1)
	if t.Stride > 0 {
		a = every(a, stride/t.Stride)
	}
	if was.Stride > 0 {
		b = every(b, stride/was.Stride)
	}
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i * stride, (i + 1) * stride, true
		}
	}
	if t.Ops != was.Ops || lastA != lastB {
		return n * stride, max(n*stride+1, min(t.Ops, was.Ops)+1), true
	}
	return 0, 0, false
}

// Now is what a kernel tells of the cell that has run, for a comparison with a recorded one.
type Now struct {
	// Op describes operation i of the cell.
	Op func(i int) string
	// Tensor returns the digest of the tensor with a name, and a function that returns the bits of an element.
	Tensor func(name string) (d Digest, at func(i int) uint64, ok bool)
}

// Against says how a cell differs from a recorded one. The list is empty if it does not.
func (c Cell) Against(was Cell, now Now) (list []string) {
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if first, after, ok := c.Parting(was.Trail); ok && !was.Timed {
		switch {
		case first >= c.Ops:
			say("%s ran; recorded %d", text.Count(c.Ops, "operation"), was.Ops)
		case first >= was.Ops:
			say("operation %d, %s, is new: recorded %s", first+1, now.Op(first), text.Count(was.Ops, "operation"))
		case after-first == 1:
			say("operation %d of %d, %s, is the first whose result differs", first+1, c.Ops, now.Op(first))
		default:
			last := min(after, c.Ops) - 1
			say("the first result that differs is of operation %d to %d of %d, from %s to %s", first+1, last+1, c.Ops, now.Op(first), now.Op(last))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(union(c.Tensors, was.Tensors))) {
		recorded, wasChanged := was.Tensors[name]
		if recorded == c.Tensors[name] {
			continue
		}
		d, at, exists := now.Tensor(name)
		old, err := Parse(recorded)
		switch {
		case !wasChanged:
			say("%s is new or has changed; recorded: neither", name)
		case !exists:
			say("%s does not exist; recorded: it does", name)
		case err != nil:
			say("%s: %v", name, err)
		default:
			say("%s: %s", name, d.Against(old, at))
		}
	}
	if !slices.Equal(c.Gone, was.Gone) {
		say("the variables that no longer hold tensors are %q; recorded %q", c.Gone, was.Gone)
	}
	for i := range max(len(c.Figures), len(was.Figures)) {
		if was.Timed {
			break
		}
		if i >= len(c.Figures) || i >= len(was.Figures) {
			say("%s shown; recorded %d", text.Count(len(c.Figures), "chart"), len(was.Figures))
			break
		}
		if c.Figures[i] != was.Figures[i] {
			say("the data of chart %d differ", i+1)
			break
		}
	}
	if c.Random != was.Random {
		say("the state of the random numbers differs")
	}
	return list
}

func union(a, b map[string]string) map[string]string {
	out := maps.Clone(a)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, b)
	return out
}
