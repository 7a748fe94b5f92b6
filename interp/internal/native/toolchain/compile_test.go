package toolchain

import (
	"context"
	"os"
	"strings"
	"testing"

	"halfnote/internal/testenv"
)

// compiler returns a compiler of the program of the test.
func compiler(t *testing.T) *Compiler {
	t.Helper()
	if !testenv.Requires("native") {
		t.Skip("HALFNOTE_REQUIRE does not list native")
	}
	tools, err := Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	own := *tools
	own.objects = objects{} // each source is compiled
	c, err := own.NewCompiler()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(c.dir); !os.IsNotExist(err) {
			t.Errorf("the compiler left files: %v", err)
		}
	})
	return c
}

// A process that waits for its source may have been ended, by a signal for example.
func TestCompileAgain(t *testing.T) {
	c := compiler(t)
	const source = "package main\nfunc f() int { return 1 }\n"
	first, err := c.Compile(t.Context(), source, true)
	if err != nil {
		t.Fatal(err)
	}
	c.prepare()
	if err := c.ready.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	second, err := c.Compile(t.Context(), source, true)
	if err != nil || string(second) != string(first) {
		t.Errorf("after the end of a waiting process: got %d bytes and %v, want the %d bytes of before", len(second), err, len(first))
	}
}

func TestCompileErrors(t *testing.T) {
	c := compiler(t)
	if _, err := c.Compile(t.Context(), "package main\nfunc f() int { return x }\n", true); err == nil || !strings.Contains(err.Error(), "undefined: x") {
		t.Errorf("a wrong source: got %v, want the compiler's message", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Compile(ctx, "package main\n", true); err == nil {
		t.Error("after the end of the context: got no error")
	}
}

// TestCompileCached checks that a source is compiled once, by whichever compiler of the program.
func TestCompileCached(t *testing.T) {
	const source = "package main\nfunc f() int { return 1 }\n"
	kept := objects{t.TempDir(), "program"}
	var first []byte
	for i, want := range []int{1, 0, 1} {
		c := compiler(t)
		c.t.objects = kept
		got, err := c.Compile(t.Context(), source, i < 2)
		if err != nil || c.Compiled() != want {
			t.Fatalf("compiler %d: %d packages compiled, %v; want %d", i, c.Compiled(), err, want)
		}
		if i == 0 {
			first = got
		} else if i == 1 && string(got) != string(first) {
			t.Error("the cache has another archive")
		}
	}
	c := compiler(t)
	c.t.objects = kept
	for range 2 {
		if _, err := c.Compile(t.Context(), "package main\nfunc f() int { return x }\n", true); err == nil || c.Compiled() != 0 {
			t.Errorf("a wrong source: %v, %d compiled", err, c.Compiled())
		}
	}
}
