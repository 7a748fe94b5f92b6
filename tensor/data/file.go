package data

import (
	"errors"
	"os"
)

// opened returns a file and its size.
func opened(s source) (*os.File, int64, error) {
	f, err := os.Open(s.file)
	if err != nil {
		return nil, 0, s.fail(err)
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.IsDir():
		err = errors.New("is a directory; want a file")
	case !info.Mode().IsRegular():
		err = errors.New("is not a regular file")
	}
	if err != nil {
		f.Close()
		return nil, 0, s.fail(err)
	}
	if err := s.checkStart(f, info.Size()); err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}
