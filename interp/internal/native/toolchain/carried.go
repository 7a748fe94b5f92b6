package toolchain

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A release carries its toolchain in a zip archive at the end of the program's file:
//
//	compile            the compiler
//	manifest.json      the manifest
//	packages/PATH.a    the archive of each package
//
// The archive's comment is carriedMark and a sum of all of it.
const (
	carriedMark  = "halfnote compiled cells "
	manifestName = "manifest.json"
	compilerName = "compile"
	packagesDir  = "packages/"
	packageExt   = ".a"
)

// manifest says which program an archive belongs to, and has the addresses of its variables.
type manifest struct {
	Size      int64  // of the program without the archive
	Sum       string // SHA-256 of the program without the archive
	Addresses map[string]uintptr
}

// carriedSum returns the sum of the archive at the end of a program's file, or "" if there is none.
func carriedSum(file string) string {
	z, err := zip.OpenReader(file)
	if err != nil {
		return ""
	}
	defer z.Close()
	sum, ok := strings.CutPrefix(z.Comment, carriedMark)
	if !ok {
		return ""
	}
	return sum
}

// unpack writes the toolchain that the program carries into a folder of the cache and returns it.
func (p *program) unpack(ctx context.Context) (*Toolchain, error) {
	cache := p.cacheFile()
	if cache == "" {
		return nil, errors.New("the compiler that this program carries needs a folder for its files: set XDG_CACHE_HOME to one that can be written")
	}
	t, err := p.unpackTo(ctx, strings.TrimSuffix(cache, filepath.Ext(cache)))
	var path *fs.PathError
	switch {
	case err == nil:
		return t, nil
	case errors.As(err, &path):
		return nil, fmt.Errorf("the compiler that this program carries cannot be unpacked: %w: set XDG_CACHE_HOME to a folder that can be written and has room for 80 MB", err)
	}
	return nil, fmt.Errorf("the compiler that this program carries: %w: install halfnote again", err)
}

// unpackTo replaces a folder by one with the files of the archive.
func (p *program) unpackTo(ctx context.Context, dir string) (*Toolchain, error) {
	z, err := zip.OpenReader(p.image)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	m, err := readManifest(&z.Reader)
	if err != nil {
		return nil, err
	}
	if sum, err := sumOf(p.image, m.Size); err != nil || sum != m.Sum {
		return nil, errors.Join(fmt.Errorf("%s is not the program that it was made for", p.file), err)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return nil, err
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), "part")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	t := &Toolchain{Compiler: filepath.Join(dir, compilerName), Packages: map[string]string{}, Addresses: m.Addresses}
	all := sha256.New()
	for _, f := range z.File {
		if path, ok := strings.CutPrefix(f.Name, packagesDir); ok {
			t.Packages[strings.TrimSuffix(path, packageExt)] = filepath.Join(dir, filepath.FromSlash(f.Name))
		}
		if err := extract(f, temp, all); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	if got := fmt.Sprintf("%x", all.Sum(nil)); got != strings.TrimPrefix(z.Comment, carriedMark) {
		return nil, fmt.Errorf("its files are damaged: their sum is %s, and that of the archive is %s", got, strings.TrimPrefix(z.Comment, carriedMark))
	}
	// Another process may do the same: its files are equal.
	if err := os.Rename(temp, dir); err != nil && (!complete(t) || t.runs(ctx, true) != nil) {
		if err := errors.Join(os.RemoveAll(dir), os.Rename(temp, dir)); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// readManifest returns the manifest of an archive.
func readManifest(z *zip.Reader) (*manifest, error) {
	f, err := z.Open(manifestName)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m := &manifest{}
	return m, json.NewDecoder(f).Decode(m)
}

// extract writes a file of an archive below a folder, and adds it to the sum of all.
func extract(f *zip.File, dir string, all io.Writer) error {
	name, err := filepath.Localize(f.Name)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, f.Mode())
	if err != nil {
		return err
	}
	fmt.Fprintf(all, "%s %d\n", f.Name, f.UncompressedSize64)
	_, err = io.Copy(io.MultiWriter(w, all), r)
	return errors.Join(err, w.Close())
}

const wholeFile = -1

// sumOf returns the SHA-256 of the first bytes of a file, or of all.
func sumOf(file string, size int64) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if size == wholeFile {
		_, err = io.Copy(h, f)
	} else {
		_, err = io.CopyN(h, f, size)
	}
	return fmt.Sprintf("%x", h.Sum(nil)), err
}
