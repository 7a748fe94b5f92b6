package dist_test

import (
	"fmt"

	"halfnote/dist"
	"halfnote/tensor"
)

// Without mpiexec there is one rank; `mpiexec -n 4` starts four, and the sum is 6.
func ExampleAllReduce() {
	if err := dist.InitProcessGroup(); err != nil {
		fmt.Println(err)
		return
	}
	x := tensor.New([]float64{float64(dist.Rank())})
	dist.AllReduce(x, dist.Sum)
	fmt.Println("rank", dist.Rank(), "of", dist.WorldSize(), "sum", x.Item())
	// Output: rank 0 of 1 sum 0
}
