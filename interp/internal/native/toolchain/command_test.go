package toolchain

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestCompilerOfOtherRelease looks for the compiler with a go command of another version, which may have downloaded that of
// the program.
func TestCompilerOfOtherRelease(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	const installed = "go1.25.1"
	for _, tt := range []struct {
		name       string
		downloaded string // version
		compiler   string
		want       string // in the error
	}{
		{"downloaded", runtime.Version(), filepath.Join("/downloaded", "compile"), ""},
		{"removed", "", "", "compiled cells need the Go that built this program, " + runtime.Version() + ", and " + installed + " is installed: build the program again"},
		{"another one", "go1.24", "", "and " + installed + " is installed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			script := `#!/bin/sh
case "$GOTOOLCHAIN,$2,$GOPROXY" in
local,GOVERSION,*) echo ` + installed + `; echo /installed;;
` + runtime.Version() + `,GOVERSION,off) test -n "` + tt.downloaded + `" || exit 1; echo "` + tt.downloaded + `"; echo /downloaded;;
*) echo "$GOTOOLCHAIN";;
esac
`
			if err := os.WriteFile(filepath.Join(dir, "go"), []byte(script), 0o777); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
			g := &goCommand{ctx: t.Context(), dir: dir, command: []string{"go"}, program: &program{}}
			got, err := g.compiler()
			if got != tt.compiler || err == nil != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got the compiler %q and the error %v, want %q and %q", got, err, tt.compiler, tt.want)
			}
			if err != nil {
				return
			}
			if out, _, err := g.run("go", "list"); strings.TrimSpace(out) != runtime.Version() {
				t.Errorf("later commands run Go %q, %v; want %s", out, err, runtime.Version())
			}
		})
	}
}
