package roofline_test

import (
	"fmt"

	"halfnote/amp/roofline"
)

// The predicted speed-up of mixed precision grows with the width of the layers.
func ExampleDense() {
	gpu := roofline.GPUByName("V100")
	for _, width := range []int{256, 1024, 4096} {
		c := roofline.Dense(512, width, width, width).On(gpu)
		fmt.Printf("%4d: %.1f times as fast as float32\n", width, c.Speedup())
	}
	// Output:
	// 256: 0.5 times as fast as float32
	// 1024: 2.6 times as fast as float32
	// 4096: 3.5 times as fast as float32
}
