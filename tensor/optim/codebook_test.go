package optim

import (
	"testing"

	"halfnote/tensor/data"
)

// The codebooks are torchao's, by testdata/lowbit.py, and each of their numbers has its own code.
func TestCodebooks(t *testing.T) {
	f, err := data.LoadSafetensors("testdata/lowbit.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]*codebook{"map8/signed": eightBit.first, "map8/unsigned": eightBit.second, "map4/signed": fourBit.first, "map4/unsigned": fourBit.second} {
		want := f[name].Float32s()
		if len(c.values) != len(want) {
			t.Fatalf("%s: %d numbers, want %d", name, len(c.values), len(want))
		}
		for i, w := range want {
			if c.values[i] != w || int(c.code(w)) != i {
				t.Errorf("%s: code %d is %v, want %v, whose code is %d", name, i, c.values[i], w, c.code(w))
			}
		}
	}
}
