//go:build cuda && linux && cgo

package gpu

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"halfnote/cuda/internal/fake"
	"halfnote/cuda/kernels"
)

// compiled holds the name of a module and the time of loading it.
type compiled struct {
	Name string
	Took time.Duration
}

const loadVariable = "HALFNOTE_TEST_LOAD"

// modules measures loading the longest modules in two processes. The second one finds the compiled
// modules in the driver's cache.
func (f *figures) modules() {
	cache := f.TempDir()
	for _, how := range []string{"compiled", "from the driver's cache"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestFiguresLoad$")
		cmd.Env = append(os.Environ(), loadVariable+"=1", "CUDA_CACHE_PATH="+cache, "CUDA_CACHE_DISABLE=0")
		out, err := cmd.CombinedOutput()
		if err != nil {
			f.Fatalf("%v\n%s", err, out)
		}
		var list []compiled
		line, _, _ := strings.Cut(string(out), "\n")
		f.must(json.Unmarshal([]byte(line), &list))
		var sum time.Duration
		for _, m := range list {
			sum += m.Took
		}
		f.millis(sum, "modules %s, total of %d", how, len(list))
		slices.SortFunc(list, func(a, b compiled) int { return cmp.Compare(b.Took, a.Took) })
		for _, m := range list[:min(len(list), 5)] {
			f.millis(m.Took, "module %s %s", m.Name, how)
		}
	}
}

// TestFiguresLoad runs in the process that loads modules. It first loads a small one, so that the
// times do not include the driver's initialisation.
func TestFiguresLoad(t *testing.T) {
	if os.Getenv(loadVariable) == "" {
		t.Skip("TestFigures runs it")
	}
	names, texts := kernels.Modules(), map[string]string{}
	for _, name := range names {
		texts[name] = kernels.PTX(name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(len(texts[b]), len(texts[a])) })
	b := bare(t)
	load := func(name string) time.Duration {
		start := time.Now()
		if _, err := b.device.Load(texts[name]); err != nil {
			t.Fatal(err)
		}
		return time.Since(start)
	}
	last := len(names) - 1
	load(names[last])
	if names = names[:last]; fake.Real() {
		names = names[:8] // compiling takes seconds per module
	} else {
		names = names[last-2:]
	}
	var list []compiled
	for _, name := range names {
		list = append(list, compiled{name, load(name)})
	}
	if err := json.NewEncoder(os.Stdout).Encode(list); err != nil {
		t.Fatal(err)
	}
}
