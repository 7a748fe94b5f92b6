package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestArguments(t *testing.T) {
	for _, tt := range []struct {
		args []string
		code int
		want string // in the message
	}{
		{[]string{"-cpu"}, 2, "flag provided but not defined: -cpu\nusage: go run ./internal/wheel [flags] [platform...]"},
		{[]string{"linux-386"}, 2, `unknown platform "linux-386", want one of: linux-amd64, musllinux-amd64, linux-arm64, macos-amd64, macos-arm64, windows-amd64`},
		{[]string{"linux-amd64", "-gpu"}, 2, "the flag -gpu follows the name of a platform: flags come first"},
		{[]string{"-gpu", "macos-arm64", "windows-amd64"}, 2, "-gpu: macos-arm64, windows-amd64 has no GPU backend, only linux-amd64 has one"},
		{[]string{"-gpu", "-zig", "/nowhere/zig"}, 2, `-gpu needs the C compiler zig, and "/nowhere/zig version" fails: `},
		{[]string{"-o", "main.go/wheels", "linux-amd64"}, 1, "main.go"},
		{[]string{"--gpu", "-zig", "go", "-o", "main.go/wheels", "linux-amd64"}, 1, unclear}, // "go version" succeeds, as "zig version" does
		{[]string{"-h"}, 0, "-gpu"},
	} {
		var out, log strings.Builder
		if code := run(t.Context(), &out, &log, tt.args); code != tt.code || !strings.Contains(log.String(), tt.want) || out.Len() > 0 {
			t.Errorf("%q: got code %d, output %q and\n%s\nwant code %d, no output and %q", tt.args, code, &out, &log, tt.code, tt.want)
		}
	}
}

// TestUnclear checks that the README of gorgonia.org/cu still says what builds of the GPU backend print.
func TestUnclear(t *testing.T) {
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "gorgonia.org/cu").Output()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "README.md"))
	if err != nil {
		t.Skipf("needs the module in the cache: %v", err)
	}
	for _, words := range []string{"cgoflags.go", "execution.go", "memory.go", "unlicenced", "GPL-like"} {
		if !strings.Contains(string(text), words) {
			t.Errorf("it lacks %q: read its section on the licence, and correct the sentence", words)
		}
	}
}

// TestChoose checks that the default is six wheels without the GPU backend, which needs a C compiler.
func TestChoose(t *testing.T) {
	for _, tt := range []struct {
		names     []string
		gpu       bool
		want, has []string
	}{
		{nil, false, []string{"linux-amd64", "musllinux-amd64", "linux-arm64", "macos-amd64", "macos-arm64", "windows-amd64"}, nil},
		{nil, true, []string{"linux-amd64", "musllinux-amd64", "linux-arm64", "macos-amd64", "macos-arm64", "windows-amd64"}, []string{"linux-amd64"}},
		{[]string{"macos-arm64", "linux-arm64", "macos-arm64"}, false, []string{"linux-arm64", "macos-arm64"}, nil},
	} {
		list, err := choose(tt.names, tt.gpu)
		if err != nil {
			t.Fatal(err)
		}
		var has []string
		for _, p := range list {
			cgo := slices.Contains(p.env(), "CGO_ENABLED=1")
			if cgo != p.gpu || cgo != slices.Equal(p.goCommand(), []string{"sh", "cuda/build.sh"}) {
				t.Errorf("%s: got %q with CGO_ENABLED=1 %t, GPU backend %t", p.name, p.goCommand(), cgo, p.gpu)
			}
			if p.gpu {
				has = append(has, p.name)
			}
		}
		if got := names(list); !slices.Equal(got, tt.want) || !slices.Equal(has, tt.has) {
			t.Errorf("%q: got %q, with the GPU backend %q; want %q, %q", tt.names, got, has, tt.want, tt.has)
		}
	}
}

