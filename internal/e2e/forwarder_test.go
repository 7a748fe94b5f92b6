package e2e

import (
	"bytes"
	"encoding/binary"
)

// forwarder returns a Windows library for amd64 without code. It exports one name, which stands for a name of another library.
//
// Wine 8 lacks bcryptprimitives.dll, with the function ProcessPrng, from which Go's runtime takes its random numbers since
// Go 1.22: without it every program ends with "bcryptprimitives.dll not found". SystemFunction036 of advapi32.dll, also known as
// RtlGenRandom, does the same for the same arguments.
//
// The form of the file is that of Microsoft's "PE Format", sections "Optional Header" and "The .edata Section".
func forwarder(library, name, target string) []byte {
	const (
		headers = 0x200  // size of all headers
		memory  = 0x1000 // where the only section begins in memory
		size    = 0x200  // its size in the file
	)
	le := binary.LittleEndian
	section := make([]byte, size)
	end := uint32(0x40) // of what the section holds
	text := func(s string) (address uint32) {
		address = memory + end
		end += uint32(copy(section[end:], s+"\x00"))
		return address
	}
	for at, v := range map[int]uint32{ // the directory, and after it three tables of one entry
		12: text(library), 16: 1 /* first ordinal */, 20: 1 /* functions */, 24: 1, /* names */
		28: memory + 0x28, 32: memory + 0x2c, 36: memory + 0x30,
		0x28: text(target), // an address in the section is that of a name in another library
		0x2c: text(name),
	} {
		le.PutUint32(section[at:], v)
	}

	var file bytes.Buffer
	dos := make([]byte, 0x40)
	copy(dos, "MZ")
	dos[0x3c] = 0x40 // where the next header is
	file.Write(dos)
	file.WriteString("PE\x00\x00")
	for _, v := range []any{
		// COFF header: amd64, one section, the size of the optional header, an executable library for large addresses.
		uint16(0x8664), uint16(1), [3]uint32{}, uint16(240), uint16(0x2022),
		// Optional header: 64 bits, no code, the base address, alignments, Windows 6, sizes, a console program, stack and heap, 16 directories.
		uint16(0x20b), uint16(0), uint32(0), uint32(size), [3]uint32{}, uint64(0x180000000), uint32(0x1000), uint32(0x200),
		uint16(6), [3]uint16{}, uint16(6), uint16(0), uint32(0), uint32(memory + 0x1000), uint32(headers), uint32(0), uint16(3), uint16(0x100),
		[4]uint64{1 << 20, 4096, 1 << 20, 4096}, uint32(0), uint32(16),
		// Directories: the exports, and none of the others.
		uint32(memory), end, [15]uint64{},
		// The section: read only data.
		[8]byte{'.', 'e', 'd', 'a', 't', 'a'}, end, uint32(memory), uint32(size), uint32(headers), [3]uint32{}, uint32(0x40000040),
	} {
		if err := binary.Write(&file, le, v); err != nil {
			panic(err)
		}
	}
	return append(append(file.Bytes(), make([]byte, headers-file.Len())...), section...)
}
