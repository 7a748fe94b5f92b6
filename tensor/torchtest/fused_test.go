package torchtest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"halfnote/internal/testenv"
)

// exact are the lines whose fused products have the same bits as products that are rounded before they are added: products with a power of 2,
// and products of two float32 in float64.
var exact = map[string]bool{
	"	if below(high)-below(low) <= 0.3 {": true, // half of a sum
	"		v[k] -= sign[k] * norm":            true, // 1 or -1
	"func fma32(a, b, c float32) float32 { return float32(float64(a)*float64(b) + float64(c)) }": true,
}

// TestProductsAreNotFused compiles for arm64, where the compiler fuses a product and a sum unless the product is converted explicitly, as
// on no amd64: the bits of a result would depend on the processor. It runs if HALFNOTE_REQUIRE lists arm64.
func TestProductsAreNotFused(t *testing.T) {
	if !testenv.Requires("arm64") {
		t.Skip("compiles for arm64, which takes a minute: set HALFNOTE_REQUIRE=arm64 to run it")
	}
	fused := regexp.MustCompile(`\(([^()\n]+\.go):(\d+)\)\tFN?M(?:ADD|SUB)[SD]\t`)
	for _, folder := range []string{"tensor", "tensor/nn", "tensor/nn/models", "tensor/optim", "tensor/data", "tensor/internal/linalg"} {
		build := exec.Command("go", "build", "-gcflags=-S", "./"+folder)
		build.Dir, build.Env = filepath.Join("..", ".."), append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0")
		out, err := build.CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte("TEXT")) {
			t.Fatalf("%s: %v: got %d bytes of assembly", folder, err, len(out))
		}
		files, err := filepath.Glob(filepath.Join(build.Dir, folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		lines := map[string][][]byte{} // all are read, so that the go command runs the test again when one changes
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			lines[filepath.Base(file)] = bytes.Split(text, []byte("\n"))
		}
		seen := map[string]bool{}
		for _, m := range fused.FindAllSubmatch(out, -1) {
			place := string(m[1]) + ":" + string(m[2])
			n, _ := strconv.Atoi(string(m[2]))
			if !strings.HasSuffix(filepath.ToSlash(filepath.Dir(string(m[1]))), "/"+folder) {
				continue // an inlined function of another package
			}
			line := string(lines[filepath.Base(string(m[1]))][n-1])
			if !seen[place] && !exact[line] {
				t.Errorf("%s: the compiler fuses a product and a sum, write float64(x*y) for the product: %s", place, line)
			}
			seen[place] = true
		}
	}
}
