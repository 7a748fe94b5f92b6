package torchtest

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// TestOtherProcessor runs TestBits on arm64, emulated.
func TestOtherProcessor(t *testing.T) {
	emulator, err := exec.LookPath("qemu-aarch64-static")
	goTool, noGo := exec.LookPath("go")
	if err != nil || noGo != nil || runtime.GOARCH == "arm64" {
		missing := "needs qemu-aarch64-static (Debian's qemu-user-static), the go command and a processor that is not arm64"
		if strings.Contains(os.Getenv("HALFNOTE_REQUIRE"), "arm64") {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	test := exec.Command(goTool, "test", "-exec", emulator, "-run", "TestBits", ".", "../internal/elementary")
	test.Env = append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0")
	if out, err := test.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
