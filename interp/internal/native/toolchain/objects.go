package toolchain

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"time"
)

// objects are archives that the compiler has written, in a folder of the user's cache: a cell that runs again, in
// the same kernel or a later one, is not compiled again. The name of a file is the sum of all that the
// archive depends on; the file begins with the sum of the archive. The zero value keeps nothing.
type objects struct {
	dir     string
	program string // its id, which stands for the compiler and the packages of the program
}

// maxObjects is the size of the folder in bytes at which the objects that were not used for longest are removed.
const maxObjects = 64 << 20

// stored counts the bytes that this process has stored since the folder was last measured. The first object
// is reason to measure it.
var stored atomic.Int64

func init() { stored.Store(maxObjects) }

// objects returns the folder of the objects of the program.
func (p *program) objects() objects {
	file := p.cacheFile()
	if file == "" {
		return objects{}
	}
	return objects{filepath.Join(filepath.Dir(file), "objects"), p.id}
}

// file returns the file of what the compiler makes of a source, or "".
func (o objects) file(source string, inline bool) string {
	if o.dir == "" {
		return ""
	}
	key := sha256.Sum256(fmt.Appendf(nil, "%s\n%s/%s\n%s\n%t\n%s", runtime.Version(), runtime.GOOS, runtime.GOARCH, o.program, inline, source))
	return filepath.Join(o.dir, fmt.Sprintf("%x", key))
}

// load returns the archive in a file, or nil if the file does not exist or is damaged. A damaged file is removed.
func (o objects) load(file string) []byte {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	const size = sha256.Size
	if len(b) > size {
		if sum := sha256.Sum256(b[size:]); bytes.Equal(sum[:], b[:size]) {
			now := time.Now()
			_ = os.Chtimes(file, now, now)
			return b[size:]
		}
	}
	_ = os.Remove(file)
	return nil
}

// store keeps an archive in a file. A failure has no consequence but that the source is compiled again.
func (o objects) store(file string, archive []byte) {
	if file == "" || os.MkdirAll(o.dir, 0o700) != nil {
		return
	}
	temp, err := os.CreateTemp(o.dir, "part")
	if err != nil {
		return
	}
	sum := sha256.Sum256(archive)
	_, err = temp.Write(append(sum[:], archive...))
	if temp.Close() != nil || err != nil || os.Rename(temp.Name(), file) != nil {
		_ = os.Remove(temp.Name())
	}
	if stored.Add(int64(len(archive))) >= maxObjects/8 {
		stored.Store(0)
		go o.trim(maxObjects)
	}
}

// trim removes the files that were not used for longest until the folder has at most three quarters of a size, if
// it has more than that size.
func (o objects) trim(most int64) {
	entries, err := os.ReadDir(o.dir)
	if err != nil {
		return
	}
	var files []fs.FileInfo
	var size int64
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			files = append(files, info)
			size += info.Size()
		}
	}
	if size <= most {
		return
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, f := range files {
		if size <= most/4*3 {
			return
		}
		// A file that another process has just removed is gone too.
		if err := os.Remove(filepath.Join(o.dir, f.Name())); err == nil || errors.Is(err, fs.ErrNotExist) {
			size -= f.Size()
		}
	}
}
