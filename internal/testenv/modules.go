package testenv

import (
	"debug/buildinfo"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// given lists the modules that the program is built around, and onGPU the one that its GPU backend adds.
var (
	given = []string{"github.com/go-zeromq/zmq4", "github.com/traefik/yaegi", "github.com/x448/float16", "gonum.org/v1/plot"}
	onGPU = "gorgonia.org/cu"
)

// CheckModules checks that a built program is linked with the given modules, as "go version -m" shows them, and with that of the GPU
// backend if it was built with the tag cuda. That go.mod requires a module would not show that the program uses it.
// It returns the versions by module.
func CheckModules(t *testing.T, program string) map[string]string {
	t.Helper()
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	versions := map[string]string{}
	for _, m := range info.Deps {
		if m.Replace == nil {
			versions[m.Path] = m.Version
		}
	}
	forGPU := slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool {
		return s.Key == "-tags" && slices.Contains(strings.Split(s.Value, ","), "cuda")
	})
	for _, path := range given {
		if versions[path] == "" {
			t.Errorf("%s is not linked with the module %s:\n%s", program, path, info)
		}
	}
	if linked := versions[onGPU] != ""; linked != forGPU {
		t.Errorf("%s: built with the tag cuda: %v, linked with the module %s: %v\n%s", program, forGPU, onGPU, linked, info)
	}
	return versions
}
