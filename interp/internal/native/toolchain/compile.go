package toolchain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
)

// Compiler compiles packages of one file. A process of the compiler is started in advance: it
// has read its settings and waits for the source, which saves half of the time of a small
// package. Close ends it and removes its files. A Compiler is safe for concurrent use.
type Compiler struct {
	t   *Toolchain
	dir string

	mu     sync.Mutex
	seq    int
	ready  *process // started in advance, or nil
	closed bool
	spare  []*os.File // closed where cells have used up the descriptors

	compiled atomic.Int64
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
	c := &Compiler{t: t, dir: dir}
	if err := os.WriteFile(filepath.Join(dir, "importcfg"), []byte(imports.String()), 0o600); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	c.reserve()
	c.prepare()
	return c, nil
}

// process is a process of the compiler that waits for the source on its standard input.
type process struct {
	cmd    *exec.Cmd
	source io.WriteCloser
	out    bytes.Buffer
	object string // file that it writes
}

// start starts a process of the compiler, with further flags.
func (c *Compiler) start(flags ...string) (*process, error) {
	c.seq++
	p := &process{object: filepath.Join(c.dir, strconv.Itoa(c.seq)+".a")}
	// Go 1.27 joins a relative name in a line comment with the folder of the source, which -trimpath removes again.
	args := []string{"-p", "main", "-dynlink", "-shared", "-dwarf=false", "-c=2", "-trimpath", "/dev", "-importcfg", filepath.Join(c.dir, "importcfg"), "-o", p.object}
	p.cmd = exec.Command(c.t.Compiler, append(append(args, flags...), "/dev/stdin")...)
	// The collector starts late: most packages are compiled before there is anything to collect.
	p.cmd.Env = append(os.Environ(), "GOGC=off", "GOMEMLIMIT=256MiB", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH, "GOEXPERIMENT=")
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	var err error
	if p.source, err = p.cmd.StdinPipe(); err == nil {
		err = p.cmd.Start()
	}
	return p, err
}

// stop ends a process that waits for its source.
func (p *process) stop() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// compile returns the archive with the object of the package of a source.
func (p *process) compile(ctx context.Context, source string) ([]byte, error) {
	defer os.Remove(p.object)
	defer context.AfterFunc(ctx, func() { _ = p.cmd.Process.Kill() })()
	_, err := io.WriteString(p.source, source)
	p.source.Close()
	if failed := p.cmd.Wait(); failed != nil {
		err = failed
	}
	if err != nil {
		return nil, fmt.Errorf("the compiler failed: %w: %s", err, strings.TrimSpace(p.out.String()))
	}
	return os.ReadFile(p.object)
}

// prepare starts the process for the next package. A failure is that of the next call of
// Compile, which tries again.
func (c *Compiler) prepare() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ready == nil && !c.closed {
		if p, err := c.start(); err == nil {
			c.ready = p
		}
	}
}

// take returns the process that was started in advance, if it has no flags, or another.
func (c *Compiler) take(flags ...string) (*process, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.ready; p != nil && len(flags) == 0 {
		c.ready = nil
		return p, nil
	}
	return c.start(flags...)
}

// Compile returns the archive with the object of a package main: that of an earlier compilation of the same source, if the
// cache has it. If inline is false, calls are not replaced by bodies of functions. An error holds the compiler's messages.
func (c *Compiler) Compile(ctx context.Context, source string, inline bool) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	file := c.t.objects.file(source, inline)
	if a := c.t.objects.load(file); a != nil {
		return a, nil
	}
	var flags []string
	if !inline {
		flags = []string{"-l"}
	}
	a, err := c.compile(ctx, source, flags...)
	if errors.Is(err, syscall.EMFILE) {
		c.release()
		defer c.reserve()
		a, err = c.compile(ctx, source, flags...)
	}
	if err != nil && strings.Contains(err.Error(), "internal compiler error") { // optimizations may not find a position of a line comment
		a, err = c.compile(ctx, source, "-N", "-l")
	}
	if err == nil {
		c.compiled.Add(1)
		c.t.objects.store(file, a)
	}
	return a, err
}

// reserve opens as many descriptors as a process of the compiler needs, or as the system allows.
func (c *Compiler) reserve() {
	const enough = 16
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.closed && len(c.spare) < enough {
		f, err := os.Open(os.DevNull)
		if err != nil {
			return
		}
		c.spare = append(c.spare, f)
	}
}

// release closes the descriptors of reserve.
func (c *Compiler) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.spare {
		f.Close()
	}
	c.spare = nil
}

// Compiled returns the number of packages that were compiled: not those that the cache had.
func (c *Compiler) Compiled() int { return int(c.compiled.Load()) }

// compile compiles a package main.
func (c *Compiler) compile(ctx context.Context, source string, flags ...string) ([]byte, error) {
	defer func() { go c.prepare() }()
	for again := false; ; again = true {
		p, err := c.take(flags...)
		if err != nil {
			return nil, fmt.Errorf("the compiler did not start: %w", err)
		}
		a, err := p.compile(ctx, source)
		// An interrupt of the kernel may reach all processes of its group.
		state := p.cmd.ProcessState // nil if the end of the process was not seen
		if err == nil || again || ctx.Err() != nil || state != nil && state.Exited() {
			return a, err
		}
	}
}

// Close ends the waiting process and removes the files of the compiler.
func (c *Compiler) Close() error {
	c.release()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.ready != nil {
		c.ready.stop()
	}
	return os.RemoveAll(c.dir)
}
