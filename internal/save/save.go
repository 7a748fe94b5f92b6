// Package save writes files whole: a reader, or a machine that starts again after a crash, finds the old content or the new one.
//
// A save changes what a name points to, as torch.save and numpy.save do, and not the name: it writes through links, and keeps the
// permissions and the owner. What is not a regular file is refused, so that no device becomes a file.
package save

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// File replaces the content of a file by what write writes, or makes the file. If write or the disk fails, the file stays as it was.
//
// A file with several names (hard links) cannot be replaced in one step: the new content is complete in a file next to it before the old
// one is overwritten, and the error names that file if this fails.
func File(path string, write func(io.Writer) error) (err error) {
	path, old, err := resolve(path)
	if err != nil {
		return err
	}
	temp, err := create(path, old)
	if err != nil {
		return err
	}
	keep := false
	defer func() {
		if err != nil && !keep {
			temp.Close()
			os.Remove(temp.Name())
		}
	}()
	w := bufio.NewWriterSize(temp, 1<<16)
	if err := write(w); err != nil {
		return err
	}
	if err := errors.Join(w.Flush(), likeness(temp, old), temp.Sync()); err != nil {
		return err
	}
	if old != nil && names(old) > 1 {
		if err := overwrite(path, temp); err != nil {
			keep = true
			return fmt.Errorf("%w; the whole new content is in %s", errors.Join(err, temp.Close()), temp.Name())
		}
		return errors.Join(temp.Close(), os.Remove(temp.Name()))
	}
	if err := temp.Close(); err != nil {
		return err
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// Text replaces the content of a file by a text; see [File].
func Text(path string, text []byte) error {
	return File(path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// maxLinks is the number of symbolic links followed before the path is refused. It is Linux's limit.
const maxLinks = 40

// resolve returns the file that a name points to, which need not exist: old is nil then.
func resolve(path string) (target string, old fs.FileInfo, err error) {
	first := path
	for range maxLinks {
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return path, nil, nil
		case err != nil:
			return "", nil, err
		case info.Mode().IsRegular():
			return path, info, nil
		case info.Mode()&fs.ModeSymlink == 0:
			return "", nil, fmt.Errorf("%s is a %s; want a regular file, or a name that does not exist", first, kind(info.Mode()))
		}
		to, err := os.Readlink(path)
		if err != nil {
			return "", nil, err
		}
		if !filepath.IsAbs(to) {
			folder, err := filepath.EvalSymlinks(filepath.Dir(path)) // ".." in a link goes up from where its folder really is
			if err != nil {
				return "", nil, err
			}
			to = filepath.Join(folder, to)
		}
		path = to
	}
	return "", nil, fmt.Errorf("%s is a link through more than %d links", first, maxLinks)
}

// kind names what is not a regular file.
func kind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "folder"
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeDevice != 0:
		return "device"
	}
	return "special file"
}

// create makes a file next to path. Until it has the permissions of an old file, only the user can read it; a new one has
// those that the user's umask leaves.
func create(path string, old fs.FileInfo) (*os.File, error) {
	mode := fs.FileMode(0o666)
	if old != nil {
		mode = 0o600
	}
	for try := 0; ; try++ {
		name := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+strconv.FormatUint(rand.Uint64(), 36))
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if try < 100 && errors.Is(err, fs.ErrExist) {
			continue
		}
		if named := (*fs.PathError)(nil); errors.As(err, &named) {
			named.Path = path // the name that the caller knows
		}
		return f, err
	}
}

// likeness gives a file the owner and the permissions of an old one.
func likeness(f *os.File, old fs.FileInfo) error {
	if old == nil {
		return nil
	}
	own(f, old)
	return f.Chmod(old.Mode().Perm())
}

// overwrite copies a file over one that has several names.
func overwrite(path string, from *os.File) error {
	if _, err := from.Seek(0, io.SeekStart); err != nil {
		return err
	}
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Sync(), to.Close())
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
