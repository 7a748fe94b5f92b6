package data

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// writeFile writes a file atomically: to a temporary name in the same folder, renamed when
// everything is on disk. A crash leaves the old file or the new one.
func writeFile(path string, write func(w io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	w := bufio.NewWriterSize(f, 1<<16)
	if err := write(w); err != nil {
		return err
	}
	if err := errors.Join(w.Flush(), f.Chmod(mode(path)), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// mode returns the permissions of the file to replace, or those of a new file.
func mode(path string) os.FileMode {
	if old, err := os.Stat(path); err == nil {
		return old.Mode().Perm()
	}
	return 0o644
}

// syncFolder syncs the folder's new entry to disk, on systems that can.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	d.Sync() // Windows and some network disks refuse
	return d.Close()
}

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
