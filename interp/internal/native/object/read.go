package object

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// magic is the version of the object format, which begins the object.
const magic = "\x00go120ld"

// Blocks of an object, in their order. The offset of each is in the header.
const (
	blockPackages = 1 + iota
	blockFiles
	blockSelf
	blockHashed64
	blockHashed
	blockNone
	blockRefs
	_ // flags of references
	_ // short hashes
	_ // hashes
	blockRelocIndex
	blockAuxIndex
	blockDataIndex
	blockReloc
	blockAux
	blockData
	blockNames
	blockEnd
	blocks
)

// Sizes of the entries of blocks.
const (
	stringSize = 8
	symbolSize = 21
	relocSize  = 23
	auxSize    = 9
	nameSize   = 16
)

// Read returns the object in an archive that the compiler has written. The object refers to
// the bytes of the archive.
func Read(archive []byte) (*Object, error) {
	r, err := open(archive)
	if err != nil {
		return nil, err
	}
	o := r.object()
	if r.failed {
		return nil, errOffset
	}
	return o, nil
}

var errOffset = errors.New("object: an offset is outside the object")

// open returns a reader of the object in an archive.
func open(archive []byte) (*reader, error) {
	b, err := member(archive, "_go_.o")
	if err != nil {
		return nil, err
	}
	_, b, ok := bytes.Cut(b, []byte("\n!\n")) // the version of Go, and build tags
	if !ok {
		return nil, errors.New("object: the archive member has no header")
	}
	if !bytes.HasPrefix(b, []byte(magic)) {
		return nil, fmt.Errorf("object: the format is %q, want %q", b[:min(len(b), len(magic))], magic)
	}
	r := &reader{b: b}
	header := uint32(len(magic) + 8 + 4) // after the fingerprint and the flags
	for i := range r.at {
		r.at[i] = r.u32(header + 4*uint32(i))
		if i > 0 && r.at[i] < r.at[i-1] {
			r.failed = true
		}
	}
	if r.failed || r.at[blockEnd] > uint32(len(b)) {
		return nil, errOffset
	}
	return r, nil
}

// member returns a member of an archive.
func member(archive []byte, name string) ([]byte, error) {
	const start, header = "!<arch>\n", 60
	if !bytes.HasPrefix(archive, []byte(start)) {
		return nil, errors.New("object: the file is not an archive")
	}
	for b := archive[len(start):]; len(b) >= header; {
		size, err := strconv.Atoi(strings.TrimSpace(string(b[48:58])))
		if err != nil || size < 0 || size > len(b)-header {
			return nil, fmt.Errorf("object: an archive member has the size %q", b[48:58])
		}
		if strings.TrimRight(string(b[:16]), " /") == name {
			return b[header : header+size], nil
		}
		b = b[min(len(b), header+size+size%2):]
	}
	return nil, fmt.Errorf("object: the archive has no member %s", name)
}

// reader reads an object. After the first offset outside the object it returns zeros.
type reader struct {
	b      []byte
	failed bool
	at     [blocks]uint32
}

// bytes returns n bytes at an offset.
func (r *reader) bytes(off, n uint32) []byte {
	if uint64(off)+uint64(n) > uint64(len(r.b)) {
		r.failed = true
		return make([]byte, min(n, 64))
	}
	return r.b[off : off+n : off+n]
}

func (r *reader) u32(off uint32) uint32 { return binary.LittleEndian.Uint32(r.bytes(off, 4)) }

func (r *reader) string(off uint32) string { return string(r.bytes(r.u32(off+4), r.u32(off))) }

func (r *reader) ref(off uint32) Ref { return Ref{r.u32(off), r.u32(off + 4)} }

// each calls f with the offset of each entry of a block.
func (r *reader) each(block int, size uint32, f func(off uint32)) {
	for off := r.at[block]; off+size <= r.at[block+1] && !r.failed; off += size {
		f(off)
	}
}

func (r *reader) object() *Object {
	o := &Object{names: map[Ref]string{}}
	r.each(blockPackages, stringSize, func(off uint32) { o.Packages = append(o.Packages, r.string(off)) })
	r.each(blockFiles, stringSize, func(off uint32) { o.Files = append(o.Files, r.string(off)) })
	for i := range groups {
		o.starts[i] = len(o.Defs)
		r.each(blockSelf+i, symbolSize, func(off uint32) { o.Defs = append(o.Defs, r.symbol(off)) })
	}
	r.each(blockRefs, symbolSize, func(off uint32) { o.Refs = append(o.Refs, r.symbol(off)) })
	for i := range o.Defs {
		r.content(&o.Defs[i], 4*uint32(i))
	}
	r.each(blockNames, nameSize, func(off uint32) { o.names[r.ref(off)] = r.string(off + 8) })
	return o
}

func (r *reader) symbol(off uint32) Symbol {
	b := r.bytes(off, symbolSize)
	return Symbol{
		Name: r.string(off), ABI: binary.LittleEndian.Uint16(b[8:]), Kind: Kind(b[10]), Flags: Flags(binary.LittleEndian.Uint16(b[11:])),
		Size: binary.LittleEndian.Uint32(b[13:]), Align: binary.LittleEndian.Uint32(b[17:]),
	}
}

// content reads the data, the relocations and the auxiliary symbols of a symbol, whose entry
// in the indexes of blocks is at an offset.
func (r *reader) content(s *Symbol, index uint32) {
	from, to := r.span(blockDataIndex, index)
	s.Data = r.bytes(r.at[blockData]+from, to-from)
	if len(s.Data) > int(s.Size) && s.Kind < Debug {
		r.failed = true
	}
	from, to = r.span(blockRelocIndex, index)
	for i := from; i < to && !r.failed; i++ {
		off := r.at[blockReloc] + i*relocSize
		b := r.bytes(off, relocSize)
		typ := binary.LittleEndian.Uint16(b[5:])
		s.Relocs = append(s.Relocs, Reloc{
			Off: int(int32(binary.LittleEndian.Uint32(b))), Size: int(b[4]), Type: RelocType(typ &^ weak), Weak: typ&weak != 0,
			Add: int64(binary.LittleEndian.Uint64(b[7:])), Sym: r.ref(off + 15),
		})
	}
	from, to = r.span(blockAuxIndex, index)
	for i := from; i < to && !r.failed; i++ {
		off := r.at[blockAux] + i*auxSize
		s.Aux = append(s.Aux, Aux{AuxType(r.bytes(off, 1)[0]), r.ref(off + 1)})
	}
}

// span returns an entry of an index and the entry after it.
func (r *reader) span(block int, index uint32) (from, to uint32) {
	from, to = r.u32(r.at[block]+index), r.u32(r.at[block]+index+4)
	if to < from {
		r.failed = true
		return 0, 0
	}
	return from, to
}
