package dist

import (
	"fmt"
	"testing"

	"halfnote/tensor"
)

// TestMPI runs collectives on processes, with each library.
func TestMPI(t *testing.T) {
	onRanks(t, 3, func(t *testing.T) {
		if WorldSize() != 3 {
			t.Fatalf("%d ranks, want 3", WorldSize())
		}
		for _, d := range []tensor.DType{tensor.Float32, tensor.BFloat16, tensor.Float16, tensor.Float64} {
			for _, n := range []int{5, 1000003} {
				want := values(0, n).To(d).Float()
				if d == tensor.Float64 {
					want = want.Double()
				}
				for r := 1; r < 3; r++ {
					want = want.Add(values(r, n).To(d))
				}
				x := values(Rank(), n).To(d)
				AllReduce(x, Sum)
				if !sameBits(x, want.To(d)) {
					t.Errorf("AllReduce of %d %v is not the sum in rank order", n, d)
				}
			}
		}
		for i, x := range AllGather(tensor.Full(float64(Rank()), 2)) {
			if x.At(1) != float64(i) {
				t.Errorf("AllGather: part %d is %v", i, x)
			}
		}
		// A nil pointer is an error of the program, not its end: the handlers of signals are Go's.
		err := tensor.Try(func() {
			defer func() {
				if e := recover(); e != nil {
					panic(&tensor.Error{Op: "test", Why: fmt.Sprint(e)})
				}
			}()
			var p *int
			*p = 1
		})
		if err == nil {
			t.Error("a nil pointer gave no error")
		}
		Barrier()
	})
}
