package toolchain

import (
	"archive/zip"
	"compress/flate"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Build says how a program was built.
type Build struct {
	Dir     string   // folder of its package main
	Command []string // go command, such as go or sh cuda/build.sh
	Flags   []string // those of the program, which follow the subcommand
	// Trim returns what cells need of the archive of a package.
	Trim func(archive []byte) ([]byte, error)
}

// Append appends to a program's file what its compiled cells need, so that it needs neither Go
// nor its sources. The file may be stripped before, but not afterwards. It returns the number
// of bytes that it has appended. The program may be one for another system, and its
// sources are those that it was built from; if they are not, the file stays as it is.
func Append(ctx context.Context, file string, b Build) (int64, error) {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return 0, err
	}
	if info.GoVersion != runtime.Version() {
		return 0, fmt.Errorf("%s was built by %s, and this command by %s: build both with the same Go", file, info.GoVersion, runtime.Version())
	}
	if carriedSum(file) != "" {
		return 0, fmt.Errorf("%s carries a compiler already", file)
	}
	p := &program{file: file, image: file, path: info.Path, module: info.Main.Path, flags: b.Flags, env: system(info)}
	if err := p.read(); err != nil {
		return 0, err
	}
	g := &goCommand{ctx: ctx, dir: b.Dir, command: b.Command, program: p}
	t := &Toolchain{}
	dir, err := os.MkdirTemp("", "halfnote-compiler")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	if t.Compiler, err = g.compilerFor(info, dir); err != nil {
		return 0, err
	}
	if t.Packages, _, err = g.list(); err != nil {
		return 0, err
	}
	if t.Addresses, err = g.addresses([]way{built}); err != nil {
		return 0, err
	}
	return t.append(file, b.Trim)
}

// system returns the settings of a build that choose its system.
func system(info *buildinfo.BuildInfo) (env []string) {
	for _, s := range info.Settings {
		if strings.HasPrefix(s.Key, "GO") || s.Key == "CGO_ENABLED" {
			env = append(env, s.Key+"="+s.Value)
		}
	}
	return env
}

// compilerFor returns the file of the compiler that runs on a program's system: the installed one, which runs on this
// system, or one that is built into a folder from the sources in the installed Go.
func (g *goCommand) compilerFor(info *buildinfo.BuildInfo, dir string) (string, error) {
	installed, err := g.compiler()
	env := system(info)
	if err != nil || slices.Contains(env, "GOOS="+runtime.GOOS) && slices.Contains(env, "GOARCH="+runtime.GOARCH) {
		return installed, err
	}
	file := filepath.Join(dir, "compile")
	without := *g.program // the compiler needs no C library
	without.env = append(env, "CGO_ENABLED=0")
	cross := *g
	cross.program = &without
	_, _, err = cross.run("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", file, "cmd/compile")
	return file, err
}

// append writes the archive of a toolchain to the end of a program's file.
func (t *Toolchain) append(file string, trim func([]byte) ([]byte, error)) (int64, error) {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	sum, err := sumOf(file, size)
	if err != nil {
		return 0, err
	}
	err = t.archive(f, manifest{Size: size, Sum: sum, Addresses: t.Addresses}, trim)
	if err != nil {
		return 0, errors.Join(err, f.Truncate(size))
	}
	end, err := f.Seek(0, io.SeekEnd)
	return end - size, err
}

// archive writes the archive that follows a program.
func (t *Toolchain) archive(w io.Writer, m manifest, trim func([]byte) ([]byte, error)) error {
	z := zip.NewWriter(w)
	z.SetOffset(m.Size)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	all := sha256.New()
	add := func(name string, content []byte, mode os.FileMode) error {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate}
		h.SetMode(mode)
		part, err := z.CreateHeader(h)
		if err == nil {
			fmt.Fprintf(all, "%s %d\n", name, len(content))
			_, err = io.MultiWriter(all, part).Write(content)
		}
		return err
	}
	text, err := json.Marshal(m)
	if err == nil {
		err = add(manifestName, text, 0o644)
	}
	var content []byte
	if err == nil {
		content, err = os.ReadFile(t.Compiler)
	}
	if err == nil {
		err = add(compilerName, content, 0o755)
	}
	for _, path := range slices.Sorted(maps.Keys(t.Packages)) {
		if err == nil {
			content, err = t.Archive(path)
		}
		if err == nil {
			content, err = trim(content)
		}
		if err == nil {
			err = add(packagesDir+path+packageExt, content, 0o644)
		}
	}
	return errors.Join(err, z.SetComment(fmt.Sprintf("%s%x", carriedMark, all.Sum(nil))), z.Close())
}
