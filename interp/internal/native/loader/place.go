//go:build linux && (amd64 || arm64) && go1.26 && !go1.28

package loader

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unsafe"

	"halfnote/interp/internal/native/object"
)

// inlineTree is the size of an entry of an inline tree.
const inlineTree = int(unsafe.Sizeof(inlinedCall{}))

// place gives an address to every symbol. Text is followed by the jumps; data begins with
// what the collector does not scan: read-only data, inline trees, and the table of addresses.
func (u *unit) place() error {
	offsets := map[*object.Symbol]int{}
	end := 0
	put := func(s *object.Symbol, least int) {
		end = align(end, max(int(s.Align), least))
		offsets[s] = end
		end += int(s.Size)
	}
	for _, s := range u.text {
		put(s, textAlign)
	}
	end = align(end, 16)
	jumpsAt := end
	calls, slots, trees := u.count()
	u.textLen = end + calls*u.arch.jumpSize

	end = 0
	for _, s := range u.types {
		put(s, 8)
	}
	for _, s := range u.data {
		if s.Kind != object.Data && s.Kind != object.BSS {
			put(s, dataAlign(s))
		}
	}
	end = align(end, 8)
	treesAt := end
	end += trees * inlineTree
	slotsAt := align(end, 8)
	end = slotsAt + 8*(slots+calls)
	end = align(end, 8)
	pointersAt := end
	for _, kind := range []object.Kind{object.Data, object.BSS} {
		for _, s := range u.data {
			if s.Kind == kind {
				put(s, 8)
			}
		}
	}
	end = align(end, 8)
	u.dataLen = end
	for _, s := range u.grows {
		u.topLen += align(int(s.Size), 8)
	}
	r := process.arena
	var err error
	if u.textAt, u.dataAt, err = r.take(u.textLen, u.dataLen+u.topLen); err != nil {
		return err
	}
	top := len(r.data) - r.topUsed
	for _, s := range u.grows {
		top -= align(int(s.Size), 8)
		u.addr[s], u.bytes[s] = addressOf(r.data)+uintptr(top), r.data[top:][:s.Size]
		copy(u.bytes[s], s.Data)
	}
	text, data := addressOf(r.text)+uintptr(u.textAt), addressOf(r.data)+uintptr(u.dataAt)
	for s, off := range offsets {
		if s.Kind == object.Text {
			u.addr[s], u.bytes[s] = text+uintptr(off), r.writable[u.textAt+off:][:s.Size]
		} else {
			u.addr[s], u.bytes[s] = data+uintptr(off), r.data[u.dataAt+off:][:s.Size]
		}
		if s.Size == 0 && (s.Kind == object.BSS || s.Kind == object.NoPtrBSS) {
			u.addr[s] = process.host.vars[zeroBase] // where new puts values without size
		}
		copy(u.bytes[s], s.Data)
	}
	u.jumpsAt, u.nextJump = text+uintptr(jumpsAt), text+uintptr(jumpsAt)
	u.jumpsEnd = text + uintptr(u.textLen)
	u.trees, u.nextSlot = data+uintptr(treesAt), data+uintptr(slotsAt)
	u.slotsEnd = data + uintptr(slotsAt+8*(slots+calls))
	u.pointers, u.end = data+uintptr(pointersAt), data+uintptr(end)
	return nil
}

// textAlign is the alignment of functions.
const textAlign = 32

// dataAlign returns the least alignment of read-only data.
func dataAlign(s *object.Symbol) int {
	for _, prefix := range []string{"go:string.", "type:.namedata.", "runtime.gcbits."} {
		if strings.HasPrefix(s.Name, prefix) {
			return 1
		}
	}
	return 8
}

// count returns the largest numbers of jumps and slots that the unit may need, and the number
// of entries of its inline trees.
func (u *unit) count() (calls, slots, trees int) {
	called, used := map[object.Ref]bool{}, map[object.Ref]bool{}
	for _, s := range u.text {
		trees += len(u.infos[s].Inlined)
		for _, r := range s.Relocs {
			switch u.arch.rules[r.Type].to {
			case code:
				if u.far(u.outside[r.Sym]) {
					called[r.Sym] = true
				}
			case slot, thread:
				used[r.Sym] = true
			}
		}
	}
	return len(called), len(used), trees
}

// far reports whether a call from the memory for units may not reach an address.
func (u *unit) far(addr uintptr) bool {
	if addr == 0 {
		return false
	}
	d := int64(addr) - int64(addressOf(process.arena.text))
	return d < int64(textRoom)-u.arch.reach || d >= u.arch.reach-int64(textRoom)
}

