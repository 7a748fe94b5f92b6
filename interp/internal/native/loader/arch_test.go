package loader

import (
	"cmp"
	"encoding/binary"
	"slices"
	"testing"

	"halfnote/interp/internal/native/object"
)

// TestARM64 fills in relocations and reads the instructions as a processor does.
func TestARM64(t *testing.T) {
	rules := archs["arm64"].rules
	const at = 0x10_0040
	for _, target := range []uintptr{at, at + 4, at + 0x1000, at - 0x1000, 0x1_0000, 0x7ff_fff8, 0x234_5678} {
		bl := binary.LittleEndian.AppendUint32(nil, 0x94000000)
		if err := rules[object.CallARM64].put(bl, at, target, 0); err != nil {
			t.Fatal(err)
		}
		if got := branchTarget(at, binary.LittleEndian.Uint32(bl)); got != target {
			t.Errorf("BL reaches %#x, want %#x", got, target)
		}
		for _, tt := range []struct {
			typ    object.RelocType
			second uint32
			unit   uintptr
		}{
			{object.AddrARM64, 0x91000000, 1}, {object.GOTPCRelARM64, 0xf9400000, 8}, {object.Load8ARM64, 0x39400000, 1},
			{object.Load16ARM64, 0x79400000, 2}, {object.Load32ARM64, 0xb9400000, 4}, {object.Load64ARM64, 0xf9400000, 8},
		} {
			pair := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, 0x90000000), tt.second)
			err := rules[tt.typ].put(pair, at, target, 0)
			if target%tt.unit != 0 {
				if err == nil {
					t.Errorf("type %d accepts the address %#x", tt.typ, target)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := pairTarget(at, pair, tt.unit); got != target {
				t.Errorf("type %d reaches %#x, want %#x", tt.typ, got, target)
			}
		}
	}
	bl := make([]byte, 4)
	if err := rules[object.CallARM64].put(bl, at, at+1<<28, 0); err == nil {
		t.Error("BL reaches 256 MiB")
	}
	jump := make([]byte, archs["arm64"].jumpSize)
	if err := archs["arm64"].jump(jump, at, 0x2000); err != nil || pairTarget(at, jump, 8) != 0x2000 {
		t.Errorf("the jump loads from %#x, want 0x2000, and the error is %v", pairTarget(at, jump, 8), err)
	}
}

// branchTarget decodes a BL instruction.
func branchTarget(at uintptr, ins uint32) uintptr {
	return uintptr(int64(at) + int64(int32(ins<<6)>>6)*4)
}

// pairTarget decodes an ADRP and an instruction with an offset in the page, in units.
func pairTarget(at uintptr, b []byte, unit uintptr) uintptr {
	adrp, second := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
	pages := int64(int32((adrp>>5&(1<<19-1)<<2|adrp>>29&3)<<11) >> 11)
	return uintptr(int64(at&^0xfff)+pages<<12) + uintptr(second>>10&(1<<12-1))*unit
}

// TestAMD64 fills in distances.
func TestAMD64(t *testing.T) {
	rules := archs["amd64"].rules
	b := make([]byte, 4)
	for _, target := range []uintptr{0x1000, 0x40_0000, 0x7fff_0000} {
		if err := rules[object.PCRel].put(b, 0x2000, target, 8); err != nil {
			t.Fatal(err)
		}
		if got := 0x2004 + int64(int32(binary.LittleEndian.Uint32(b))); got != int64(target)+8 {
			t.Errorf("the distance leads to %#x, want %#x", got, target+8)
		}
	}
	if err := rules[object.Call].put(b, 0, 1<<32, 0); err == nil {
		t.Error("a call reaches 4 GiB")
	}
}

// TestCheck lists the versions and systems that are refused, and what the user reads.
func TestCheck(t *testing.T) {
	const version, system = "compiled cells need go1.26 or go1.27 without experiments, and this program was built by ", "compiled cells need linux/amd64 or linux/arm64, and this is "
	for _, tt := range []struct{ goos, goarch, version, want string }{
		{"linux", "amd64", "go1.26", ""},
		{"linux", "arm64", "go1.26", ""},
		{"linux", "amd64", "go1.26.8", ""},
		{"linux", "amd64", "go1.27", ""},
		{"linux", "arm64", "go1.27.4", ""},
		{"linux", "amd64", "go1.28", version + "go1.28"},
		{"linux", "amd64", "go1.28.1", version + "go1.28.1"},
		{"linux", "amd64", "go1.270", version + "go1.270"},
		{"linux", "amd64", "go1.27-custom", version + "go1.27-custom"},
		{"linux", "amd64", "go1.25.3", version + "go1.25.3"},
		{"linux", "arm64", "go1.26.1 X:simd", version + "go1.26.1 X:simd"},
		{"linux", "amd64", "devel go1.26-abc", version + "devel go1.26-abc"},
		{"linux", "amd64", "go1.26rc1", version + "go1.26rc1"},
		{"linux", "riscv64", "go1.26", system + "linux/riscv64"},
		{"darwin", "amd64", "go1.26", system + "darwin/amd64"},
		{"darwin", "arm64", "go1.26", system + "darwin/arm64"},
		{"windows", "amd64", "go1.26", system + "windows/amd64"},
		{"freebsd", "amd64", "go1.26", system + "freebsd/amd64"},
	} {
		got := ""
		if err := check(tt.goos, tt.goarch, tt.version); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s/%s, %s: got %q, want %q", tt.goos, tt.goarch, tt.version, got, tt.want)
		}
	}
}

// TestAMD64Direct replaces loads from slots by computed addresses.
func TestAMD64Direct(t *testing.T) {
	const at, target = 0x40_0000, 0x41_2345
	for _, tt := range []struct {
		name   string
		code   []byte
		target uintptr
		want   []byte
	}{
		{"MOVQ slot(IP), AX", []byte{0x90, 0x48, 0x8b, 0x05, 0, 0, 0, 0}, target, []byte{0x90, 0x48, 0x8d, 0x05, 0x3d, 0x23, 0x01, 0}},
		{"MOVQ slot(IP), R15", []byte{0x4c, 0x8b, 0x3d, 0, 0, 0, 0}, target, []byte{0x4c, 0x8d, 0x3d, 0x3e, 0x23, 0x01, 0}},
		{"too far", []byte{0x4c, 0x8b, 0x3d, 0, 0, 0, 0}, target + 1<<32, nil},
		{"CMPQ slot(IP), AX", []byte{0x48, 0x3b, 0x05, 0, 0, 0, 0}, target, nil},
		{"no room", []byte{0x05, 0, 0, 0, 0}, target, nil},
	} {
		before := slices.Clone(tt.code)
		ok := archs["amd64"].direct(tt.code, at, tt.target)
		if want := cmp.Or(string(tt.want), string(before)); ok != (tt.want != nil) || string(tt.code) != want {
			t.Errorf("%s: got %x, %v, want %x, %v", tt.name, tt.code, ok, want, tt.want != nil)
		}
	}
}
