package exports

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"sync"
)

// declText mirrors load.Text.
type declText struct{ Decl, Doc string }

// texts caches the texts read so far: the files do not change, so sessions share it.
var texts struct {
	sync.Mutex
	m map[string]map[string]declText
}

// Doc returns the comment and the declaration of a name of the package at path. name is
// "" for the package itself, "Name" for a constant, variable, function or type,
// "Type.Name" for a method or field that the type itself declares. Both results are
// empty if there is no such name; doc is also empty if the name has no comment. The
// comment is unformatted; go/doc/comment parses it. Path "builtin" has the predeclared
// names.
func Doc(path, name string) (doc, decl string) {
	texts.Lock()
	defer texts.Unlock()
	m, ok := texts.m[path]
	if !ok {
		var err error
		m, err = readTexts(path)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
			return "", ""
		}
		if err != nil {
			panic("exports: " + path + ": " + err.Error()) // a damaged binary
		}
		if texts.m == nil {
			texts.m = map[string]map[string]declText{}
		}
		texts.m[path] = m
	}
	return m[name].Doc, m[name].Decl
}

// readTexts reads the texts of a package: one line of JSON per name, or one compressed
// object for all names.
func readTexts(path string) (m map[string]declText, err error) {
	if data, err := fs.ReadFile(docs, "z/"+path+".docs.txt"); err == nil {
		m = map[string]declText{}
		for line := range bytes.Lines(data) {
			var t struct {
				Name string
				declText
			}
			if err := json.Unmarshal(line, &t); err != nil {
				return nil, err
			}
			m[t.Name] = t.declText
		}
		return m, nil
	}
	data, err := read(docs, path+packedDocs)
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	return m, err
}

// Synopsis returns the first sentence of the comment of the package at path, or "" for
// unknown paths.
func Synopsis(path string) string {
	e, _ := find(path)
	return e.synopsis
}
