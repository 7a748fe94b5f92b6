package dist

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"halfnote/dist/internal/mpi"
	"halfnote/dist/internal/mpi/mpitest"
	"halfnote/tensor"
)

// together runs body on n ranks, which are goroutines, and returns the panic value of each.
func together(t *testing.T, n int, s settings, body func(g *group)) []any {
	t.Helper()
	s.pieceBytes = 1 << 16 // several pieces in small tensors
	if s.timeout == 0 {
		s.timeout = time.Minute
	}
	failures := make([]any, n)
	var wait sync.WaitGroup
	for i, comm := range mpitest.World(n) {
		g, err := newGroup(func() (mpi.Comm, mpi.Found, error) { return comm, mpi.Found{}, nil }, s)
		if err != nil {
			t.Fatal(err)
		}
		wait.Go(func() {
			defer func() { failures[i] = recover() }()
			body(g)
		})
	}
	wait.Wait()
	return failures
}

// succeed is together for bodies that must not panic.
func succeed(t *testing.T, n int, body func(g *group)) {
	t.Helper()
	for rank, e := range together(t, n, settings{}, body) {
		if e != nil {
			t.Fatalf("rank %d of %d: %v", rank, n, e)
		}
	}
}

// values returns different numbers for each rank.
func values(rank, n int) *tensor.Tensor { return tensor.NewGenerator(int64(rank)).Randn(n) }

func TestReductions(t *testing.T) {
	for _, ranks := range []int{1, 2, 3} {
		for _, n := range []int{1, 7, 4096, 100001} { // whole messages and pieces
			for _, d := range []tensor.DType{tensor.Float32, tensor.BFloat16, tensor.Float16, tensor.Float64, tensor.Int64} {
				for _, op := range []ReduceOp{Sum, Avg, Product, Min, Max, Sum.Accumulate(tensor.BFloat16)} {
					if n > 5000 && op.name != "avg" && op.name != "sum" {
						continue // the same path
					}
					if !d.IsFloat() && (op.average || op.chosen) {
						continue
					}
					want := values(0, n).MulScalar(8).To(d)
					in := op.in(d)
					sum := want.To(in)
					for r := 1; r < ranks; r++ {
						sum = op.combine(sum, values(r, n).MulScalar(8).To(d).To(in))
					}
					if op.average {
						sum = sum.DivScalar(float64(ranks))
					}
					if ranks > 1 {
						want = sum.To(d)
					}
					succeed(t, ranks, func(g *group) {
						x := values(g.rank, n).MulScalar(8).To(d)
						g.AllReduce(x, op).Wait()
						if !sameBits(x, want) {
							panic(fmt.Sprintf("AllReduce(%v) of %d %v is not the reduction in rank order", op, n, d))
						}
					})
				}
			}
		}
	}
}

func sameBits(x, y *tensor.Tensor) bool {
	a, b := x.Bits(), y.Bits()
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b) && x.DType() == y.DType()
}

func TestScatterAndGather(t *testing.T) {
	for _, ranks := range []int{1, 2, 3} {
		succeed(t, ranks, func(g *group) {
			in := values(g.rank, ranks*90001)
			out := tensor.Zeros(90001)
			g.ReduceScatter(out, in, Sum).Wait()
			whole := in.Clone()
			g.AllReduce(whole, Sum).Wait()
			if !sameBits(out, whole.Narrow(0, g.rank*90001, 90001)) {
				panic("ReduceScatter differs from a part of AllReduce")
			}
			all := tensor.Zeros(ranks, 90001)
			g.AllGather(all, out).Wait()
			if !sameBits(all.Flatten(), whole) {
				panic("AllGather of the parts differs from AllReduce")
			}
			for src := range ranks {
				x := values(g.rank, 10).To(tensor.BFloat16)
				g.Broadcast(x, src).Wait()
				if !sameBits(x, values(src, 10).To(tensor.BFloat16)) {
					panic("Broadcast gives other values")
				}
			}
			// A view with gaps, a scalar and a parameter.
			m := values(g.rank, 12).Reshape(3, 4)
			g.AllReduce(m.T(), Sum).Wait()
			p := tensor.Full(float64(g.rank)).RequireGrad()
			g.AllReduce(p, Max).Wait()
			if p.Item() != float64(ranks-1) {
				panic(fmt.Sprint("max of ranks is ", p.Item()))
			}
		})
	}
}

