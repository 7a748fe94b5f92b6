//go:build linux && (amd64 || arm64) && go1.26 && !go1.27

package loader

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unsafe"

	"halfnote/interp/internal/native/object"
)

// lineTable builds the tables that describe the unit's functions to the runtime: addresses,
// frames, pointers in frames, lines, inlined calls and deferred calls. It is what
// cmd/link/internal/ld writes in pcln.go.
func (u *unit) lineTable() error {
	t := &tables{u: u, nameAt: map[string]int32{}, pcAt: map[*object.Symbol]uint32{}, pcs: []byte{0}} // 0 stands for the lack of a table
	t.name("")
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
	u.md = t.module(uint32(end - u.start()))
	return nil
}

// start is the address of the text of the unit.
func (u *unit) start() uintptr { return addressOf(process.room.text) + uintptr(u.textAt) }

// tables are the tables under construction.
type tables struct {
	u       *unit
	names   []byte
	nameAt  map[string]int32
	pcs     []byte // tables from addresses to values
	pcAt    map[*object.Symbol]uint32
	entries []entry
	trees   int // entries of inline trees so far
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
		off = int32(len(t.names))
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
		off = uint32(len(t.pcs))
		t.pcAt[s] = off
		t.pcs = append(t.pcs, s.Data...)
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
	var inlined object.Ref
	for _, a := range s.Aux {
		switch a.Type {
		case object.AuxPCSP:
			e.pcsp = t.pc(a.Sym)
		case object.AuxPCFile:
			e.pcfile = t.pc(a.Sym)
		case object.AuxPCLine:
			e.pcln = t.pc(a.Sym)
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
	e := entry{_func: _func{entryOff: off, nameOff: t.name(t.u.name + "..jumps"), flag: funcFlagAsm, pcsp: uint32(len(t.pcs))}}
	t.pcs = append(t.pcs, 2) // a frame of 0 bytes, after the initial -1
	t.pcs = binary.AppendUvarint(t.pcs, uint64(size/uint32(t.u.arch.quantum)))
	t.pcs = append(t.pcs, 0)
	t.entries = append(t.entries, e)
}

// module returns the description of the unit, whose text has end bytes.
func (t *tables) module(end uint32) *moduledata {
	u := t.u
	md := &moduledata{
		modulename: u.name, text: u.start(), minpc: u.start(), etext: u.start() + uintptr(end), maxpc: u.start() + uintptr(end),
		rodata: u.base(), gofunc: u.base(), epclntab: u.end, end: u.end, funcnametab: t.names, pctab: t.pcs,
		pcHeader: &pcHeader{magic: pcHeaderMagic, minLC: u.arch.quantum, ptrSize: uint8(unsafe.Sizeof(uintptr(0))), nfunc: len(t.entries), nfiles: uint(len(u.o.Files))},
	}
	for _, f := range u.o.Files {
		md.cutab = append(md.cutab, process.files.name(strings.TrimPrefix(f, "gofile..")))
	}
	md.filetab = process.files.text
	for i := range t.entries {
		e := &t.entries[i]
		md.ftab = append(md.ftab, functab{e.entryOff, uint32(len(md.pclntable))})
		e.npcdata, e.nfuncdata = uint32(len(e.pcdata)), uint8(len(e.funcdata))
		md.pclntable = append(md.pclntable, contents(&e._func)...)
		for _, list := range [][]uint32{e.pcdata, e.funcdata} {
			for _, x := range list {
				md.pclntable = binary.LittleEndian.AppendUint32(md.pclntable, x)
			}
		}
	}
	md.ftab = append(md.ftab, functab{end, 0})
	buckets := t.buckets(end)
	md.findfunctab = addressOf(buckets)
	u.kept = append(u.kept, md, buckets)
	return md
}

// files are the names of source files that all units share. Text only grows, so that the part that
// a unit has stays as it is.
type files struct {
	text []byte
	at   map[string]uint32
}

// name returns the offset of a name.
func (f *files) name(s string) uint32 {
	off, ok := f.at[s]
	if !ok {
		off = uint32(len(f.text))
		f.at[s] = off
		f.text = append(append(f.text, s...), 0)
	}
	return off
}

// buckets returns the index of the functions by address: the first function of each 4096
// bytes, and of each 256 bytes counted from there.
func (t *tables) buckets(end uint32) []findfuncbucket {
	list := make([]findfuncbucket, end/bucketSize+1)
	f := 0
	for i := range list {
		for j := range list[i].subbuckets {
			pc := uint32(i*bucketSize + j*subbucketSize)
			for f+1 < len(t.entries) && t.entries[f+1].entryOff <= pc {
				f++
			}
			if j == 0 {
				list[i].idx = uint32(f)
			}
			list[i].subbuckets[j] = uint8(uint32(f) - list[i].idx)
		}
	}
	return list
}
