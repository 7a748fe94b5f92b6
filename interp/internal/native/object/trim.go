package object

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Trim returns an archive with what compiling and loading other packages needs of one: the
// export data, and the names of the symbols that other objects refer to by number.
func Trim(archive []byte) ([]byte, error) {
	const export, code = "__.PKGDEF", "_go_.o"
	exports, err := member(archive, export)
	if err != nil {
		return nil, err
	}
	b, err := member(archive, code)
	if err != nil {
		return nil, err
	}
	o, err := Read(archive)
	if err != nil {
		return nil, err
	}
	head, _, _ := bytes.Cut(b, []byte("\n!\n"))
	var out bytes.Buffer
	out.WriteString("!<arch>\n")
	for _, m := range []struct {
		name    string
		content []byte
	}{{export, exports}, {code, append(append(bytes.Clone(head), "\n!\n"...), names(o.Defs[:o.starts[1]])...)}} {
		fmt.Fprintf(&out, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", m.name, 0, 0, 0, 0o644, len(m.content))
		out.Write(m.content)
		out.Write(make([]byte, len(m.content)%2))
	}
	return out.Bytes(), nil
}

// names returns an object that defines symbols without content.
func names(list []Symbol) []byte {
	size := len(magic) + 8 + 4 + 4*blocks
	var text, symbols, index []byte
	for _, s := range list {
		symbols = binary.LittleEndian.AppendUint32(symbols, uint32(len(s.Name)))
		symbols = binary.LittleEndian.AppendUint32(symbols, uint32(size+len(text)))
		symbols = append(symbols, make([]byte, symbolSize-stringSize)...)
		text = append(text, s.Name...)
	}
	index = make([]byte, 4*(len(list)+1))
	content := map[int][]byte{blockSelf: symbols, blockRelocIndex: index, blockAuxIndex: index, blockDataIndex: index}
	b := append([]byte(magic), make([]byte, 8+4)...)
	at := size + len(text)
	for i := range blocks {
		b = binary.LittleEndian.AppendUint32(b, uint32(at))
		at += len(content[i])
	}
	b = append(b, text...)
	for i := range blocks {
		b = append(b, content[i]...)
	}
	return b
}
