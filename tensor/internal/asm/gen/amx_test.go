package main

import (
	"bytes"
	"debug/elf"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// tileCode holds instructions of AMX in the syntax of GNU as and clang, their bytes, and the bytes of
// this package.
var tileCode = []struct {
	text, bytes string
	ours        []byte
}{
	{"ldtilecfg (%rax)", "c4e2784900", tileConfig("AX")},
	{"ldtilecfg (%r8)", "c4c2784900", tileConfig("R8")},
	{"tilerelease", "c4e27849c0", tileRelease()},
	{"tilezero %tmm0", "c4e27b49c0", tileZero(0)},
	{"tilezero %tmm7", "c4e27b49f8", tileZero(7)},
	{"{disp32} tileloadd 64(%rdi,%r9,1), %tmm7", "c4a27b4bbc0f40000000", tileLoad(7, "DI", "R9", 64)},
	{"{disp32} tileloadd (%r11,%r14,1), %tmm0", "c4827b4b843300000000", tileLoad(0, "R11", "R14", 0)},
	{"{disp32} tileloadd -64(%r12,%rcx,1), %tmm3", "c4c27b4b9c0cc0ffffff", tileLoad(3, "R12", "CX", -64)},
	{"{disp32} tileloaddt1 (%r12,%r8,1), %tmm5", "c482794bac0400000000", tileLoadOnce(5, "R12", "R8", 0)},
	{"{disp32} tilestored %tmm2, 2048(%r10,%r9,1)", "c4827a4b940a00080000", tileStore(2, "R10", "R9", 2048)},
	{"{disp32} tilestored %tmm1, (%rdx,%r13,1)", "c4a27a4b8c2a00000000", tileStore(1, "DX", "R13", 0)},
	{"tdpbf16ps %tmm6, %tmm4, %tmm0", "c4e24a5cc4", tileDot(0, 4, 6)},
	{"tdpbf16ps %tmm7, %tmm5, %tmm3", "c4e2425cdd", tileDot(3, 5, 7)},
}

// TestTileCode compares the encodings of this package with the recorded bytes.
func TestTileCode(t *testing.T) {
	for _, c := range tileCode {
		if got := hex.EncodeToString(c.ours); got != c.bytes {
			t.Errorf("%s: got %s, want %s", c.text, got, c.bytes)
		}
	}
}

// TestAssembler compares the recorded bytes with those of an assembler.
func TestAssembler(t *testing.T) {
	assemblers := map[string][]string{"as": {"--64"}, "clang-16": {"-c", "-target", "x86_64-linux-gnu", "-mamx-bf16"}, "clang": {"-c", "-target", "x86_64-linux-gnu", "-mamx-bf16"}}
	found := false
	for name, args := range assemblers {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		var text, want strings.Builder
		for _, c := range tileCode {
			text.WriteString(c.text + "\n")
			want.WriteString(c.bytes)
		}
		dir := t.TempDir()
		in, out := filepath.Join(dir, "tiles.s"), filepath.Join(dir, "tiles.o")
		if err := os.WriteFile(in, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		if message, err := exec.Command(path, append(args, "-o", out, in)...).CombinedOutput(); err != nil {
			t.Logf("%s does not support AMX: %v: %s", name, err, message)
			continue
		}
		found = true
		f, err := elf.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.Section(".text").Data()
		if err != nil {
			t.Fatal(err)
		}
		if n := want.Len() / 2; !bytes.HasPrefix([]byte(hex.EncodeToString(got)), []byte(want.String())) {
			t.Errorf("%s: got %x, want %s", name, got[:min(n, len(got))], want.String())
		}
	}
	if !found {
		t.Skip("needs GNU as or clang with AMX")
	}
}
