package dist_test

import (
	"fmt"
	"time"

	"halfnote/dist"
)

// A step of 100 ms with 100 MB of gradients, on machines that are not here: how much longer it takes on more ranks.
func ExampleStep() {
	step := dist.Step{
		Forward: 33 * time.Millisecond, Backward: 67 * time.Millisecond, Algorithm: dist.Ring,
		Buckets: []int{25e6, 25e6, 25e6, 25e6},
	}
	tree := step
	tree.Algorithm = dist.Tree
	for _, m := range dist.Machines() {
		fmt.Print(m.Name, ":")
		for _, ranks := range []int{8, 64, 1024} {
			ring, _ := step.Time(m.Link(ranks), ranks)
			t, _ := tree.Time(m.Link(ranks), ranks)
			fmt.Printf(" %d ranks %v, tree %v;", ranks, ring.Round(time.Millisecond), t.Round(time.Millisecond))
		}
		fmt.Println()
	}
	// Output:
	// Frontier (AMD MI250X): 8 ranks 101ms, tree 103ms; 64 ranks 105ms, tree 146ms; 1024 ranks 148ms, tree 211ms;
	// p4d.24xlarge (NVIDIA A100): 8 ranks 100ms, tree 101ms; 64 ranks 109ms, tree 242ms; 1024 ranks 164ms, tree 371ms;
	// p5.48xlarge (NVIDIA H100): 8 ranks 100ms, tree 100ms; 64 ranks 102ms, tree 106ms; 1024 ranks 136ms, tree 110ms;
	// 10 Gb Ethernet: 8 ranks 190ms, tree 530ms; 64 ranks 212ms, tree 1.01s; 1024 ranks 291ms, tree 1.651s;
}

// Two and four ranks on the two processors of one machine have none to spare for communication: nothing is hidden, as if
// Backward completed all buckets at its end.
func ExampleLinkOf() {
	step := dist.Step{Forward: 40 * time.Millisecond, Update: 3300 * time.Microsecond, Buckets: []int{4.2e6, 16.8e6, 4.2e6}, Algorithm: dist.Direct}
	two := dist.LinkOf(2, 12*time.Microsecond, 4, 5700*time.Microsecond, 16<<20)
	fmt.Printf("2 ranks: %.1f GB/s\n", two.Bandwidth/1e9)
	t, _ := step.Time(two, 2)
	fmt.Println("a step on 2 ranks:", t.Round(time.Millisecond))
	step.Forward, step.Update = 2*step.Forward, 2*step.Update // four ranks share two processors
	four := dist.LinkOf(4, 580*time.Microsecond, 4, 27600*time.Microsecond, 16<<20)
	t, _ = step.Time(four, 4)
	fmt.Println("a step on 4 ranks:", t.Round(time.Millisecond))
	// Output:
	// 2 ranks: 2.9 GB/s
	// a step on 2 ranks: 52ms
	// a step on 4 ranks: 129ms
}
