// Command gen writes the files that package exports embeds: for each package that cells
// can import, its types and the texts of its declarations; and an index. The types of
// the standard library have the indexed format of golang.org/x/tools/go/gcexportdata,
// its texts are JSON, and both are compressed. Halfnote's own packages change with each
// commit to their API, so theirs are text that git can merge. Run it with
// go generate ./interp/...
//
// A package that does not compile keeps its existing files; gen then reports it and
// exits with 1.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"go/doc"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/tools/go/gcexportdata"

	"halfnote/interp/internal/exports/list"
	"halfnote/interp/internal/exports/load"
)

func main() {
	if err := write("z"); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// write brings the folder up to date.
func write(dir string) error {
	files, broken := generate(slices.Concat(list.Std, list.Own, list.Met))
	if files == nil {
		return broken
	}
	index := readIndex(filepath.Join(dir, "index.txt"))
	own := slices.Concat(list.Own, list.Met)
	for path, line := range index {
		if _, fresh := files[path+".docs"]; fresh || files[path+".docs.txt"] != nil {
			continue
		}
		if broken != nil && slices.Contains(own, path) {
			files["index.txt"] = append(files["index.txt"], line...)
		}
	}
	files["index.txt"] = sortLines(files["index.txt"])
	if broken == nil {
		if err := removeOthers(dir, files); err != nil {
			return err
		}
	}
	for name, data := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if !strings.HasSuffix(name, ".txt") {
			file += ".gz"
			if old, err := gunzip(file); err == nil && bytes.Equal(old, data) {
				continue
			}
			data = gzipped(data)
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, data, 0o644)); err != nil {
			return err
		}
	}
	return broken
}

// removeOthers removes the files that are not among the given ones.
func removeOthers(dir string, files map[string][]byte) error {
	return filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, file)
		if _, fresh := files[strings.TrimSuffix(filepath.ToSlash(name), ".gz")]; fresh || err != nil {
			return err
		}
		return os.Remove(file)
	})
}

// generate returns the files by name, before compression. err names the packages that
// could not be loaded; without files it concerns all of them.
func generate(paths []string) (files map[string][]byte, err error) {
	pkgs, err := load.Packages(paths...)
	if pkgs == nil {
		return nil, err
	}
	files = map[string][]byte{}
	var index bytes.Buffer
	texts, writeErr := headers(pkgs)
	if writeErr != nil {
		return nil, writeErr
	}
	for path, text := range texts {
		files[path+".types.txt"] = text
	}
	for _, p := range pkgs {
		docs, err := docs(files, p, texts[p.Path] != nil)
		if err != nil {
			return nil, err
		}
		if texts[p.Path] == nil {
			var b bytes.Buffer
			// An empty FileSet omits positions, which would name files of this machine.
			if err := gcexportdata.Write(&b, token.NewFileSet(), p.Types); err != nil {
				return nil, fmt.Errorf("%s: %w", p.Path, err)
			}
			files[p.Path+".types"] = b.Bytes()
		}
		use := "import"
		if slices.Contains(list.Met, p.Path) {
			use = "meet"
		}
		fmt.Fprintf(&index, "%s\t%s\t%s\t%s\n", p.Path, p.Name, use, new(doc.Package).Synopsis(docs[""].Doc))
	}
	if slices.Contains(paths, "fmt") { // the standard library is requested
		b, err := load.Builtin()
		if err != nil {
			return nil, err
		}
		if _, err := docs(files, b, false); err != nil {
			return nil, err
		}
	}
	files["index.txt"] = sortLines(index.Bytes())
	files["release.txt"] = []byte(runtime.Version() + "\n")
	return files, err
}

// docs adds the texts of p's declarations to files, as one object or as one line per name.
func docs(files map[string][]byte, p *load.Package, lines bool) (map[string]load.Text, error) {
	docs, err := p.Docs()
	if err != nil {
		return nil, err
	}
	if t := docs[""]; t.Doc == "" {
		t.Doc = list.Comments[p.Path]
		docs[""] = t
	}
	if !lines {
		files[p.Path+".docs"], err = json.Marshal(docs)
		return docs, err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, name := range slices.Sorted(maps.Keys(docs)) {
		err = errors.Join(err, enc.Encode(struct {
			Name string
			load.Text
		}{name, docs[name]}))
	}
	files[p.Path+".docs.txt"] = b.Bytes()
	return docs, err
}

// readIndex returns the lines of an index by import path.
func readIndex(file string) map[string]string {
	data, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		panic(err)
	}
	return readLines(data)
}

func readLines(data []byte) map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(string(data)) {
		path, _, _ := strings.Cut(line, "\t")
		m[path] = line
	}
	return m
}

func sortLines(data []byte) []byte {
	return []byte(strings.Join(slices.Sorted(strings.Lines(string(data))), ""))
}

func gzipped(data []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

func gunzip(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	_, err = b.ReadFrom(r)
	return b.Bytes(), err
}
