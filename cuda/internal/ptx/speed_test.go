package ptx

import "testing"

// The benchmarks report the instructions per second of one core, summed over threads.

func BenchmarkSaxpy(b *testing.B) {
	const n = 1 << 18
	d := &device{t: b}
	px, _ := array(d, make([]float32, n))
	py, _ := array(d, make([]float32, n))
	benchmark(b, d, "general_sm80.ptx", "saxpy", Launch{Grid: line(n / 512), Block: line(128)}, py, px, float32(0.3), uint64(n))
}

func BenchmarkRowSum(b *testing.B) {
	const rows, cols = 64, 4096
	d := &device{t: b}
	px, _ := array(d, make([]float32, rows*cols))
	py, _ := array(d, make([]float32, rows))
	benchmark(b, d, "general_sm80.ptx", "row_sum", Launch{Grid: line(rows), Block: line(256), Check: true}, py, px, cols)
}

func BenchmarkBranches(b *testing.B) {
	const n = 1 << 15
	d := &device{t: b}
	py, _ := array(d, make([]int32, n))
	benchmark(b, d, "general_sm80.ptx", "branches", Launch{Grid: line(n / 128), Block: line(128)}, py, n)
}

func BenchmarkTensorCores(b *testing.B) {
	const k = 4096
	d := &device{t: b}
	pa, _ := array(d, make([]uint16, 16*k))
	pb, _ := array(d, make([]uint16, k*8))
	pc, _ := array(d, make([]float32, 16*8))
	benchmark(b, d, "tensor_sm80.ptx", "mma_f16", Launch{Grid: line(8), Block: line(32), Check: true}, pc, pa, pb, k)
}

func benchmark(b *testing.B, d *device, text, name string, l Launch, args ...any) {
	k := kernel(b, read(b, text), name)
	l.Params, l.Global = pack(k, args...), d.ranges
	var steps int64
	for b.Loop() {
		s, err := k.Launch(l)
		if err != nil {
			b.Fatal(err)
		}
		steps += s.Steps
	}
	b.ReportMetric(float64(steps)/b.Elapsed().Seconds()/1e6, "Msteps/s")
}
