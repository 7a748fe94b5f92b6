package bench

import (
	"math"
	"testing"

	"halfnote/internal/testenv"
)

// TestTraining takes a few steps with each network: 16-bit losses must be close to float32's, and the
// MLP must learn its batch. A default run has the MLP only: initial values of the others take seconds.
func TestTraining(t *testing.T) {
	share := testenv.Share(t, 2)
	small := []int{8, 32, 3}
	full := newMLP(small, "float32")
	first := full.step().Item()
	if second := full.step().Item(); !(second < first) {
		t.Errorf("mlp: got loss %v, then %v, want a decrease", first, second)
	}
	for i, c := range []struct {
		work  string
		sizes []int
		dtype string
		gap   float64
	}{
		{"mlp", small, "bfloat16", .05}, {"mlp", small, "float16", .05}, {"resnet", []int{1}, "bfloat16", .05},
		{"bert", []int{2, 8, 256, 4}, "bfloat16", .5}, // dropout draws different masks
	} {
		if i > 1 && share > 1 {
			break
		}
		full, half := trainers[c.work](c.sizes, "float32"), trainers[c.work](c.sizes, c.dtype)
		if want, got := full.step().Item(), half.step().Item(); !(math.Abs(got-want) < c.gap*want) {
			t.Errorf("%s in %s: first loss: got %v, want about %v as in float32", c.work, c.dtype, got, want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("training in float64: got no panic")
		}
	}()
	newMLP(small, "float64")
}
