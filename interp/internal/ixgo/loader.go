package ixgo

import (
	"go/token"
	"go/types"
	"maps"
	"reflect"
	"slices"
	"sync"

	"github.com/goplus/ixgo"
	"golang.org/x/tools/go/types/typeutil"
)

// loader gives ixgo the implementations of the types and variables of packages: from symbol
// tables for compiled packages, and from earlier units.
type loader struct {
	ixgo.Loader
	tables   func(path string) map[string]reflect.Value
	importer types.Importer
	vars     map[string]reflect.Value // pointers to the variables of units

	mu        sync.RWMutex // ixgo asks while code runs, in any goroutine
	cached    map[string]map[string]reflect.Value
	installed map[string]*ixgo.Package
	bound     map[string]*types.Package // packages that declare no types
	symbols   map[string]map[string]reflect.Value
	toReflect typeutil.Map
	toTypes   map[reflect.Type]types.Type
	walked    map[*types.Package]bool
	known     []reflect.Type // types of units, with pointers to them
}

func newLoader(base ixgo.Loader, o Options) *loader {
	l := &loader{
		Loader: base, tables: o.Table, importer: o.Importer,
		vars:   map[string]reflect.Value{},
		cached: map[string]map[string]reflect.Value{}, installed: map[string]*ixgo.Package{},
		bound: map[string]*types.Package{}, symbols: map[string]map[string]reflect.Value{},
		toTypes: map[reflect.Type]types.Type{}, walked: map[*types.Package]bool{},
	}
	l.installed["main"] = &ixgo.Package{Name: "main", Path: "main", Vars: l.vars}
	return l
}

// register gives ixgo the functions of compiled packages. ixgo keeps them for the whole
// process and reads them as soon as code needs one of a package.
func register(paths []string, table func(string) map[string]reflect.Value) {
	once.Do(func() {
		for _, path := range paths {
			ixgo.RegisterPackageLazy(path, func() *ixgo.Package {
				p := &ixgo.Package{Path: path, Funcs: map[string]reflect.Value{}}
				for name, v := range table(path) {
					if v.Kind() == reflect.Func {
						p.Funcs[name] = v
					}
				}
				return p
			})
		}
	})
}

var once sync.Once

// table returns the symbols of a compiled package.
func (l *loader) table(path string) map[string]reflect.Value {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tableOf(path)
}

func (l *loader) tableOf(path string) map[string]reflect.Value {
	t, ok := l.cached[path]
	if !ok {
		t = l.tables(path)
		l.cached[path] = t
	}
	return t
}

// Import implements types.Importer and ixgo.Loader.
func (l *loader) Import(path string) (*types.Package, error) {
	l.mu.RLock()
	p := l.bound[path]
	l.mu.RUnlock()
	if p != nil {
		return p, nil
	}
	return l.importer.Import(path)
}

// bind makes a package of values, or adds to one. Existing code keeps the package that
// it was compiled with.
func (l *loader) bind(path string, symbols map[string]reflect.Value) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := maps.Clone(l.symbols[path])
	if all == nil {
		all = map[string]reflect.Value{}
	}
	maps.Copy(all, symbols)
	l.symbols[path] = all
	pkg := types.NewPackage(path, path)
	values := &ixgo.Package{Path: path, Name: path, Vars: map[string]reflect.Value{}}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		v := all[name]
		t := l.typeOf(v.Type())
		if sig, ok := t.(*types.Signature); ok {
			pkg.Scope().Insert(types.NewFunc(token.NoPos, pkg, name, sig))
			continue
		}
		pkg.Scope().Insert(types.NewVar(token.NoPos, pkg, name, t))
		p := reflect.New(v.Type())
		p.Elem().Set(v)
		values.Vars[name] = p
	}
	pkg.MarkComplete()
	l.bound[path] = pkg
	l.installed[path] = values
}

// Installed implements ixgo.Loader: it returns the variables of a package.
func (l *loader) Installed(path string) (*ixgo.Package, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.installed[path]; p != nil {
		return p, true
	}
	t := l.tableOf(path)
	if t == nil {
		return nil, false
	}
	p := &ixgo.Package{Path: path, Vars: map[string]reflect.Value{}}
	for name, v := range t {
		if v.CanAddr() {
			p.Vars[name] = v.Addr()
		}
	}
	l.installed[path] = p
	return p, true
}

// LookupReflect implements ixgo.Loader.
func (l *loader) LookupReflect(t types.Type) (reflect.Type, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		if n, ok := types.Unalias(p.Elem()).(*types.Named); ok {
			if r := l.named(n); r != nil {
				return reflect.PointerTo(r), true
			}
		}
		return nil, false
	}
	if n, ok := t.(*types.Named); ok {
		if r := l.named(n); r != nil {
			return r, true
		}
	}
	return nil, false
}

// named returns the reflect type of a named type, or nil if it is new.
func (l *loader) named(n *types.Named) reflect.Type {
	if r := l.toReflect.At(n); r != nil {
		return r.(reflect.Type)
	}
	pkg := n.Obj().Pkg()
	if pkg == nil || pkg.Path() == "main" || l.bound[pkg.Path()] != nil {
		return nil
	}
	if n.TypeArgs() == nil && n.Obj().Parent() == pkg.Scope() {
		if v, ok := l.tableOf(pkg.Path())[n.Obj().Name()]; ok && v.Kind() == reflect.Pointer && v.IsNil() && !v.CanAddr() {
			l.set(n, v.Type().Elem())
			return v.Type().Elem()
		}
	}
	l.walk(pkg)
	if r := l.toReflect.At(n); r != nil {
		return r.(reflect.Type)
	}
	return nil
}

func (l *loader) set(t types.Type, r reflect.Type) {
	l.toReflect.Set(t, r)
	l.toTypes[r] = t
}

// LookupTypes implements ixgo.Loader.
func (l *loader) LookupTypes(r reflect.Type) (types.Type, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	t, ok := l.toTypes[r]
	return t, ok
}

// learn adds the types that an interpreter has made and returns the new ones, with
// pointers to them.
func (l *loader) learn(in *ixgo.Interp) (all, fresh []reflect.Type) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for r, t := range typesOf(in) {
		n, ok := types.Unalias(t).(*types.Named)
		if !ok || n.Obj().Pkg() == nil || l.toReflect.At(n) != nil {
			continue
		}
		l.set(n, r)
		if r.Kind() != reflect.Interface {
			fresh = append(fresh, r, reflect.PointerTo(r))
		}
	}
	l.known = append(l.known, fresh...)
	return l.known, fresh
}
