package toolchain

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// cacheFile returns the file that holds the toolchain of the program, or "".
func (p *program) cacheFile() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	key := sha256.Sum256([]byte(runtime.Version() + "\n" + p.id))
	return filepath.Join(dir, "halfnote", "compiled-cells", fmt.Sprintf("%x.json", key[:12]))
}

// load returns the toolchain that store has stored, or nil if there is none or one of its
// files is gone. Files of the go command's cache are named by their contents.
func (p *program) load() *Toolchain {
	b, err := os.ReadFile(p.cacheFile())
	if err != nil {
		return nil
	}
	t := &Toolchain{}
	if json.Unmarshal(b, t) != nil || len(t.Packages) == 0 || len(t.Addresses) == 0 {
		return nil
	}
	if !complete(t) {
		return nil
	}
	return t
}

// complete reports whether the files of a toolchain exist.
func complete(t *Toolchain) bool {
	now := time.Now()
	for _, file := range t.Packages {
		info, err := os.Stat(file)
		if err != nil {
			return false
		}
		if now.Sub(info.ModTime()) > 24*time.Hour { // the go command removes what is not used for five days
			_ = os.Chtimes(file, now, now)
		}
	}
	_, err := os.Stat(t.Compiler)
	return err == nil
}

// store keeps a toolchain for the next start of the program. Without a cache folder it does nothing.
func (p *program) store(t *Toolchain) {
	file := p.cacheFile()
	b, err := json.Marshal(t)
	if file == "" || err != nil || os.MkdirAll(filepath.Dir(file), 0o777) != nil {
		return
	}
	temp, err := os.CreateTemp(filepath.Dir(file), "part")
	if err != nil {
		return
	}
	_, err = temp.Write(b)
	if temp.Close() != nil || err != nil || os.Rename(temp.Name(), file) != nil {
		_ = os.Remove(temp.Name())
	}
}
