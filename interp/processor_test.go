package interp

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"halfnote/internal/testenv"
)

// onARM64 are the scripts that run on emulated arm64. All others pass there too, except assembly, whose sum of exponentials has
// another last digit, as in compiled Go, and runtimeerrors: the message for a constant index of type uint8 has a wrong number, which
// Go 1.26 itself writes on arm64.
var onARM64 = []string{
	"basics", "channels", "defer", "export", "generics", "interrupt", "language", "latermethods", "methodvalues", "panics", "recursion", "recursivetypes", "training", "values",
}

// TestOtherProcessorNative runs scripts on both engines, and the tests of the loader, on emulated arm64 if HALFNOTE_REQUIRE
// lists arm64. Go's compiler runs on this machine.
func TestOtherProcessorNative(t *testing.T) {
	if !testenv.Requires("arm64") {
		t.Skip("needs qemu-aarch64-static, Debian's qemu-user-static: set HALFNOTE_REQUIRE=arm64 to run it")
	}
	if runtime.GOARCH == "arm64" {
		t.Skip("TestScriptsNative has run on arm64")
	}
	emulator, err := exec.LookPath("qemu-aarch64-static")
	if err != nil {
		t.Fatal(err)
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		// Interpreted on an emulator, the loops of latermethods exceed the time limit of a cell.
		{"-run", "^TestScripts(Native)?$/^(" + strings.Join(onARM64, "|") + ")$", "-skip", "^TestScripts$/^latermethods$", "."},
		{"-skip", "TestLinker", "./internal/native/loader", "./internal/native/toolchain"}, // TestLinker reads arm64's code on every processor
	} {
		test := exec.Command(goTool, slices.Concat([]string{"test", "-vet=off", "-exec", emulator}, args)...)
		test.Env = append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0", "HALFNOTE_REQUIRE=native")
		if out, err := test.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
}
