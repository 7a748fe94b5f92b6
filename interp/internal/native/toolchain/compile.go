package toolchain

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Compiler compiles packages of one file. Close removes its files.
type Compiler struct {
	t   *Toolchain
	dir string
}

// NewCompiler returns a compiler.
func (t *Toolchain) NewCompiler() (*Compiler, error) {
	dir, err := os.MkdirTemp("", "halfnote-cells")
	if err != nil {
		return nil, err
	}
	var imports strings.Builder
	for _, path := range slices.Sorted(maps.Keys(t.Packages)) {
		fmt.Fprintf(&imports, "packagefile %s=%s\n", path, t.Packages[path])
	}
	c := &Compiler{t, dir}
	if err := os.WriteFile(c.file("importcfg"), []byte(imports.String()), 0o600); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	return c, nil
}

func (c *Compiler) file(name string) string { return filepath.Join(c.dir, name) }

// Compile compiles a package and returns the archive with its object. If inline is false, calls
// are not replaced by bodies of functions. An error holds the compiler's messages.
func (c *Compiler) Compile(ctx context.Context, path, source string, inline bool) ([]byte, error) {
	if err := os.WriteFile(c.file("cell.go"), []byte(source), 0o600); err != nil {
		return nil, err
	}
	args := []string{"-p", path, "-dynlink", "-shared", "-dwarf=false", "-c=2", "-importcfg", c.file("importcfg"), "-o", c.file("cell.a")}
	if !inline {
		args = append(args, "-l")
	}
	cmd := exec.CommandContext(ctx, c.t.Compiler, append(args, c.file("cell.go"))...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("the compiler failed: %w: %s", err, strings.TrimSpace(out.String()))
	}
	return os.ReadFile(c.file("cell.a"))
}

// Close removes the files of the compiler.
func (c *Compiler) Close() error { return os.RemoveAll(c.dir) }
