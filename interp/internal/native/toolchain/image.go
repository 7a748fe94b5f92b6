package toolchain

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// difference returns the name of the first section that is not the same in two programs, or "" if
// they have the same code, constants and variables at the same addresses. Symbols, debug information and build IDs
// may differ.
func difference(file, other string) (section string, err error) {
	a, err := elf.Open(file)
	if err != nil {
		return "", err
	}
	defer a.Close()
	b, err := elf.Open(other)
	if err != nil {
		return "", err
	}
	defer b.Close()
	x, y := loaded(a), loaded(b)
	for i := range max(len(x), len(y)) {
		switch {
		case i >= len(x):
			return y[i].Name, nil
		case i >= len(y) || x[i].Name != y[i].Name || x[i].Addr != y[i].Addr || x[i].Size != y[i].Size || x[i].Type != y[i].Type:
			return x[i].Name, nil
		case x[i].Type == elf.SHT_NOBITS:
			continue
		}
		p, err1 := x[i].Data()
		q, err2 := y[i].Data()
		if err := errors.Join(err1, err2); err != nil {
			return "", err
		}
		if !bytes.Equal(p, q) {
			return x[i].Name, nil
		}
	}
	return "", nil
}

// loaded returns the sections of a program that are in memory when it runs, but for the build IDs.
func loaded(f *elf.File) []*elf.Section {
	return slices.DeleteFunc(slices.Clone(f.Sections), func(s *elf.Section) bool {
		return s.Flags&elf.SHF_ALLOC == 0 || s.Name == goBuildID || s.Name == ".note.gnu.build-id"
	})
}

// goBuildID is the section with the build ID of the go command.
const goBuildID = ".note.go.buildid"

// buildID returns the build ID that the linker has written into an ELF file, or "" if there is none. proper reports
// whether it is one of the go command, which tells programs apart: the flags of the linker can set any other.
func buildID(f *elf.File) (id string, proper bool) {
	s := f.Section(goBuildID)
	if s == nil {
		return "", false
	}
	note, err := s.Data()
	const header, name = 12, "Go\x00\x00"
	if err != nil || len(note) <= header+len(name) || !bytes.Equal(note[header:header+len(name)], []byte(name)) {
		return "", false
	}
	text := note[header+len(name):]
	id = string(text[:min(len(text), int(binary.LittleEndian.Uint32(note[4:])))])
	const size = 20 // of a sum
	parts := strings.Split(id, "/")
	return id, len(parts) == 4 && !slices.ContainsFunc(parts, func(p string) bool { return len(p) != size })
}

// modinfo returns the description of the build in an ELF file, as the linker gets it from the go command.
func modinfo(f *elf.File) ([]byte, error) {
	s := f.Section(".go.buildinfo")
	if s == nil {
		return nil, errNoDescription
	}
	b, err := s.Data()
	if err != nil {
		return nil, err
	}
	// A header of 32 bytes precedes the version of Go and the description, each of which begins with its length.
	const header = 32
	var text []byte
	b = b[min(header, len(b)):]
	for range 2 {
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return nil, fmt.Errorf("section %s of the program has another form", s.Name)
		}
		text, b = b[n:n+int(size)], b[n+int(size):]
	}
	return text, nil
}
