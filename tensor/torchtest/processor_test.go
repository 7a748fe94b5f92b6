package torchtest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"halfnote/internal/testenv"
)

// elsewhere are processors and systems whose programs this machine runs, with the program that runs them ("" for none) and the entry of
// HALFNOTE_REQUIRE that asks for it.
var elsewhere = []struct{ system, processor, runner, require string }{
	{"linux", "386", "", "systems"},
	{"linux", "arm64", "qemu-aarch64-static", "arm64"},
	{"linux", "riscv64", "qemu-riscv64-static", "arm64"},
	{"js", "wasm", "go_js_wasm_exec", "systems"},
}

// TestBatchElsewhere compares the hashes of a part of TestBatch's computations on other processors and systems. All of them are compared by
//
//	GOARCH=riscv64 go test -exec qemu-riscv64-static -run TestBatch ./tensor/torchtest -args -hashes 1
func TestBatchElsewhere(t *testing.T) {
	for _, e := range elsewhere {
		t.Run(e.system+"/"+e.processor, func(t *testing.T) {
			if !testenv.Requires(e.require) {
				t.Skipf("set HALFNOTE_REQUIRE=%s to run it", e.require)
			}
			if e.runner == "" && (runtime.GOOS != e.system || runtime.GOARCH != "amd64") {
				t.Skip("this processor does not run programs for " + e.processor)
			}
			args := []string{"test", "-run", "^TestBatch$", "-v"}
			if e.runner != "" {
				runner, err := exec.LookPath(e.runner)
				if err != nil && e.system == "js" {
					var root []byte
					if root, err = exec.Command("go", "env", "GOROOT").Output(); err == nil {
						runner, err = exec.LookPath(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", e.runner))
					}
				}
				if err != nil {
					t.Fatal(err)
				}
				args = append(args, "-exec", runner)
			}
			test := exec.Command("go", append(args, ".", "-args", "-hashes", "20")...)
			test.Env = append(os.Environ(), "GOOS="+e.system, "GOARCH="+e.processor, "CGO_ENABLED=0", "HALFNOTE_REQUIRE=", "HALFNOTE_CPU=")
			out, err := test.CombinedOutput()
			if err != nil || !bytes.Contains(out, []byte("PASS: TestBatch")) {
				t.Fatalf("%v\n%s", err, out)
			}
			if m := regexp.MustCompile(`([0-9]+) cases`).FindSubmatch(out); m == nil || len(m[1]) < 2 {
				t.Errorf("fewer than 10 cases ran:\n%s", out)
			}
		})
	}
}

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
