package experiment_test

import (
	"fmt"

	"halfnote/amp/experiment"
)

// A float16 weight of 1 does not move by updates of 0.0001. A float32 master weight does.
func ExampleMasterWeights() {
	r := experiment.MasterWeights(1000, 1e-4)
	fmt.Printf("float16 %.4f, float32 %.4f\n", r.Half, r.Master)
	// Output:
	// float16 1.0000, float32 1.1000
}
