package interp

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"

	"halfnote/interp/internal/exports"
	"halfnote/interp/internal/front"
	"halfnote/interp/internal/peek"
)

// keepOutput keeps the value that the cell has shown, unless there are several or its
// type has no name.
func (s *Session) keepOutput(c *cell) {
	if c.value == nil || len(c.Results) != 1 || c.n < 0 {
		return
	}
	r := c.Results[0]
	v, ok := s.engine.Slot(r.Slot)
	if !ok {
		return
	}
	name := fmt.Sprintf("Out__%d", c.n)
	b := &front.Binding{Name: name, Kind: front.KindVar, Made: c.n, Seq: c.Seq, Slot: r.Slot, Typ: exports.TypeString(r.Typ, c.Pkg)}
	h, err := c.Header(types.NewVar(token.NoPos, c.Pkg, name, r.Typ))
	if err != nil || c.Importable(h.Paths) != nil {
		return
	}
	c.Results = nil // the value outlives the cell
	e := s.env.Clone()
	s.removeSlots(e.Drop(func(o front.KeptValue) bool {
		return o.Big || o.Made == c.n || len(s.env.Kept) == front.MaxOuts && o.Binding == s.env.Kept[0].Binding
	}))
	e.Keep(b, h, peek.Size(v, front.BigOut) > front.BigOut)
	s.take(e)
}

// makeRoom drops a value that is too big to keep, if the cell will show another and
// does not use it.
func (s *Session) makeRoom(c *cell) {
	if len(c.Results) == 1 && slices.ContainsFunc(s.env.Kept, func(v front.KeptValue) bool { return v.Big }) {
		s.dropOutputs(func(v front.KeptValue) bool { return v.Big && c.Outs[v.Name] == nil })
	}
}

// dropOutputs forgets values. A value that a function literal or pointer may hold lives
// as long as its holder.
func (s *Session) dropOutputs(which func(front.KeptValue) bool) {
	e := s.env.Clone()
	s.removeSlots(e.Drop(which))
	s.take(e)
}

// removeSlots removes variables from the engine that nothing else can hold.
func (s *Session) removeSlots(list []*front.Binding) {
	for _, b := range list {
		if !s.env.Of(b).Captured {
			s.engine.Remove(b.Slot)
		}
	}
}
