// Package hashes collects, for a receipt, hashes of what a cell computes: of the result of each operation, of the data of its charts, of the tensors
// that variables hold, and of the state of the random numbers. It knows tensors and values, not cells or sessions.
package hashes

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"halfnote/internal/goid"
	"halfnote/internal/receipt"
	"halfnote/tensor"
)

// Recorder collects hashes. The zero value collects those of tensors and of random numbers; after On also those of operations and charts.
type Recorder struct {
	goroutine atomic.Uint64 // that of the cell; operations of others have no order
	stop      func()        // ends the observation of operations; nil without On

	mu      sync.Mutex
	trail   receipt.Trailer
	kinds   map[string]int32
	texts   []string
	ops     []int32 // kind of each operation of the cell, up to maxOps
	figures []string
	tensors map[string]found // those of the last Take
}

// maxOps is the maximum number of operations of a cell that can be described.
const maxOps = 1 << 20

// On begins to collect hashes of operations and of charts.
func (r *Recorder) On() {
	if r.stop == nil {
		r.stop = tensor.Observe(r.event)
	}
}

// Off ends what On began.
func (r *Recorder) Off() {
	if r.stop != nil {
		r.stop()
		r.stop = nil
	}
}

// Begin tells that the calling goroutine runs a cell from now on.
func (r *Recorder) Begin() { r.goroutine.Store(goid.Current()) }

// event adds an operation. A view's elements are those of its operand.
func (r *Recorder) event(e tensor.Event) {
	if e.View || goid.Current() != r.goroutine.Load() {
		return
	}
	d, ok := Of(e.Result)
	if !ok {
		return
	}
	what := e.Op.Name
	switch {
	case e.Backward && e.Of != "":
		what += ", of the derivative of " + e.Of + ","
	case e.InCast:
		what += " by autocast"
	}
	if e.Module != "" {
		what += " in module " + e.Module
	}
	if e.Source != "" {
		what += " (" + e.Source + ")"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	kind, ok := r.kinds[what]
	if !ok {
		if r.kinds == nil {
			r.kinds = map[string]int32{}
		}
		kind = int32(len(r.texts))
		r.kinds[what], r.texts = kind, append(r.texts, what)
	}
	if len(r.ops) < maxOps {
		r.ops = append(r.ops, kind)
	}
	r.trail.Add(d.Hash + receipt.Text(fmt.Sprint(e.Op.Name, d.DType, d.Shape)))
}

// Of returns the digest of a tensor. ok is false if its memory has been released.
func Of(t *tensor.Tensor) (d receipt.Digest, ok bool) {
	var err error
	failed := tensor.Try(func() { d, err = receipt.Of(t.DType().String(), t.Shape(), t.WriteTo) })
	return d, failed == nil && err == nil
}

// Shown adds the data of a chart that is shown; other values have no data.
func (r *Recorder) Shown(v any) {
	f, ok := v.(interface{ Data() string })
	if !ok || r.stop == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.figures = append(r.figures, short(f.Data()))
}

func short(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// Take returns what has been collected since the last call. The variables are those of the session.
func (r *Recorder) Take(vars []Variable) receipt.Cell {
	now := find(vars)
	r.mu.Lock()
	defer r.mu.Unlock()
	c := receipt.Cell{Trail: r.trail.Trail(), Figures: r.figures, Tensors: map[string]string{}}
	r.trail, r.figures = receipt.Trailer{}, nil
	for name, f := range now {
		if was, ok := r.tensors[name]; !ok || !was.digest.Equal(f.digest) {
			c.Tensors[name] = f.digest.String()
		}
	}
	for name := range r.tensors {
		if _, ok := now[name]; !ok {
			c.Gone = append(c.Gone, name)
		}
	}
	slices.Sort(c.Gone)
	r.tensors = now
	if d, ok := Of(tensor.DefaultGenerator().State()); ok {
		c.Random = fmt.Sprintf("%016x", d.Hash)
	}
	return c
}

// Look returns a function that finds the digest of a tensor that the variables hold now, by its name, with a function that returns the bits of an element.
func Look(vars []Variable) func(name string) (receipt.Digest, func(i int) uint64, bool) {
	now := find(vars)
	return func(name string) (receipt.Digest, func(int) uint64, bool) {
		f, ok := now[name]
		return f.digest, f.bits, ok
	}
}

// Forget forgets the operations of the cell, which Against describes.
func (r *Recorder) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ops, r.kinds, r.texts = nil, nil, nil
}

// Against says how a cell, which Take has just returned, differs from a recorded one.
func (r *Recorder) Against(c, was receipt.Cell) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return c.Against(was, receipt.Now{
		Op: func(i int) string {
			if i >= len(r.ops) {
				return "an operation"
			}
			return r.texts[r.ops[i]]
		},
		Tensor: func(name string) (receipt.Digest, func(int) uint64, bool) {
			f, ok := r.tensors[name]
			return f.digest, f.bits, ok
		},
	})
}

// Table lists the tensors of the last Take by name.
func (r *Recorder) Table() (rows [][]any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(r.tensors)) {
		d := r.tensors[name].digest
		rows = append(rows, []any{name, fmt.Sprintf("%s %v", d.DType, d.Shape), fmt.Sprintf("%016x", d.Hash)})
	}
	return rows
}
