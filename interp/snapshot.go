package interp

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"halfnote/interp/internal/library"
	"halfnote/interp/lower"
	"halfnote/kernel"
)

// snapshot is the context of a cell that a user is writing: the names and values that
// it can use.
type snapshot struct {
	importer types.Importer
	loader   *library.Loader   // loader of packages from source; may be nil
	checking *sync.Mutex       // held while importer and the checker work
	imports  map[string]string // package names to paths, including the preloaded ones
	dots     []string          // paths of dot imports
	prelude  *preludeFile
	written  map[string]written // declarations by name, "T.M" for methods; they hide packages
	shown    []shownValue       // values of earlier cells
	magics   []kernel.Match     // magics that a line may begin with
	sources  fs.FS              // source of this library's packages, or nil
	session  *Session           // session whose values can be read, or nil
}

// preludeFile is a file that declares the names of earlier cells. It is parsed on first
// use.
type preludeFile struct {
	text   string
	once   sync.Once
	parsed *ast.File
	file   *token.File
}

func (f *preludeFile) parse() (*ast.File, *token.File) {
	f.once.Do(func() {
		fset := token.NewFileSet()
		f.parsed, _ = parser.ParseFile(fset, "prelude", "package main\n"+f.text, parser.SkipObjectResolution)
		f.file = fset.File(f.parsed.Package)
	})
	return f.parsed, f.file
}

// snapshot returns the context of the session's next cell.
func (s *Session) snapshot() snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.snap == nil {
		s.snap = s.takeSnapshot()
	}
	return *s.snap
}

func (s *Session) takeSnapshot() *snapshot {
	snap := &snapshot{
		importer: s.importer,
		loader:   s.packages.loader,
		checking: s.checking,
		imports:  maps.Clone(preloaded),
		dots:     s.env.dots,
		written:  map[string]written{},
		shown:    s.shown,
		magics:   magicMatches(),
		sources:  s.opts.Sources,
	}
	for name, path := range s.env.imports {
		snap.imports[name] = path
	}
	paths := map[string]bool{}
	var text strings.Builder
	for _, b := range append(slices.Collect(maps.Values(s.env.cur)), s.env.old...) {
		for _, d := range b.decls {
			text.WriteString(lower.Print(d) + "\n")
		}
		maps.Copy(paths, b.paths)
		for name, m := range b.methods {
			text.WriteString(lower.Print(m.header) + "\n")
			maps.Copy(paths, m.paths)
			snap.written[b.check+"."+name] = s.written(m.src)
		}
		snap.written[b.check] = s.written(b.src)
	}
	text.WriteString("var " + inName + " []string\n")
	for _, v := range s.shown {
		for _, d := range v.decls {
			text.WriteString(lower.Print(d) + "\n")
		}
		maps.Copy(paths, v.paths)
	}
	snap.prelude = &preludeFile{text: lower.Print(importDecl(paths)) + "\n" + text.String()}
	return snap
}

// written returns a declaration as written in its cell.
func (s *Session) written(src *source) written {
	if src == nil {
		return written{}
	}
	return written{src.item.text, commentAbove(s.code[src.cell], src.item.line), src.cell}
}
