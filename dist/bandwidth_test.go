package dist

import (
	"fmt"
	"testing"
	"time"

	"halfnote/dist/internal/mpi"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// BenchmarkAllReduce compares AllReduce of 64 MiB of float32 with the library's MPI_Allreduce on the same bytes, in turn. Run it under
// mpiexec: mpiexec -n 2 dist.test -test.bench AllReduce. The figures are the fastest of the rounds, of rank 0.
func BenchmarkAllReduce(b *testing.B) {
	if _, launched := mpi.Launched(); !launched {
		b.Skip("needs mpiexec: mpiexec -n 2 dist.test -test.run '^$' -test.bench AllReduce")
	}
	if err := InitProcessGroup(Timeout(time.Minute)); err != nil {
		b.Fatal(err)
	}
	g := member("BenchmarkAllReduce")
	library, ok := g.comm.(interface {
		Sum(from, into []byte) error
	})
	if !ok {
		b.Skip("needs MPI")
	}
	for _, d := range []tensor.DType{tensor.Float32, tensor.BFloat16} {
		x := tensor.FullAs(d, 1, (64<<20)/d.Size())
		y := tensor.ZerosLike(x)
		ours, theirs := time.Hour, time.Hour
		for range 8 {
			g.Barrier().Wait()
			begin := time.Now()
			g.AllReduce(x, Sum).Wait()
			ours = min(ours, time.Since(begin))
			g.Barrier().Wait()
			w := g.submit("MPI_Allreduce", "", func() {
				begin := time.Now()
				if err := library.Sum(memory.Bytes(x, false), memory.Bytes(y, true)); err != nil {
					panic(err)
				}
				theirs = min(theirs, time.Since(begin))
			})
			w.Wait()
		}
		if g.rank == 0 {
			rate := func(t time.Duration) float64 { return 64. / 1024 / t.Seconds() }
			fmt.Printf("figure: %s: AllReduce of 64 MiB of %v %.2f GiB/s, MPI_Allreduce of float32 on the same bytes %.2f GiB/s: %.2f of it\n", g.library, d, rate(ours), rate(theirs), theirs.Seconds()/ours.Seconds())
		}
	}
	if err := DestroyProcessGroup(); err != nil {
		b.Error(err)
	}
}

// BenchmarkDDPStep times a step of SGD on a global batch of 256, of which each rank has a part. Compare one process with two
// threads, GOMAXPROCS=2, with mpiexec -n 2 and GOMAXPROCS=1.
func BenchmarkDDPStep(b *testing.B) {
	if err := InitProcessGroup(Timeout(time.Minute)); err != nil {
		b.Fatal(err)
	}
	g := member("BenchmarkDDPStep")
	net := nn.NewSequential(nn.NewLinear(784, 2048), nn.NewReLU(), nn.NewLinear(2048, 2048), nn.NewReLU(), nn.NewLinear(2048, 10))
	d := g.NewDDP(net)
	opt := optim.NewSGD(nn.Parameters(d), 1e-3)
	x, y := tensor.Randn(256/g.size, 784), tensor.Randn(256/g.size, 10)
	best := time.Hour
	for round := range 8 {
		begin := time.Now()
		nn.MSELoss(d.Forward(x), y).Backward()
		opt.Step()
		opt.ZeroGrad()
		if round > 1 {
			best = min(best, time.Since(begin))
		}
	}
	if g.rank == 0 {
		fmt.Printf("figure: %d ranks: a step of %d parameters takes %.1f ms\n", g.size, nn.NumParameters(net), best.Seconds()*1e3)
	}
	if err := DestroyProcessGroup(); err != nil {
		b.Error(err)
	}
}
