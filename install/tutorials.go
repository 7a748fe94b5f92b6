package install

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"halfnote/internal/save"
)

// copied is the name of the file that records the checksums of the files that were copied
// to a folder.
const copied = ".halfnote-tutorials.json"

// CopyTutorials copies the files of src to the folder dir, which it creates. edit, which may be
// nil, returns what a copy contains. A file that was copied before and has not been changed since
// is updated. A file that has been changed, or that was not copied, is kept. CopyTutorials returns
// the sorted names of the kept files that differ from their new copies.
func CopyTutorials(src fs.FS, dir string, edit func(name string, text []byte) ([]byte, error)) (kept []string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("install: tutorials: %w", err)
	}
	record := filepath.Join(dir, copied)
	sums := map[string]string{}
	if text, err := os.ReadFile(record); err == nil {
		_ = json.Unmarshal(text, &sums) // a damaged record keeps every file
	}
	err = fs.WalkDir(src, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(src, name)
		if err != nil {
			return err
		}
		if edit != nil {
			if text, err = edit(name, text); err != nil {
				return err
			}
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		now, err := os.ReadFile(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case checksum(now) == checksum(text):
			sums[name] = checksum(text)
			return nil
		case checksum(now) != sums[name]:
			kept = append(kept, name)
			return nil
		}
		sums[name] = checksum(text)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return save.Text(path, text)
	})
	if err != nil {
		return nil, fmt.Errorf("install: tutorials: %w", err)
	}
	text, err := json.MarshalIndent(sums, "", "\t")
	if err != nil {
		return nil, fmt.Errorf("install: tutorials: %w", err)
	}
	return kept, save.Text(record, text)
}

func checksum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
