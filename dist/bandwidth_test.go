package dist

import (
	"fmt"
	"testing"
	"time"

	"halfnote/dist/internal/mpi"
	"halfnote/tensor"
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
