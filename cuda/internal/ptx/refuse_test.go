package ptx

import (
	"strings"
	"testing"
)

// TestRefused checks that invalid instructions are refused with an error that names the line.
func TestRefused(t *testing.T) {
	for _, test := range []struct{ target, body, want string }{
		{"sm_80", "frobnicate.b32 %r0, %r1;", "line 6: frobnicate.b32: unknown instruction"},
		{"sm_80", "add.s32.fast %r0, %r1, %r2;", "modifier .fast is not supported"},
		{"sm_80", "add.s32 %r0, %r1;", "2 operands, want 3"},
		{"sm_80", "add.s32 %r0, %r1, %d0;", "%d0 is .b64, want .s32"},
		{"sm_80", "add.f32 %r0, %u0, %r1;", "%u0 is .u32, want .f32"},
		{"sm_80", "add.s32 %r0, %r1, %r9;", "register %r9 is not declared"},
		{"sm_80", "mov.b32 %r0, %p0;", "%p0 is .pred"},
		{"sm_80", "@%r0 bra there; there:", "guard %r0 is not a predicate"},
		{"sm_80", "bra nowhere;", "label nowhere is not defined"},
		{"sm_80", "ld.global.u64 %r0, [%d0];", "want a register of .u64"},
		{"sm_80", "ld.global.u32 %r0, [%r1];", "address %r1 is .b32, want 64 bits"},
		{"sm_80", "ld.global.v2.u32 %r0, [%d0];", "needs {2 registers}"},
		{"sm_80", "cvt.f16.f32 %h0, %r0;", "needs a rounding"},
		{"sm_80", "cvt.s32.f32 %r0, %r1;", "needs .rni"},
		{"sm_70", "cvt.rn.bf16.f32 %h0, %r0;", "needs .version 7.0 and .target sm_80"},
		{"sm_70", "tanh.approx.f32 %r0, %r1;", "sm_75"},
		{"sm_70", "cp.async.commit_group;", "sm_80"},
		{"sm_80", "add.bf16 %h0, %h1, %h2;", "sm_90"},
		{"sm_80", "call f, ();", "function f has no body"},
	} {
		m, err := Parse(".version 7.0\n.target " + test.target + "\n.address_size 64\n.visible .entry k() {\n" +
			".reg .b32 %r<3>; .reg .b64 %d<2>; .reg .b16 %h<3>; .reg .pred %p<2>; .reg .u32 %u<2>;\n" + test.body + "\nret;\n}\n")
		if err != nil {
			t.Errorf("%s: %v", test.body, err)
			continue
		}
		if err = m.Check(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got error %v, want one with %q", test.body, err, test.want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"": "lacks .version",
		".version 7.0\n.target sm_80\n.visible .entry k(":            "line 3",
		".version 7.0\n.target sm_80\n.entry k() { ret;":             "unexpected end",
		".version 7.0\n.target sm_80\n/* never":                      "unterminated comment",
		".version 7.0\n.target sm_80\n?":                             "line 3: unexpected character '?'",
		".version 7.0\n.target sm_80\n.address_size 32":              "want 64",
		".version 7.0\n.target sm_80\n.global .b8 x[2] = {1, 2, 3};": "3 initial values",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v, want one with %q", text, err, want)
		}
	}
}

// FuzzParse checks that no text makes the parser or the decoder panic.
func FuzzParse(f *testing.F) {
	f.Add(integerTests[0].source())
	f.Add(partnerTests[len(partnerTests)-3].source())
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Parse(text)
		if err != nil {
			return
		}
		defer m.Release()
		_ = m.Check()
	})
}
