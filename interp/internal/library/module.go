package library

import (
	"errors"
	"fmt"
	"go/build"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// Place is the location of a package's source.
type Place struct {
	Dir string
	// Module is the path of the module that has the package, and GoVersion is the
	// module's language version, such as "1.21"; both are empty for the standard
	// library.
	Module, GoVersion string
}

// Finder locates packages as the go command would from one directory: by go.work,
// go.mod, the vendor directory and the module cache. It starts no process and does not
// use the network.
type Finder struct {
	root     string // directory of the main module or workspace, or "" outside of one
	main     []*modFile
	vendor   string // vendor directory, or "" if it is not used
	vendored map[string]Place
	selected map[string]string
	replaced map[module.Version]module.Version // a key without a version stands for all versions
	cache    string
	sums     map[module.Version][]string // checksums by module, and by version/go.mod; nil until the first is needed
}

// NewFinder returns a finder for a directory. An error describes a problem in the files
// that describe its module; being outside of a module is not an error.
func NewFinder(dir string) (*Finder, error) {
	f := &Finder{
		selected: map[string]string{}, replaced: map[module.Version]module.Version{},
		cache: moduleCache(),
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	mod := upward(dir, "go.mod")
	work := os.Getenv("GOWORK")
	if work == "" {
		work = upward(dir, "go.work")
	}
	switch {
	case work != "" && work != "off":
		if err := f.workspace(work); err != nil {
			return nil, err
		}
	case mod != "":
		m, err := readMod(mod)
		if err != nil {
			return nil, err
		}
		f.root, f.main = filepath.Dir(mod), []*modFile{m}
	}
	if f.root == "" {
		return f, nil
	}
	for _, m := range f.main {
		f.replace(m)
	}
	if !f.vendoring() {
		return f, f.selectVersions()
	}
	f.vendor = filepath.Join(f.root, "vendor")
	return f, f.readVendor()
}

// replace adds the replacements of m. Earlier ones take precedence.
func (f *Finder) replace(m *modFile) {
	for _, r := range m.replace {
		if _, ok := f.replaced[r.Old]; ok {
			continue
		}
		if dir := filepath.FromSlash(r.New.Path); r.New.Version == "" && !filepath.IsAbs(dir) {
			r.New.Path = filepath.Join(m.dir, dir)
		}
		f.replaced[r.Old] = r.New
	}
}

// workspace reads a go.work file and the modules that it uses.
func (f *Finder) workspace(file string) error {
	w, err := readWork(file)
	if err != nil {
		return err
	}
	f.root = w.dir
	f.replace(w) // before those of the modules
	for _, use := range w.use {
		dir := filepath.FromSlash(use)
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(f.root, dir)
		}
		m, err := readMod(filepath.Join(dir, "go.mod"))
		if err != nil {
			return err
		}
		f.main = append(f.main, m)
	}
	return nil
}

// selectVersions selects for each module the highest required version. A go.mod of Go
// 1.17 or later lists all modules that its packages need; for older ones the
// requirements of the required modules are included. The error is that of a go.mod that go.sum does not describe.
func (f *Finder) selectVersions() error {
	work := slices.Clone(f.main)
	seen := map[module.Version]bool{}
	for len(work) > 0 {
		m := work[0]
		work = work[1:]
		for _, r := range m.require {
			if f.excluded(r) {
				continue
			}
			if old, ok := f.selected[r.Path]; !ok || semver.Compare(r.Version, old) > 0 {
				f.selected[r.Path] = r.Version
			}
			if complete(m.goVersion) || seen[r] {
				continue
			}
			seen[r] = true
			dep, err := f.requirements(r)
			if wrong := (*sumError)(nil); errors.As(err, &wrong) {
				return err
			}
			if err == nil {
				work = append(work, dep)
			}
		}
	}
	return nil
}

func (f *Finder) excluded(r module.Version) bool {
	return slices.ContainsFunc(f.main, func(m *modFile) bool { return slices.Contains(m.exclude, r) })
}

// requirements reads the go.mod of a module.
func (f *Finder) requirements(m module.Version) (*modFile, error) {
	m = f.replacement(m)
	if m.Version == "" {
		return readRequired(filepath.Join(m.Path, "go.mod"))
	}
	path, version, err := cached(m)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(f.cache, "cache", "download", path, "@v", version+".mod")
	text, err := os.ReadFile(file)
	if err == nil {
		err = f.verifyMod(m, text)
	}
	if err != nil {
		return nil, err
	}
	return readRequired(file)
}

// replacement returns the replacement of m: a version of a module, or a folder as the path of
// a module without a version. It returns m if there is none.
func (f *Finder) replacement(m module.Version) module.Version {
	if r, ok := f.replaced[m]; ok {
		return r
	}
	if r, ok := f.replaced[module.Version{Path: m.Path}]; ok {
		return r
	}
	return m
}

// Find returns the location of the package at a path. Its error explains why there is
// no usable one.
func (f *Finder) Find(pkg string) (Place, error) {
	if first, _, _ := strings.Cut(pkg, "/"); !strings.Contains(first, ".") && f.owner(pkg) == nil {
		return f.std(pkg)
	}
	if m := f.owner(pkg); m != nil {
		p := Place{filepath.Join(m.dir, filepath.FromSlash(strings.TrimPrefix(pkg[len(m.module):], "/"))), m.module, m.goVersion}
		if !exists(p.Dir) {
			return p, fmt.Errorf("module %s has no folder for package %q: %s", m.module, pkg, p.Dir)
		}
		return p, nil
	}
	if f.root == "" {
		return Place{}, fmt.Errorf("package %q: cannot find a go.mod in this folder or above it; %%go get %s makes one", pkg, pkg)
	}
	if f.vendor != "" {
		p, ok := f.vendored[pkg]
		if !ok {
			return p, fmt.Errorf("package %q is not in %s: run go mod vendor", pkg, f.vendor)
		}
		return p, nil
	}
	// The module with the longest path that has the folder provides the package.
	var missing error
	for prefix := pkg; prefix != "." && prefix != "/"; prefix = path.Dir(prefix) {
		version, ok := f.selected[prefix]
		if !ok {
			continue
		}
		root, err := f.moduleDir(module.Version{Path: prefix, Version: version})
		if err != nil {
			missing = err
			continue
		}
		dir := filepath.Join(root, filepath.FromSlash(strings.TrimPrefix(pkg[len(prefix):], "/")))
		if exists(dir) {
			p := Place{Dir: dir, Module: prefix, GoVersion: noVersion}
			if m, err := readRequired(filepath.Join(root, "go.mod")); err == nil {
				p.GoVersion = m.goVersion
			}
			return p, nil
		}
		missing = errors.Join(missing, fmt.Errorf("module %s@%s has no folder for package %q", prefix, version, pkg))
	}
	if missing != nil {
		return Place{}, missing
	}
	return Place{}, &unprovided{pkg, filepath.Join(f.root, "go.mod")}
}

// unprovided is the error for a package of no module that a go.mod requires.
type unprovided struct{ pkg, file string }

func (e *unprovided) Error() string {
	return fmt.Sprintf("package %q: no module that %s requires has it: %%go get %s adds it", e.pkg, e.file, e.pkg)
}

// owner returns the main module that has the package, or nil if there is none.
func (f *Finder) owner(pkg string) (owner *modFile) {
	for _, m := range f.main {
		if (pkg == m.module || strings.HasPrefix(pkg, m.module+"/")) && (owner == nil || len(m.module) > len(owner.module)) {
			owner = m
		}
	}
	return owner
}

// moduleDir returns the directory of a required module.
func (f *Finder) moduleDir(m module.Version) (string, error) {
	r := f.replacement(m)
	if r.Version == "" {
		if !exists(r.Path) {
			return "", fmt.Errorf("module %s is replaced by the folder %s, which does not exist", m.Path, r.Path)
		}
		return r.Path, nil
	}
	path, version, err := cached(r)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(f.cache, path+"@"+version)
	if !exists(dir) {
		return "", fmt.Errorf("module %s is not in the module cache (%s): %%go get %s fetches it", r, f.cache, r)
	}
	return dir, f.verify(r, path, version)
}

// std returns the source of a package of the standard library, if Go is installed.
func (f *Finder) std(pkg string) (Place, error) {
	root, err := goroot()
	p := Place{Dir: filepath.Join(root, "src", filepath.FromSlash(pkg))}
	if err != nil || !exists(p.Dir) {
		return p, fs.ErrNotExist
	}
	return p, nil
}

// Home returns the import path that the directory has or would have, which determines
// the internal packages that may be imported from there; "" outside of modules.
func (f *Finder) Home(dir string) string {
	for _, m := range f.main {
		if rel, err := filepath.Rel(m.dir, dir); err == nil && filepath.IsLocal(rel) {
			return path.Join(m.module, filepath.ToSlash(rel))
		}
	}
	return ""
}

// moduleCache returns the directory of the module cache.
func moduleCache() string {
	if dir := os.Getenv("GOMODCACHE"); dir != "" {
		return dir
	}
	list := filepath.SplitList(build.Default.GOPATH)
	if len(list) == 0 {
		return ""
	}
	return filepath.Join(list[0], "pkg", "mod")
}

// upward returns the path of the nearest file of that name in dir or above it.
func upward(dir, name string) string {
	for {
		if file := filepath.Join(dir, name); exists(file) {
			return file
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
