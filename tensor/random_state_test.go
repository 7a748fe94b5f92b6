package tensor_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"halfnote/tensor"
)

// TestGeneratorState compares states, and the numbers drawn after them, with PyTorch's:
// testdata/generator_state.py.
func TestGeneratorState(t *testing.T) {
	text, err := os.ReadFile("testdata/generator_state.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Seed                int64
			Draw, SHA256, State string
			Randn               []float64
			Random              int64
			Randint             []int
			Double              float64
		}
	}
	if err := json.Unmarshal(text, &file); err != nil || len(file.Cases) == 0 {
		t.Fatal(err)
	}
	for _, c := range file.Cases {
		g := tensor.NewGenerator(c.Seed)
		switch what, n, _ := strings.Cut(c.Draw, " "); what {
		case "rand":
			k, _ := strconv.Atoi(n)
			g.Rand(k)
		case "randn":
			k, _ := strconv.Atoi(n)
			g.Randn(k)
		}
		state := g.State()
		sum := sha256.Sum256(stateBytes(t, state))
		if got := hex.EncodeToString(sum[:]); got != c.SHA256 {
			// Normal numbers end in the last bit of a logarithm, which may differ.
			if c.Draw != "randn 3" {
				t.Errorf("seed %d, %s: the state differs from torch's", c.Seed, c.Draw)
			}
		}
		if c.State != "" {
			p, err := base64.StdEncoding.DecodeString(c.State)
			if err != nil {
				t.Fatal(err)
			}
			state = tensor.FromBytes(tensor.Uint8, p)
		}
		for _, from := range []*tensor.Generator{g, restored(state)} {
			for i, x := range from.Randn(3).Float64s() {
				if math.Abs(x-c.Randn[i]) > 1e-6*math.Abs(c.Randn[i]) {
					t.Errorf("seed %d, %s: randn is %v, want %v", c.Seed, c.Draw, x, c.Randn[i])
				}
			}
			if got := from.Int63(); got != c.Random {
				t.Errorf("seed %d, %s: random is %d, want %d", c.Seed, c.Draw, got, c.Random)
			}
			if got := from.Randint(0, 1000, 4).Ints(); !slices.Equal(got, c.Randint) {
				t.Errorf("seed %d, %s: randint is %d, want %d", c.Seed, c.Draw, got, c.Randint)
			}
			if got := from.Float64(); got != c.Double {
				t.Errorf("seed %d, %s: double is %v, want %v", c.Seed, c.Draw, got, c.Double)
			}
		}
	}
}

func restored(state *tensor.Tensor) *tensor.Generator {
	g := tensor.NewGenerator(99)
	g.SetState(state)
	return g
}

func stateBytes(t *testing.T, x *tensor.Tensor) []byte {
	t.Helper()
	var b strings.Builder
	if n, err := x.WriteTo(&b); err != nil || n != int64(x.Bytes()) {
		t.Fatalf("wrote %d bytes: %v", n, err)
	}
	return []byte(b.String())
}

func TestGeneratorStateErrors(t *testing.T) {
	g := tensor.NewGenerator(1)
	short := tensor.FromBytes(tensor.Uint8, make([]byte, 8))
	mixed := stateBytes(t, g.State())
	mixed[8], mixed[16] = 3, 7
	for name, f := range map[string]func(){
		"(8,)":                    func() { g.SetState(short) },
		"next is 7 and left is 3": func() { g.SetState(tensor.FromBytes(tensor.Uint8, mixed)) },
	} {
		if err := tensor.Try(f); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got error %v", name, err)
		}
	}
	if g.Int63() != tensor.NewGenerator(1).Int63() {
		t.Error("a rejected state has changed the generator")
	}
}
