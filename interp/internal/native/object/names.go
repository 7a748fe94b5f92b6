package object

import "bytes"

// Names has the names of the symbols that other objects refer to by number. It is a small part of
// an object, without pointers: a collection of garbage takes as long as before.
type Names struct{ r *reader }

// ReadNames returns the names in an archive that the compiler has written. They do not refer to
// the archive.
func ReadNames(archive []byte) (Names, error) {
	r, err := open(archive)
	if err != nil {
		return Names{}, err
	}
	r.b = bytes.Clone(r.b[:r.at[blockSelf+1]]) // texts come before the blocks
	return Names{r}, nil
}

// Name returns the name of the symbol with a number, or "" if there is none.
func (n Names) Name(number uint32) string {
	if n.r == nil || number >= (n.r.at[blockSelf+1]-n.r.at[blockSelf])/symbolSize {
		return ""
	}
	return n.r.string(n.r.at[blockSelf] + number*symbolSize)
}
