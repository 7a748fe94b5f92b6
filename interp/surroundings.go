package interp

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
	"sync"

	"halfnote/interp/internal/library"
	"halfnote/interp/lower"
	"halfnote/kernel"
)

// surroundings are what a cell that is being written can see.
type surroundings struct {
	importer types.Importer
	loader   *library.Loader   // of packages from source; nil if there are none
	checking *sync.Mutex       // held while importer and the checker work
	imports  map[string]string // package names to paths, the preloaded ones too
	dots     []string          // paths of dot imports
	prelude  *preludeFile
	written  map[string]written // and the names in it, "T.M" for methods; they hide packages
	shown    []shownValue       // values of earlier cells
	magics   []kernel.Match     // what a line may begin with
	session  *Session           // whose values can be looked at; nil if nobody may
}

// preludeFile is a file that declares what earlier cells left. It is parsed when
// it is first needed.
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

// surroundings returns what the session's next cell can see.
func (s *Session) surroundings() surroundings {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.around == nil {
		s.around = s.survey()
	}
	return *s.around
}

func (s *Session) survey() *surroundings {
	sur := &surroundings{
		importer: s.importer,
		loader:   s.packages.loader,
		checking: s.checking,
		imports:  maps.Clone(preloaded),
		dots:     s.env.dots,
		written:  map[string]written{},
		shown:    s.shown,
		magics:   magicMatches(),
	}
	for name, path := range s.env.imports {
		sur.imports[name] = path
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
			sur.written[b.check+"."+name] = s.written(m.src)
		}
		sur.written[b.check] = s.written(b.src)
	}
	text.WriteString("var " + inName + " []string\n")
	for _, v := range s.shown {
		for _, d := range v.decls {
			text.WriteString(lower.Print(d) + "\n")
		}
		maps.Copy(paths, v.paths)
	}
	sur.prelude = &preludeFile{text: lower.Print(importDecl(paths)) + "\n" + text.String()}
	return sur
}

// written returns a declaration as its cell has it.
func (s *Session) written(src *source) written {
	if src == nil {
		return written{}
	}
	return written{src.item.text, commentAbove(s.code[src.cell], src.item.line), src.cell}
}
