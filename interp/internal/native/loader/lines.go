//go:build linux && (amd64 || arm64) && go1.26 && !go1.28

package loader

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"halfnote/interp/internal/native/object"
)

// lineTable builds the tables that describe the unit's functions to the runtime: addresses,
// frames, pointers in frames, lines, inlined calls and deferred calls. It is what
// cmd/link/internal/ld writes in pcln.go.
func (u *unit) lineTable() error {
	m := process.module
	t := &tables{u: u, files: sourceFiles(u.o), nameAt: map[string]int32{"": 0}, pcAt: map[*object.Symbol]uint32{}, firstName: int32(m.names.used), firstPC: uint32(m.pcs.used)}
	for _, s := range u.text {
		if err := t.function(s); err != nil {
			return err
		}
	}
	end := u.jumpsAt
	if u.nextJump > u.jumpsAt {
		end = u.nextJump
		t.jumps(uint32(u.jumpsAt-u.start()), uint32(end-u.jumpsAt))
	} else if n := len(u.text); n > 0 {
		last := u.text[n-1]
		end = u.addr[last] + uintptr(last.Size)
	}
	if len(t.entries) == 0 {
		return fmt.Errorf("package %s has no functions", u.name)
	}
	return t.addTo(m, uint32(end-u.start()))
}

// start is the address of the text of all units, from which the runtime counts.
func (u *unit) start() uintptr { return addressOf(process.arena.text) }

// tables are the tables under construction.
type tables struct {
	u       *unit
	files   []string // names of source files
	names   []byte
	nameAt  map[string]int32
	pcs     []byte // tables from addresses to values
	pcAt    map[*object.Symbol]uint32
	entries []entry
	// firstName and firstPC are the offsets in the module of names and of tables from addresses.
	firstName int32
	firstPC   uint32
	trees     int // entries of inline trees so far
}

// entry describes a function.
type entry struct {
	_func
	pcdata, funcdata []uint32
}

// none is the offset of function data that a function does not have.
const none = ^uint32(0)

// name returns the offset of a name.
func (t *tables) name(s string) int32 {
	off, ok := t.nameAt[s]
	if !ok {
		off = t.firstName + int32(len(t.names))
		t.nameAt[s] = off
		t.names = append(append(t.names, s...), 0)
	}
	return off
}

// pc returns the offset of a table from addresses to values, or 0 if it is empty.
func (t *tables) pc(r object.Ref) uint32 {
	s := t.u.o.Def(r)
	if s == nil || len(s.Data) == 0 {
		return 0
	}
	off, ok := t.pcAt[s]
	if !ok {
		off = t.add(s.Data)
		t.pcAt[s] = off
	}
	return off
}

// function adds the entry of a function.
func (t *tables) function(s *object.Symbol) error {
	u, info := t.u, t.u.infos[s]
	e := entry{_func: _func{
		entryOff: uint32(u.addr[s] - u.start()), nameOff: t.name(s.Name), args: int32(info.Args),
		deferreturn: u.deferReturn(s), startLine: info.StartLine, funcID: info.ID, flag: info.Flags,
	}}
	if u.wrappers[s.Name] {
		e.funcID = funcIDWrapper
	}
	var inlined, files, lines object.Ref
	for _, a := range s.Aux {
		switch a.Type {
		case object.AuxPCSP:
			e.pcsp = t.pc(a.Sym)
		case object.AuxPCFile:
			files = a.Sym
		case object.AuxPCLine:
			lines = a.Sym
		case object.AuxPCInline:
			inlined = a.Sym
		case object.AuxPCData:
			e.pcdata = append(e.pcdata, t.pc(a.Sym))
		case object.AuxFuncData:
			off := none
			if d := u.o.Def(a.Sym); d != nil && u.addr[d] != 0 {
				off = uint32(u.addr[d] - u.base())
			}
			e.funcdata = append(e.funcdata, off)
		}
	}
	e.pcfile, e.pcln = t.shownLines(files, lines)
	if len(info.Inlined) > 0 {
		e.pcdata = set(e.pcdata, pcdataInlTree, t.pc(inlined), 0)
		e.funcdata = set(e.funcdata, funcdataInlTree, t.inlineTree(info), none)
	}
	t.entries = append(t.entries, e)
	return nil
}

