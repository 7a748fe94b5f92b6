package torchtest

import (
	"math"
	"slices"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// TestOrderOfEmbedding compares the gradient of an embedding with a loop that adds rows in the order of the positions, with several workers.
func TestOrderOfEmbedding(t *testing.T) {
	for _, workers := range []int{1, 2, 7} {
		device := tensor.Device(workersBackend{workers: workers}.Name())

		const rows, width, positions = 5, 3, 400
		g := tensor.NewGenerator(1)
		index := g.Randint(0, rows, positions)
		dy := g.Randn(positions, width)
		table := nn.NewEmbedding(rows, width)
		nn.To(table, device)
		table.Forward(index.ToDevice(device)).BackwardWith(tensor.BackwardOptions{Gradient: dy.ToDevice(device)})
		want := make([]float32, rows*width)
		for i, v := range dy.Float64s() {
			want[int(index.At(i/width))*width+i%width] += float32(v)
		}
		same(t, table.Weight.Grad(), want)
	}
}

// same compares bits.
func same(t *testing.T, got T, want []float32) {
	t.Helper()
	list := got.Float64s()
	for i, v := range want {
		if math.Float32bits(float32(list[i])) != math.Float32bits(v) {
			t.Errorf("element %d is %v, want %v", i, list[i], v)
			return
		}
	}
	if slices.Max(list) == 0 {
		t.Error("all zeros")
	}
}
