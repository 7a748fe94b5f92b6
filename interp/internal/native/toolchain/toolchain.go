// Package toolchain finds what compiled cells need besides the program: the compiler of the
// Go version that built the program, the export data of the packages that are in the program,
// and the addresses of its variables. All of it comes from an installed Go and the sources of
// the program, after proof that a build of them is the program; or from an archive at the end of the
// program's file, which Append has written there.
package toolchain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Toolchain is what the compiler and the loader need.
type Toolchain struct {
	Compiler string // file of the program compile
	// Packages are the files with the export data and the object of each package, by path.
	Packages map[string]string
	// Addresses are those of the variables of the program, and of instances of generic
	// functions, by the linker's names.
	Addresses map[string]uintptr

	objects objects
}

// Find returns the toolchain of the running program. An error says what is lacking, and how to
// get it. The first call for a program takes some seconds; later ones read what the first has
// stored in the user's cache folder.
func Find(ctx context.Context) (*Toolchain, error) {
	p, err := running()
	if err != nil {
		return nil, err
	}
	if t := p.load(); t != nil && t.runs(ctx, p.carried) == nil {
		t.objects = p.objects()
		return t, nil
	}
	t, err := p.make(ctx)
	if err == nil {
		err = t.runs(ctx, p.carried)
	}
	if err != nil {
		return nil, err
	}
	p.store(t)
	t.objects = p.objects()
	return t, nil
}

// runs returns an error unless the compiler, which the program may carry, runs and is of the program's version.
func (t *Toolchain) runs(ctx context.Context, carried bool) error {
	out, err := exec.CommandContext(ctx, t.Compiler, "-V").Output()
	if errors.Is(err, fs.ErrPermission) {
		where := "install Go on another"
		if carried {
			where = "set XDG_CACHE_HOME to a folder on another"
		}
		return fmt.Errorf("the system does not run the compiler: %w: if its file system is mounted with noexec, %s", err, where)
	}
	if err != nil {
		return fmt.Errorf("the compiler does not run: %w", err)
	}
	if version := strings.TrimPrefix(strings.TrimSpace(string(out)), "compile version "); version != runtime.Version() {
		return fmt.Errorf("%s is the compiler of %s, and %s built this program: build it again", t.Compiler, version, runtime.Version())
	}
	return nil
}

// make returns the toolchain that the program carries, or else that of an installed Go and the sources of the program.
func (p *program) make(ctx context.Context) (*Toolchain, error) {
	if p.carried {
		return p.unpack(ctx)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, 5*time.Minute, errors.New("it takes more than 5 minutes"))
	defer cancel()
	dir, err := p.sources()
	if err != nil {
		return nil, err
	}
	g := &goCommand{ctx: ctx, dir: dir, command: []string{"go"}, program: p}
	t := &Toolchain{}
	if t.Compiler, err = g.compiler(); err != nil {
		return nil, err
	}
	var ways []way
	if t.Packages, ways, err = g.packages(); err != nil {
		return nil, err
	}
	if t.Addresses, err = g.addresses(ways); err != nil {
		return nil, err
	}
	return t, nil
}

// Archive returns the archive of a package: its export data and its object.
func (t *Toolchain) Archive(path string) ([]byte, error) {
	file, ok := t.Packages[path]
	if !ok {
		return nil, fmt.Errorf("package %s is not in the program", path)
	}
	return os.ReadFile(file)
}

// sources returns the folder of the program's module. The compiler has recorded it, unless the program was built with
// -trimpath: then it is the one around the working folder, or the executable.
func (p *program) sources() (string, error) {
	_, file, _, _ := runtime.Caller(0)
	if filepath.IsAbs(file) {
		if dir := p.around(filepath.Dir(file)); dir != "" {
			return dir, nil
		}
		return "", fmt.Errorf("compiled cells need the sources of this program, and %s, where it was built, has none: build it again in a checkout on this machine", filepath.Dir(file))
	}
	if dir, err := os.Getwd(); err == nil {
		if dir := p.around(dir); dir != "" {
			return dir, nil
		}
	}
	if dir := p.around(filepath.Dir(p.file)); dir != "" {
		return dir, nil
	}
	return "", errors.New("this program neither carries a compiler nor says where its sources are, because it was built with -trimpath: start it in its checkout, or build it there without that flag")
}

// around returns the folder of the program's module around another, or "".
func (p *program) around(dir string) string {
	for {
		b, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(b), "module "+p.module+"\n") {
			return dir
		}
		parent := filepath.Dir(dir)
		if err == nil || parent == dir {
			return ""
		}
		dir = parent
	}
}
