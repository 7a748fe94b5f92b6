package assist

import (
	"go/ast"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"halfnote/internal/text"
	"halfnote/interp/internal/syntax"
)

// inMagic reports whether the cursor is outside of Go code: in the name of a magic, in its
// arguments, or in a body that is not Go.
func (c *completer) inMagic(known []Magic) (spot, bool) {
	first, _, _ := strings.Cut(strings.TrimLeft(c.code, " \t\r\n"), "\n")
	if name, _, _ := strings.Cut(strings.TrimSpace(first), " "); strings.HasPrefix(name, "%%") && (magicNamed(known, name) != nil && magicNamed(known, name).TakesText) &&
		strings.Contains(strings.TrimLeft(c.code[:c.end], " \t\r\n"), "\n") {
		return inText, true
	}
	line := strings.TrimLeft(c.code[strings.LastIndexByte(c.code[:c.end], '\n')+1:c.end], " \t")
	if strings.HasPrefix(line, "!") && strings.ContainsAny(line, " \t") {
		c.prefix = line[strings.LastIndexAny(line, " \t")+1:]
		c.start = c.end - len(c.prefix)
		return inMagic, true
	}
	if !strings.HasPrefix(line, "%") {
		return 0, false
	}
	name, args, ok := strings.Cut(line, " ")
	if !ok {
		c.start, c.prefix = c.end-len(name), name
		return inMagic, true
	}
	if magicNamed(known, name) == nil ||
		!strings.HasPrefix(name, "%%") && magicNamed(known, name).TakesGo {
		return 0, false // Go follows
	}
	c.prefix = args[strings.LastIndexByte(args, ' ')+1:]
	c.start = c.end - len(c.prefix)
	return inMagic, true
}

// magics offers the magics, or the arguments that the signature of a magic names.
func (c *completer) magics(snap Snapshot) {
	line := strings.TrimLeft(c.code[strings.LastIndexByte(c.code[:c.start], '\n')+1:c.start], " \t")
	name, _, _ := strings.Cut(line, " ")
	if strings.HasPrefix(line, "!") {
		c.files(c.prefix, false, asIs)
		return
	}
	for _, m := range snap.Magics {
		switch {
		case m.Name == "!":
		case name == "":
			c.offer(rankPackage, m.Name, "magic", m.Args)
		case m.Name != name:
		case strings.Contains(m.Args, "FILE"):
			c.files(c.prefix, false, asIs)
		case strings.Contains(m.Args, "FOLDER"):
			c.files(c.prefix, true, asIs)
		case strings.Contains(m.Args, "CELL…") && snap.Busy != nil:
			for _, n := range snap.Busy() {
				c.offer(rankPackage, syntax.Label(n), "cell", "")
			}
		case strings.Contains(m.Args, "NAME[=VALUE]"):
			for _, e := range os.Environ() {
				name, value, _ := strings.Cut(e, "=")
				c.offer(rankPackage, name, "variable", text.Cut(strings.Join(strings.Fields(value), " "), maxValue))
			}
		}
	}
}

// maxValue is the length at which the value of an environment variable is cut, in code points.
const maxValue = 60

func asIs(name string) (string, bool) { return name, true }

// maxFiles is the maximum number of directory entries that files reads.
const maxFiles = 2000

// files offers the files that complete a path; only the last element of the path is
// replaced.
func (c *completer) files(path string, foldersOnly bool, written func(string) (string, bool)) {
	dir, base := filepath.Split(path)
	c.start, c.prefix = c.end-len(base), base
	if rest, ok := strings.CutPrefix(dir, "~"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return
		}
		dir = home + rest
	}
	if dir == "" {
		dir = "."
	}
	f, err := os.Open(dir)
	if err != nil {
		return
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.IsDir() {
		return
	}
	entries, _ := f.ReadDir(maxFiles)
	for _, e := range entries {
		name, ok := written(e.Name())
		if !ok || strings.HasPrefix(name, ".") != strings.HasPrefix(base, ".") {
			continue
		}
		folder := e.IsDir()
		if e.Type()&fs.ModeSymlink != 0 {
			if info, err := os.Stat(filepath.Join(dir, e.Name())); err == nil {
				folder = info.IsDir()
			}
		}
		switch {
		case folder:
			c.offer(rankLocal, name+"/", "folder", "")
		case !foldersOnly:
			c.offer(rankSession, name, "file", "")
		}
	}
}

// literal returns the string that the cursor is in, and the node around it.
func (c *completer) literal() (lit *ast.BasicLit, outer ast.Node) {
	p := c.probe
	if len(p.path) < 2 {
		return nil, nil
	}
	lit, _ = p.path[0].(*ast.BasicLit)
	return lit, p.path[1]
}

// mapKeys offers the current keys of a map when the cursor is in its index.
func (c *completer) mapKeys() {
	lit, outer := c.literal()
	x, ok := outer.(*ast.IndexExpr)
	if !ok || lit == nil || x.Index != lit {
		return
	}
	v, ok := c.probe.value(x.X)
	if !ok || v.Kind() != reflect.Map || v.Type().Key().Kind() != reflect.String || !c.probe.Values.Idle() {
		return
	}
	for it := v.MapRange(); it.Next() && len(c.matches) < maxFiles; {
		if name, ok := c.quoted(it.Key().String()); ok {
			c.offer(rankKey, name, "key", "")
		}
	}
}

// fileParameters holds the names that parameters for file names usually have.
var fileParameters = map[string]bool{"dir": true, "dirname": true, "file": true, "filename": true, "name": true, "path": true}

// fileNames offers files for the string argument of a function that expects a file
// name.
func (c *completer) fileNames() {
	lit, outer := c.literal()
	call, ok := outer.(*ast.CallExpr)
	if !ok || lit == nil {
		return
	}
	i := slices.Index(call.Args, ast.Expr(lit))
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || i < 0 {
		return
	}
	f, ok := c.probe.info.Uses[sel.Sel].(*types.Func)
	if !ok || f.Pkg() == nil || f.Signature().Recv() != nil || i >= f.Signature().Params().Len() {
		return
	}
	switch path := f.Pkg().Path(); {
	case path == "os", path == "io/ioutil", strings.HasPrefix(path, "halfnote/"):
		if fileParameters[f.Signature().Params().At(i).Name()] {
			c.files(c.prefix, false, c.quoted)
		}
	}
}