// relocate fills in the addresses in text and data.
func (u *unit) relocate() error {
	for _, list := range [][]*object.Symbol{u.data, u.text} {
		for _, s := range list {
			for _, r := range s.Relocs {
				if u.isLate(r) {
					u.deferred = append(u.deferred, deferredReloc{s, r})
				} else if err := u.fill(s, r); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// fill fills in one address.
func (u *unit) fill(s *object.Symbol, r object.Reloc) error {
	if r.Type.Marker() || r.Size == 0 {
		return nil
	}
	if r.Weak && !u.has(r.Sym) {
		return nil
	}
	rule := u.arch.rules[r.Type]
	var target uintptr
	var err error
	if rule.to == thread {
		target, err = process.host.goroutineOffset()
	} else {
		target, err = u.address(r.Sym)
	}
	if err != nil {
		return err
	}
	add := r.Add
	switch rule.to {
	case code:
		target, err = u.reach(target + uintptr(add))
		add = 0
	case slot:
		if u.arch.direct != nil && u.arch.direct(u.bytes[s][:r.Off+r.Size], u.addr[s], target+uintptr(add)) {
			return nil
		}
		target, err = u.slot(target)
	case thread:
		target, err = u.slot(target)
	case number:
		if u.stackObjects[s] {
			target -= u.base() // the runtime adds moduledata.rodata
		} else {
			target = uintptr(addReflectOff(at(target + uintptr(add))))
		}
	}
	if err == nil {
		err = rule.put(u.bytes[s][r.Off:r.Off+r.Size], u.addr[s]+uintptr(r.Off), target, add)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	return nil
}

// base is the address of the data of all units, from which the runtime counts.
func (u *unit) base() uintptr { return addressOf(process.arena.data) }

// has reports whether a symbol has an address, or has one without another type being made.
func (u *unit) has(r object.Ref) bool {
	if s := u.o.Def(r); s != nil && u.addr[s] != 0 {
		return true
	}
	if t, ok := object.TypeName(u.o.Name(r)); ok {
		_, known := u.l.typeOf(t)
		return known || u.made[t] != nil
	}
	return u.outside[r] != 0
}

// address returns the address of a symbol.
func (u *unit) address(r object.Ref) (uintptr, error) {
	s := u.o.Def(r)
	if s == nil {
		name := u.o.Name(r)
		if t, ok := object.TypeName(name); ok {
			if t, ok := u.l.typeOf(t); ok {
				return descriptionOf(t), nil
			}
		} else if addr := u.outside[r]; addr != 0 {
			return addr, nil
		}
		return 0, &MissingError{[]string{name}}
	}
	switch {
	case s.Flags&object.GoType != 0:
		t, err := u.typ(s)
		if err != nil {
			return 0, err
		}
		return descriptionOf(t), nil
	case s.Flags&object.Itab != 0:
		return u.itab(s)
	case u.again(s):
		return u.l.globals[s.Name], nil
	case u.addr[s] == 0:
		return 0, &MissingError{[]string{s.Name}}
	}
	return u.addr[s], nil
}

// itab returns the address of a table of the methods of a type for an interface.
func (u *unit) itab(s *object.Symbol) (uintptr, error) {
	inter, ok1 := s.RelocAt(0)
	typ, ok2 := s.RelocAt(8)
	if !ok1 || !ok2 {
		return 0, fmt.Errorf("%s does not name its types", s.Name)
	}
	i, err := u.address(inter.Sym)
	if err != nil {
		return 0, err
	}
	t, err := u.address(typ.Sym)
	if err != nil {
		return 0, err
	}
	return process.host.itab(i, t), nil
}

// slot returns the address of the slot that holds an address.
func (u *unit) slot(target uintptr) (uintptr, error) {
	if p := u.slots[target]; p != 0 {
		return p, nil
	}
	if u.nextSlot >= u.slotsEnd {
		return 0, fmt.Errorf("the table of addresses is full")
	}
	p := u.nextSlot
	u.nextSlot += 8
	binary.LittleEndian.PutUint64(bytesAt(p, 8), uint64(target))
	u.slots[target] = p
	return p, nil
}

// reach returns an address that a call can reach and that leads to the function at target.
func (u *unit) reach(target uintptr) (uintptr, error) {
	if !u.far(target) {
		return target, nil
	}
	if p := u.jumps[target]; p != 0 {
		return p, nil
	}
	if u.nextJump >= u.jumpsEnd {
		return 0, fmt.Errorf("the table of jumps is full")
	}
	p := u.nextJump
	u.nextJump += uintptr(u.arch.jumpSize)
	slot, err := u.slot(target)
	if err != nil {
		return 0, err
	}
	u.jumps[target] = p
	off := int(p - addressOf(process.arena.text))
	return p, u.arch.jump(process.arena.writable[off:off+u.arch.jumpSize], p, slot)
}
