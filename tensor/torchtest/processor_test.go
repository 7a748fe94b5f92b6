package torchtest

import (
	"os"
	"os/exec"
	"runtime"
	"testing"

	"halfnote/internal/testenv"
)

// TestOtherProcessor runs TestBits and the tests that define the product of bfloat16 on emulated arm64 if
// HALFNOTE_REQUIRE lists arm64. This takes a minute.
func TestOtherProcessor(t *testing.T) {
	if !testenv.Requires("arm64") {
		t.Skip("needs qemu-aarch64-static, Debian's qemu-user-static: set HALFNOTE_REQUIRE=arm64 to run it")
	}
	if runtime.GOARCH == "arm64" {
		t.Skip("TestBits has already run on arm64")
	}
	emulator, err := exec.LookPath("qemu-aarch64-static")
	if err != nil {
		t.Fatal(err)
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	test := exec.Command(goTool, "test", "-exec", emulator, "-run", "TestBits|TestBlock", ".", "../internal/elementary", "../internal/cpu")
	test.Env = append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0")
	if out, err := test.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
