package data

import (
	"archive/zip"
	"fmt"
	"io"
	"strings"
)

// The zip format of torch.save: a folder with data.pkl, which is the program, data/KEY, which
// are the bytes of storages, byteorder, and other files that are ignored. Members are not
// compressed.

// torchZip maps the names in such an archive, without the folder, to its members.
type torchZip struct {
	source
	members map[string]*zip.File
}

func readTorchZip(src source, f io.ReaderAt, size int64, omit bool) (any, []Foreign, error) {
	z, err := openTorchZip(src, f, size)
	if err != nil {
		return nil, nil, err
	}
	order, err := z.order()
	if err != nil {
		return nil, nil, err
	}
	program, err := z.open("data.pkl", size)
	if err != nil {
		return nil, nil, err
	}
	defer program.Close()
	all, work := storages{}, mostOperations
	s := newStream(src, "data.pkl", program, int64(z.members["data.pkl"].UncompressedSize64))
	v, strange, err := s.unpickle(&work, all.persistent)
	if err != nil {
		return nil, nil, err
	}
	file := &fileOf{source: src, size: size, bigEndian: order == "big", open: func(s *storage) (io.ReadCloser, error) {
		return z.storage(s, size)
	}}
	return file.tree(v, strange, omit)
}

// openTorchZip finds the members. It returns an error for other archives.
func openTorchZip(src source, f io.ReaderAt, size int64) (*torchZip, error) {
	archive, err := zip.NewReader(f, size)
	if err != nil {
		return nil, src.bad(atByte(0), "an invalid zip archive ("+err.Error()+")", "a complete file written by torch.save")
	}
	z := &torchZip{src, map[string]*zip.File{}}
	folder, found := "", false
	for _, member := range archive.File {
		if before, ok := strings.CutSuffix(member.Name, "data.pkl"); ok && (before == "" || strings.HasSuffix(before, "/")) {
			if found {
				return nil, src.bad("member "+quoted(member.Name), "a second data.pkl", "one program")
			}
			folder, found = before, true
		}
	}
	if !found {
		return nil, src.bad("the archive", "no data.pkl", "a file of torch.save; LoadNPZ reads NumPy's archives")
	}
	for _, member := range archive.File {
		name, ok := strings.CutPrefix(member.Name, folder)
		switch {
		case !ok:
			return nil, src.bad("member "+quoted(member.Name), "a name outside of the folder", "members of "+quoted(folder))
		case z.members[name] != nil:
			return nil, src.bad("member "+quoted(member.Name), "a duplicate name", "each name once")
		case name == "constants.pkl" || strings.HasPrefix(name, "code/"):
			return nil, src.bad("member "+quoted(member.Name), "a TorchScript archive, which holds code", "a file of torch.save; save the module's state_dict() in Python")
		}
		z.members[name] = member
	}
	return z, nil
}

// order returns the byte order, "little" by default.
func (z *torchZip) order() (string, error) {
	member := z.members["byteorder"]
	if member == nil {
		return "little", nil
	}
	r, err := z.open("byteorder", 16)
	if err != nil {
		return "", err
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if order := string(text); err != nil || order != "little" && order != "big" {
		return "", z.bad("member "+quoted(member.Name), quoted(text), `"little" or "big"`)
	}
	return string(text), nil
}

// open opens an uncompressed member of at most the given number of bytes.
func (z *torchZip) open(name string, most int64) (io.ReadCloser, error) {
	member := z.members[name]
	if member == nil {
		return nil, z.bad("the archive", "no member "+quoted(name), "one for each storage of the program")
	}
	where := "member " + quoted(member.Name)
	if member.Method != zip.Store || member.CompressedSize64 != member.UncompressedSize64 {
		return nil, z.bad(where, "compressed data", "uncompressed members, as torch.save writes them")
	}
	if member.UncompressedSize64 > uint64(most) {
		return nil, z.bad(where, fmt.Sprintf("%d bytes", member.UncompressedSize64), fmt.Sprintf("at most %d", most))
	}
	r, err := member.Open()
	if err != nil {
		return nil, z.bad(where, err.Error(), "a member of a zip archive")
	}
	return r, nil
}

// storage opens the bytes of a storage.
func (z *torchZip) storage(s *storage, size int64) (io.ReadCloser, error) {
	name := "data/" + s.key
	if member := z.members[name]; member != nil && member.UncompressedSize64 != uint64(s.bytes) {
		return nil, z.bad("member "+quoted(member.Name), fmt.Sprintf("%d bytes", member.UncompressedSize64), fmt.Sprintf("%d, the size that the program gives", s.bytes))
	}
	return z.open(name, size)
}
