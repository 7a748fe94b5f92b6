package experiment_test

import (
	"fmt"
	"os"
	"path/filepath"

	"halfnote/amp/experiment"
)

// A float16 weight of 1 does not move by updates of 0.0001. A float32 master weight does.
func ExampleMasterWeights() {
	r := experiment.MasterWeights(1000, 1e-4)
	fmt.Printf("float16 %.4f, float32 %.4f\n", r.Half, r.Master)
	// Output:
	// float16 1.0000, float32 1.1000
}

// The best learning rate of gradient descent on x², over two starting points. An interrupted sweep continues from its file.
func ExampleSweep() {
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	r := experiment.Sweep(experiment.Grid{
		experiment.Over("lr", 0.125, 0.5, 1),
		experiment.Over("steps", 1, 2),
		experiment.Seeds(2),
	}, func(p experiment.Point) float64 {
		x := 1 + float64(p.Seed())
		for range p.Int("steps") {
			x -= p.Number("lr") * 2 * x
		}
		return x * x
	}, filepath.Join(folder, "sweep.csv"))
	best, loss := r.Lowest()
	fmt.Println(best, "loss", loss)
	fmt.Println(r)
}