// TestBuildAll checks that a platform that fails does not stop the others, and that the exit code tells.
func TestBuildAll(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	list, err := choose([]string{"linux-amd64", "linux-arm64", "windows-amd64"}, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name      string
		build     func(p platform) (result, error)
		code      int
		out, want string
	}{
		{"all", func(p platform) (result, error) { return result{path: p.name, size: 25e6}, nil }, 0,
			"linux-amd64  25.0 MB\nlinux-arm64  25.0 MB\nwindows-amd64  25.0 MB\n", ""},
		{"one fails", func(p platform) (result, error) {
			if p.goarch == "arm64" {
				return result{}, errors.New("exit status 1")
			}
			return result{path: p.name, size: 25e6}, nil
		}, 1, "linux-amd64  25.0 MB\nwindows-amd64  25.0 MB\n", "wheel: linux-arm64 was not built: exit status 1\n"},
		{"without the compiler", func(p platform) (result, error) {
			r := result{path: p.name, size: 25e6}
			if p.carries() {
				r.lacks = errors.New("exit status 2")
			}
			return r, nil
		}, 1, "linux-amd64  25.0 MB\nlinux-arm64  25.0 MB\nwindows-amd64  25.0 MB\n",
			"wheel: linux-amd64 does not carry the compiler of its cells: exit status 2\nwheel: linux-arm64 does not carry the compiler of its cells: exit status 2\n"},
		{"interrupted", func(p platform) (result, error) {
			if p.goarch == "arm64" {
				cancel()
				return result{}, errors.New("killed")
			}
			return result{path: p.name, size: 25e6}, nil
		}, 1, "linux-amd64  25.0 MB\n", "wheel: interrupted\n"},
	} {
		var out, log strings.Builder
		code := buildAll(ctx, &out, &log, list, func(_ context.Context, p platform) (result, error) { return tt.build(p) })
		if code != tt.code || out.String() != tt.out || log.String() != tt.want {
			t.Errorf("%s: got %d\n%s%s\nwant %d\n%s%s", tt.name, code, &out, &log, tt.code, tt.out, tt.want)
		}
	}
}

// macOS is the oldest macOS that each release of Go supports, by its release notes.
var macOS = map[string]string{"go1.26": "12_0", "go1.27": "13_0"}

// goRelease returns the release of Go, such as go1.26.
func goRelease() string {
	parts := strings.SplitN(runtime.Version(), ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// TestOldestMacOS reads headers of programs for arm64 with LC_BUILD_VERSION, by mach-o/loader.h, and the one that Go's linker writes.
func TestOldestMacOS(t *testing.T) {
	list, err := choose([]string{"macos-arm64"}, false)
	if err != nil {
		t.Fatal(err)
	}
	for version, want := range map[uint32]string{12 << 16: "py3-none-macosx_12_0_arm64", 13 << 16: "py3-none-macosx_13_0_arm64", 14<<16 | 4<<8: "py3-none-macosx_14_0_arm64", 10<<16 | 15<<8 | 7: "py3-none-macosx_10_15_arm64"} {
		var program bytes.Buffer
		for _, word := range []uint32{0xfeedfacf, 0x100000c, 0, 2, 1, 24, 0, 0, 0x32, 24, 1, version, 26 << 16, 0} {
			_ = binary.Write(&program, binary.LittleEndian, word)
		}
		if tags, err := list[0].wheelTags(program.Bytes()); err != nil || !slices.Equal(tags, []string{want}) {
			t.Errorf("%#x: got %q, %v; want %q", version, tags, err, want)
		}
	}
	if _, err := list[0].wheelTags([]byte("#!/bin/sh\n")); err == nil {
		t.Error("a script: got no error")
	}
	if testing.Short() {
		t.Skip("compiles package runtime for macOS")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n\nfunc main() {}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", "program", "main.go")
	cmd.Dir, cmd.Env = dir, list[0].env()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	program, err := os.ReadFile(filepath.Join(dir, "program"))
	if err != nil {
		t.Fatal(err)
	}
	if tags, err := list[0].wheelTags(program); err != nil || !slices.Equal(tags, []string{"py3-none-macosx_" + macOS[goRelease()] + "_arm64"}) {
		t.Errorf("a program of %s: got %q, %v; its release notes say which macOS it needs, and macOS in this test has %q", runtime.Version(), tags, err, macOS[goRelease()])
	}
}