// TestMismatch has ranks that call different collectives: all of them get the error.
func TestMismatch(t *testing.T) {
	for _, test := range []struct {
		name string
		body func(g *group)
		want string
	}{
		{"sizes", func(g *group) { g.AllReduce(tensor.Zeros(5+g.rank), Sum).Wait() },
			"dist: AllReduce on rank 0: in collective 1 this rank calls AllReduce(sum, 5 float32), but rank 1 calls AllReduce(sum, 6 float32); let all ranks run the same calls in the same order, with tensors of the same size"},
		{"functions", func(g *group) {
			if g.rank == 0 {
				g.Barrier().Wait()
			} else {
				g.Broadcast(tensor.Zeros(2), 1).Wait()
			}
		}, "dist: Barrier on rank 0: in collective 1 this rank calls Barrier(), but rank 1 calls Broadcast(from 1, 2 float32); let all ranks run the same calls in the same order, with tensors of the same size"},
	} {
		failures := together(t, 2, settings{}, test.body)
		if got := fmt.Sprint(failures[0]); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
		if failures[1] == nil {
			t.Errorf("%s: rank 1 has no error", test.name)
		}
	}
}

// TestTimeLimit has a rank that does not join: the other ends at the limit.
func TestTimeLimit(t *testing.T) {
	failures := together(t, 2, settings{timeout: 30 * time.Millisecond}, func(g *group) {
		if g.rank == 0 {
			g.Barrier().Wait()
		}
	})
	e, ok := failures[0].(*Error)
	if !ok || e.Code != "timeout" {
		t.Errorf("got %v, want an error with the code timeout", failures[0])
	}
}

// TestAbandon interrupts a rank that waits, and then uses both.
func TestAbandon(t *testing.T) {
	succeed(t, 2, func(g *group) {
		if g.rank == 0 {
			w := g.Barrier()
			g.stop.Store(true)
			func() {
				defer func() {
					if e, ok := recover().(*Error); !ok || e.Code != "interrupted" {
						panic(fmt.Sprintf("got %v, want an error with the code interrupted", e))
					}
				}()
				w.Wait()
			}()
		}
		if err := g.abandon(); err != nil {
			panic(err)
		}
		x := tensor.New([]float64{1, 2})
		g.AllReduce(x, Sum).Wait()
		if x.At(1) != 4 {
			panic(fmt.Sprint("after an interrupt the sum is ", x))
		}
	})
}

func TestArguments(t *testing.T) {
	g, err := newGroup(func() (mpi.Comm, mpi.Found, error) { return alone{}, mpi.Found{}, nil }, settings{timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	x := tensor.Zeros(3)
	for want, f := range map[string]func(){
		"dist: AllReduce on rank 0: tensor 1 is nil; pass a tensor":                                                                                             func() { g.AllReduce(nil, Sum) },
		"dist: AllReduce on rank 0: the reduction is empty; pass dist.Sum, Avg, Product, Min or Max":                                                            func() { g.AllReduce(x, ReduceOp{}) },
		"dist: AllReduce on rank 0: the average of int64 is not an integer; use dist.Sum":                                                                       func() { g.AllReduce(x.To(tensor.Int64), Avg) },
		"dist: AllReduce on rank 0: the tensor is bool, which has no sum; convert it, for example with To(tensor.Int64)":                                        func() { g.AllReduce(x.To(tensor.Bool), Sum) },
		"dist: Broadcast on rank 0: there is no rank 1; want 0 to 0":                                                                                            func() { g.Broadcast(x, 1) },
		"dist: AllGather on rank 0: the input has 3 elements of float32, the output 4 of float32; want an output of 1 times the elements, of the same dtype":    func() { g.AllGather(tensor.Zeros(4), x) },
		"dist: ReduceScatter on rank 0: the input has 3 elements of float32, the output 3 of float64; want an output of 1/1 of the elements, of the same dtype": func() { g.ReduceScatter(x.To(tensor.Float64), x, Sum) },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); got != want {
					t.Errorf("got %s\nwant %s", got, want)
				}
			}()
			f()
		}()
	}
}
