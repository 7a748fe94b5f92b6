package data

import (
	"errors"
	"os"
)

// opened returns a file that does not begin like one of another format, and its size.
func opened(s source) (*os.File, int64, error) {
	f, size, err := unchecked(s)
	if err != nil {
		return nil, 0, err
	}
	if err := s.checkStart(f, size); err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, size, nil
}

// unchecked returns a file and its size.
func unchecked(s source) (*os.File, int64, error) {
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
	return f, info.Size(), nil
}