// set sets an element of a list, which grows with a filler.
func set(list []uint32, i int, v, filler uint32) []uint32 {
	for len(list) <= i {
		list = append(list, filler)
	}
	list[i] = v
	return list
}

// inlineTree writes the inline tree of a function and returns its offset.
func (t *tables) inlineTree(info *object.FuncInfo) uint32 {
	u := t.u
	at := u.trees + uintptr(t.trees*inlineTree)
	t.trees += len(info.Inlined)
	for i, call := range info.Inlined {
		c := inlinedCall{nameOff: t.name(u.nameOf(call.Func)), parentPc: call.ParentPC}
		if s := u.o.Def(call.Func); s != nil {
			if r, ok := s.AuxOf(object.AuxFuncInfo); ok && u.o.Def(r) != nil {
				if f, err := object.ReadFuncInfo(u.o.Def(r).Data); err == nil {
					c.funcID, c.startLine = f.ID, f.StartLine
				}
			}
		}
		if u.wrappers[u.nameOf(call.Func)] {
			c.funcID = funcIDWrapper
		}
		copy(bytesAt(at+uintptr(i*inlineTree), inlineTree), contents(&c))
	}
	return uint32(at - u.base())
}

// deferReturn returns the offset of the call of deferreturn in a function, or 0.
func (u *unit) deferReturn(s *object.Symbol) uint32 {
	for _, r := range s.Relocs {
		if r.Type.Call() && u.o.Name(r.Sym) == deferreturn {
			return uint32(r.Off - u.arch.callOffset)
		}
	}
	return 0
}

// jumps adds the entry of the jumps: a function without a frame that is not preempted.
func (t *tables) jumps(off, size uint32) {
	e := entry{_func: _func{entryOff: off, nameOff: t.name(t.u.name + "..jumps"), flag: funcFlagAsm, pcsp: t.firstPC + uint32(len(t.pcs))}}
	t.pcs = append(t.pcs, 2) // a frame of 0 bytes, after the initial -1
	t.pcs = binary.AppendUvarint(t.pcs, uint64(size/uint32(t.u.arch.quantum)))
	t.pcs = append(t.pcs, 0)
	t.entries = append(t.entries, e)
}

// addTo adds the tables to those of the module, and describes the unit as a module of its functions, whose text ends at an offset. If a
// later step fails, a part of the tables stays unused.
func (t *tables) addTo(m *module, end uint32) error {
	u := t.u
	var errs [5]error
	_, errs[0] = m.names.add(t.names...)
	_, errs[1] = m.pcs.add(t.pcs...)
	var names []uint32
	for _, f := range t.files {
		name, err := m.file(f)
		names, errs[2] = append(names, name), errors.Join(errs[2], err)
	}
	files, err := m.sources.add(names...)
	errs[3] = err
	u.tablesLen = len(t.names) + len(t.pcs) + 4*len(names) + int(unsafe.Sizeof(functab{}))*len(t.entries)
	md := *m.md
	md.ftab = nil
	for i := range t.entries {
		e := &t.entries[i]
		e.npcdata, e.nfuncdata, e.cuOffset = uint32(len(e.pcdata)), uint8(len(e.funcdata)), files
		b := slices.Clone(contents(&e._func))
		for _, list := range [][]uint32{e.pcdata, e.funcdata} {
			for _, x := range list {
				b = binary.LittleEndian.AppendUint32(b, x)
			}
		}
		off, err := m.funcs.add(b...)
		errs[4] = errors.Join(errs[4], err)
		md.ftab = append(md.ftab, functab{e.entryOff, off})
		u.tablesLen += len(b)
	}
	md.ftab = append(md.ftab, functab{end, 0})
	md.minpc, md.maxpc = md.text+uintptr(md.ftab[0].entryoff), md.text+uintptr(end)
	u.md = &md
	return errors.Join(errs[:]...)
}
