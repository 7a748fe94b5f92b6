package trace_test

import (
	"reflect"
	"sync"
	"testing"

	"halfnote/amp"
	"halfnote/amp/trace"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// TestRecordingsAtOnce records on several goroutines at the same time, some of which compute on further goroutines. Each recording
// has the steps of its own goroutine, as it has alone, and one that began before them on the goroutine that starts them has none.
func TestRecordingsAtOnce(t *testing.T) {
	const steps = 20
	type seen struct {
		steps, ops, scaled int
		last               float64
	}
	train := func(width int, apart bool) seen {
		net := nn.NewLinear(width, width)
		opt, scaler := optim.NewSGD(nn.Parameters(net), 0.01), amp.NewGradScaler(amp.InitScale(float64(width)))
		x := tensor.Ones(2, width)
		step := func() {
			var loss *tensor.Tensor
			amp.Autocast(amp.Float16, func() { loss = net.Forward(x).Pow(2).Mean() })
			opt.ZeroGrad()
			scaler.Scale(loss).Backward()
			scaler.Step(opt)
			scaler.Update()
		}
		rec := trace.Start(trace.CountAlways())
		for range steps {
			if !apart {
				step()
				continue
			}
			var wg sync.WaitGroup
			wg.Go(func() {
				var inner sync.WaitGroup
				inner.Go(step)
				inner.Wait()
			})
			wg.Wait()
		}
		rec.Stop()
		ops := rec.Ops()
		for _, op := range ops {
			if n := len(op.Shape); n > 0 && op.Shape[n-1] != width {
				t.Errorf("the recording of a layer of %d holds %v", width, op)
			}
		}
		list := rec.Steps()
		return seen{ops[len(ops)-1].Step + 1, len(ops), len(list), list[len(list)-1].After}
	}
	alone := map[int]seen{}
	for width := 3; width < 7; width++ {
		alone[width] = train(width, width%2 == 0)
	}
	outer := trace.Start()
	var wg sync.WaitGroup
	for width, want := range alone {
		for range 2 {
			wg.Go(func() {
				if got := train(width, width%2 == 0); !reflect.DeepEqual(got, want) || got.steps != steps || got.scaled != steps {
					t.Errorf("width %d: got %+v, want %+v", width, got, want)
				}
			})
		}
	}
	wg.Wait()
	outer.Stop()
	if n := len(outer.Steps()); n > 0 {
		t.Errorf("a recording of the goroutine that started the others has %d steps", n)
	}
}

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
