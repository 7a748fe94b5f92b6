//go:build cuda && linux && cgo

package cuda_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"halfnote/internal/bench"
	"halfnote/tensor"
)

// TestBenchReplays checks that benchmarks of training have the same losses with steps as with
// replays of a captured step.
func TestBenchReplays(t *testing.T) {
	defer tensor.SetDefaultDevice(tensor.CPU)
	losses := func(spec string) (all []float64) {
		t.Helper()
		var replies strings.Builder
		requests := `{"do": "prepare", "key": "x", "spec": ` + spec + `} {"do": "run", "key": "x", "n": 1, "cold": true} {"do": "run", "key": "x", "n": 2, "cold": true}`
		if err := bench.Serve("cuda", strings.NewReader(requests), &replies); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(replies.String()) {
			var reply struct {
				Error  string
				Losses []float64
			}
			if err := json.Unmarshal([]byte(line), &reply); err != nil || reply.Error != "" {
				t.Fatalf("%s: %v", line, err)
			}
			all = append(all, reply.Losses...)
		}
		return all
	}
	for _, spec := range []string{
		`{"work": "mlp", "dtype": "bfloat16", "shape": [4, 16, 3]`,
		`{"work": "mlp", "dtype": "float16", "shape": [4, 16, 3]`,
	} {
		want, got := losses(spec+`}`), losses(spec+`, "graph": true}`)
		if len(want) != 3 || !slices.Equal(got, want) {
			t.Errorf("%s: got losses %v, want %v, of 3 steps", spec, got, want)
		}
	}
}
