package data

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/big"
)

// The format of torch.save before PyTorch 1.6: a magic number, a version, properties of the
// machine, the program and the keys of storages, each pickled; then, for each key, the
// number of elements in 8 bytes, and the elements. It is _legacy_load in
// torch/serialization.py.

const legacyVersion = 1001

func readTorchPickle(src source, f io.ReaderAt, size int64, omit bool) (any, []Foreign, error) {
	s := newStream(src, "pickle", io.NewSectionReader(f, 0, size), size)
	all, work := storages{}, mostOperations
	next := func() (any, *foreign, error) { return s.unpickle(&work, all.persistent) }
	magic, _, err := next()
	if err != nil {
		return nil, nil, err
	}
	if x, ok := magic.(*big.Int); !ok || x.Cmp(new(big.Int).SetBytes(reversed(magicNumber))) != 0 {
		return nil, nil, src.bad(atByte(0), kindOf(magic), "PyTorch's magic number")
	}
	version, _, err := next()
	if err != nil {
		return nil, nil, err
	}
	if version != legacyVersion {
		return nil, nil, src.bad("the version", fmt.Sprint(version), fmt.Sprint(legacyVersion))
	}
	facts, _, err := next()
	if err != nil {
		return nil, nil, err
	}
	v, strange, err := next()
	if err != nil {
		return nil, nil, err
	}
	keys, _, err := next()
	if err != nil {
		return nil, nil, err
	}
	l := &legacy{src, f, size, all, map[*storage]int64{}, isBigEndian(facts)}
	if err := l.locate(keys, s.at); err != nil {
		return nil, nil, err
	}
	file := &fileOf{source: src, size: size, bigEndian: l.bigEndian, open: l.open}
	return file.tree(v, strange, omit)
}

// isBigEndian reports whether the machine that wrote a file was big-endian.
func isBigEndian(facts any) bool {
	if d, ok := facts.(*mapping); ok {
		for i, key := range d.keys {
			if key == "little_endian" {
				return d.values[i] == false
			}
		}
	}
	return false
}

// legacy holds the positions of the storages in a file.
type legacy struct {
	source
	file      io.ReaderAt
	size      int64
	all       storages
	offsets   map[*storage]int64
	bigEndian bool
}

// locate finds the storages, the first of which begins at the given byte.
func (l *legacy) locate(keys any, at int64) error {
	list, ok := keys.(*sequence)
	if !ok {
		return l.bad("the keys of storages", kindOf(keys), "a list of str")
	}
	for _, item := range list.items {
		key, _ := item.(string)
		s := l.all[key]
		if s == nil || l.offsets[s] != 0 {
			return l.bad("the keys of storages", quoted(fmt.Sprint(key)), "storages of the program, each once")
		}
		var p [8]byte
		if _, err := l.file.ReadAt(p[:], at); err != nil {
			return l.bad(atByte(at), "the end of the file", "storage "+quoted(key))
		}
		order := binary.ByteOrder(binary.LittleEndian)
		if l.bigEndian {
			order = binary.BigEndian
		}
		if n := order.Uint64(p[:]); n != uint64(s.numel()) || int64(s.bytes) > l.size-at-8 {
			return l.bad(atByte(at), fmt.Sprintf("%d elements, and %d bytes to the end", n, l.size-at-8), fmt.Sprintf("the %d elements, %d bytes, of storage %s", s.numel(), s.bytes, quoted(key)))
		}
		l.offsets[s] = at + 8
		at += 8 + int64(s.bytes)
	}
	return nil
}

func (l *legacy) open(s *storage) (io.ReadCloser, error) {
	at, ok := l.offsets[s]
	if !ok {
		return nil, l.bad("storage "+quoted(s.key), "no elements", "all storages at the end of the file")
	}
	return io.NopCloser(io.NewSectionReader(l.file, at, int64(s.bytes))), nil
}
