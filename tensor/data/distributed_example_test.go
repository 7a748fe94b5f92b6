package data_test

import (
	"fmt"

	"halfnote/tensor/data"
)

// Two processes share 6 samples.
func ExampleNewDistributedSampler() {
	for rank := range 2 {
		s := data.NewDistributedSampler(6, 2, rank)
		s.SetEpoch(1)
		fmt.Println("rank", rank, s.Indices())
	}
	// Output:
	// rank 0 [1 2 3]
	// rank 1 [5 0 4]
}
