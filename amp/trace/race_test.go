package trace_test

import (
	"sync"
	"testing"

	"halfnote/amp"
	"halfnote/amp/trace"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// TestConcurrentUse trains on goroutines while others read and stop the recording.
func TestConcurrentUse(t *testing.T) {
	net := nn.NewSequential(nn.NewLinear(8, 8), nn.NewReLU(), nn.NewLinear(8, 8))
	rec := trace.Start(trace.Models(net), trace.Shadow())
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 10 {
				amp.Autocast(amp.Float16, func() { tensor.NoGrad(func() { net.Forward(tensor.Ones(2, 8)) }) })
			}
		})
	}
	for range 10 {
		rec.By("module")
		rec.Table()
		rec.Flushed()
	}
	rec.Stop()
	wg.Wait()
	for _, op := range rec.Ops() {
		if op.Name == "linear" && op.Module != "0" && op.Module != "2" {
			t.Errorf("linear: got module %q", op.Module)
		}
	}
}

// TestNamesOfTiedWeight checks that a weight that two modules share has the name of its first place,
// and that operations in the other module have that module's name.
func TestNamesOfTiedWeight(t *testing.T) {
	first, second := nn.NewLinear(4, 4), nn.NewLinear(4, 4)
	second.Weight = first.Weight
	net := nn.NewSequential(first, nn.NewReLU(), second)
	rec := trace.Start(trace.Models(net))
	net.Forward(tensor.Ones(1, 4))
	rec.Stop()
	if got, want := modules(rec, false), "linear@0 relu@1 linear@2"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
