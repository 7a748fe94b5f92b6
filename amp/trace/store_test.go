package trace

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// plain is the alternative with which store is compared: a slice of operations, each with its own lists.
type plain []OpRecord

func (p *plain) add(op *OpRecord) {
	o := *op
	o.In, o.InShapes, o.InIDs, o.Cast = slices.Clone(op.In), slices.Clone(op.InShapes), slices.Clone(op.InIDs), slices.Clone(op.Cast)
	*p = append(roomy(*p, 1), o)
}

// BenchmarkStore holds MaxOps operations of a small training run. It reports the time to add an operation,
// the memory for each, and the time of a garbage collection while all are held.
func BenchmarkStore(b *testing.B) {
	net := nn.NewSequential(nn.NewLinear(16, 32), nn.NewReLU(), nn.NewLinear(32, 32), nn.NewReLU(), nn.NewLinear(32, 4))
	opt := optim.NewAdam(nn.Parameters(net), 1e-3)
	x, y := tensor.Randn(8, 16), tensor.Randn(8, 4)
	rec := Start(Models(net))
	for range 20 {
		opt.ZeroGrad()
		var loss *tensor.Tensor
		amp.Autocast(amp.BFloat16, func() { loss = nn.MSELoss(net.Forward(x), y) })
		loss.Backward()
		opt.Step()
	}
	rec.Stop()
	ops := rec.Ops()
	for _, variant := range []struct {
		name  string
		start func() (add func(*OpRecord), held func() any)
	}{
		{"store", func() (func(*OpRecord), func() any) {
			s := new(store)
			return func(op *OpRecord) { s.add(op) }, func() any { return s }
		}},
		{"slice", func() (func(*OpRecord), func() any) {
			s := new(plain)
			return s.add, func() any { return s }
		}},
	} {
		b.Run(variant.name, func(b *testing.B) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			var held any
			for b.Loop() {
				add, all := variant.start()
				for i := range MaxOps {
					add(&ops[i%len(ops)])
				}
				held = all()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/MaxOps, "ns/row")
			runtime.GC()
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/MaxOps, "B/row")
			begun := time.Now()
			for range 20 {
				runtime.GC()
			}
			b.ReportMetric(float64(time.Since(begun).Microseconds())/20, "µs/GC")
			runtime.KeepAlive(held)
		})
	}
}
