package library

import (
	"errors"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"halfnote/interp/internal/lower"
)

// StdSource returns the source of the standard library, whose folders are import paths. It fails
// where Go is not installed.
func StdSource() (fs.FS, error) {
	root, err := goroot()
	if err != nil {
		return nil, err
	}
	return os.DirFS(filepath.Join(root, "src")), nil
}

// goroot returns the directory of a Go installation with sources.
var goroot = sync.OnceValues(func() (string, error) {
	//lint:ignore SA1019 the go command may not be on the PATH
	try := []string{os.Getenv("GOROOT"), runtime.GOROOT()}
	if out, err := exec.Command("go", "env", "GOROOT").Output(); err == nil {
		try = append(try, strings.TrimSpace(string(out)))
	}
	for _, dir := range try {
		if _, err := os.Stat(filepath.Join(dir, "src", "slices")); dir != "" && err == nil {
			return dir, nil
		}
	}
	return "", errors.New("no Go installation found: install Go, or set GOROOT")
})

// Declaration returns the source of a name in the package of a folder, and the file with its path
// in files. name is "Name" for a constant, variable, function or type, "Type.Name" for a
// method or field. A type comes with its methods, as far as it has few lines. Both results are
// empty if the folder does not declare the name for this system.
func Declaration(files fs.FS, folder, name string) (text, file string) {
	first, member, isMember := strings.Cut(name, ".")
	entries, err := fs.ReadDir(files, folder)
	if err != nil {
		return "", ""
	}
	var methods []string
	isType := false
	for _, e := range entries {
		if !chosen(files, folder, e.Name()) {
			continue
		}
		source, err := fs.ReadFile(files, path.Join(folder, e.Name()))
		if err != nil || !strings.Contains(string(source), first) {
			continue
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, e.Name(), source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		for _, d := range f.Decls {
			between := func(from, to token.Pos) string {
				return string(source[fset.Position(from).Offset:fset.Position(to).Offset])
			}
			switch d := d.(type) {
			case *ast.FuncDecl:
				switch recv := lower.Receiver(d); {
				case recv == first && isMember && d.Name.Name == member, recv == "" && !isMember && d.Name.Name == first:
					return between(d.Pos(), d.End()), path.Join(folder, e.Name())
				case recv == first && !isMember && d.Name.IsExported():
					methods = append(methods, between(d.Pos(), d.End()))
				}
			case *ast.GenDecl:
				if spec := declares(d, first); spec != nil && text == "" {
					_, isType = spec.(*ast.TypeSpec)
					text, file = between(d.Pos(), d.End()), path.Join(folder, e.Name())
					if d.Lparen.IsValid() && (isType || strings.Count(text, "\n") > longGroup) {
						text = d.Tok.String() + " " + between(spec.Pos(), spec.End())
					}
				}
			}
		}
	}
	if whole := strings.Join(append([]string{text}, methods...), "\n\n"); isType && !isMember && strings.Count(whole, "\n") <= longType {
		text = whole
	}
	return text, file
}

// longGroup is the number of lines up to which a group of constants or variables is shown whole,
// and longType that up to which a type is shown with its methods.
const longGroup, longType = 40, 150

// chosen reports whether a file belongs to the package on this system.
func chosen(files fs.FS, folder, name string) bool {
	if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
		return false
	}
	ctx := build.Default
	ctx.OpenFile = func(name string) (io.ReadCloser, error) { return files.Open(path.Join(folder, filepath.Base(name))) }
	ok, err := ctx.MatchFile(folder, name)
	return ok && err == nil
}

// declares returns the part of a declaration that declares a name, or nil.
func declares(d *ast.GenDecl, name string) ast.Spec {
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			if s.Name.Name == name {
				return s
			}
		case *ast.ValueSpec:
			for _, id := range s.Names {
				if id.Name == name {
					return s
				}
			}
		}
	}
	return nil
}
