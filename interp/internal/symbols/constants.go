package symbols

import (
	"go/constant"
	"go/token"
	"go/types"
	"reflect"
	"strings"
	"sync"

	"halfnote/interp/internal/exports"
)

// Importer returns an importer of the packages that cells can import, with the constants of this program.
func Importer() types.ImporterFrom {
	return &ownConstants{ImporterFrom: exports.Importer(), done: map[string]bool{}}
}

// ownConstants imports packages with the constants of this program. The embedded packages are those of linux/amd64
// and of one release of Go, where runtime.GOOS, os.PathSeparator or unicode.Version have other values.
type ownConstants struct {
	types.ImporterFrom

	mu   sync.Mutex
	done map[string]bool // packages whose constants are those of this program
}

func (c *ownConstants) Import(path string) (*types.Package, error) {
	p, err := c.ImporterFrom.Import(path)
	if err != nil || strings.HasPrefix(path, "halfnote/") {
		return p, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.done[path] {
		c.done[path] = true
		correctConstants(p, Table(path))
	}
	return p, nil
}

func (c *ownConstants) ImportFrom(path, _ string, _ types.ImportMode) (*types.Package, error) {
	return c.Import(path)
}

// correctConstants gives the constants of a package the values that they have in a table of symbols.
func correctConstants(p *types.Package, table map[string]reflect.Value) {
	for _, name := range p.Scope().Names() {
		old, ok := p.Scope().Lookup(name).(*types.Const)
		if !ok || !old.Exported() {
			continue
		}
		if value := constantOf(table[name]); value != nil && !constant.Compare(value, token.EQL, old.Val()) {
			*old = *types.NewConst(old.Pos(), p, name, old.Type(), value)
		}
	}
}

// constantOf returns the value of a constant in a table of symbols, or nil for another symbol.
func constantOf(v reflect.Value) constant.Value {
	if !v.IsValid() {
		return nil
	}
	if c, ok := v.Interface().(constant.Value); ok { // an untyped constant
		return c
	}
	switch {
	case v.Kind() == reflect.Bool:
		return constant.MakeBool(v.Bool())
	case v.Kind() == reflect.String:
		return constant.MakeString(v.String())
	case v.CanInt():
		return constant.MakeInt64(v.Int())
	case v.CanUint():
		return constant.MakeUint64(v.Uint())
	}
	return nil
}
