package typemaker

import (
	"os"
	"os/exec"
	"runtime"
	"testing"

	"halfnote/internal/testenv"
)

// processors are the others with stubs that this one can run or emulate. For loong64, which few people have, compiling the standard
// library takes too long here: GOARCH=loong64 go test -exec qemu-loongarch64-static ./interp/internal/typemaker
var processors = []struct{ arch, emulator string }{
	{"386", ""},
	{"arm64", "qemu-aarch64-static"},
	{"riscv64", "qemu-riscv64-static"},
}

// TestProcessors runs the tests of this package on other processors, if HALFNOTE_REQUIRE lists arm64.
func TestProcessors(t *testing.T) {
	if !testenv.Requires("arm64") {
		t.Skip("needs emulators, such as qemu-aarch64-static of Debian's qemu-user-static: set HALFNOTE_REQUIRE=arm64 to run it")
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("is for linux/amd64")
	}
	for _, p := range processors {
		args := []string{"test", "-vet=off", "-count=1"}
		if p.emulator != "" {
			args = append(args, "-exec", p.emulator)
		}
		test := exec.Command("go", append(args, ".")...)
		test.Env = append(os.Environ(), "GOARCH="+p.arch, "CGO_ENABLED=0", "HALFNOTE_REQUIRE=")
		if out, err := test.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", p.arch, err, out)
		}
	}
}
