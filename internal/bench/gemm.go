package bench

import (
	"fmt"
	"slices"
)

// gemm lists matrix products: those of a network of square layers, cubes, and those that BERT,
// attention and convolutions compute. Sizes are m x n x k, for (m, k) times (k, n).
func gemm(full bool) (list []task) {
	big := []int{256, 2048, 2048}
	cubes := []int{64, 128, 256, 512, 1024}
	others := [][]int{{512, 768, 768}, {512, 3072, 768}, {512, 768, 3072}, {4096, 64, 576}, {784, 256, 2304}, {24, 128, 128, 64}, {24, 128, 64, 128}}
	if full {
		big = []int{512, 4096, 4096}
		cubes = append(cubes, 2048, 4096)
	}
	for _, op := range []string{"NN", "NT", "TN"} {
		shape := big
		if op == "TN" { // the gradient of the weights
			shape = []int{big[1], big[2], big[0]}
		}
		for _, dtype := range []string{"float32", "bfloat16", "float16"} {
			t := multiply(shape, op, dtype)
			if dtype == "float16" {
				single := multiply(shape, op, "float32")
				t.own = []rival{{"own float32", single.spec, single.amount}}
			}
			list = append(list, t)
			if dtype == "float32" && op == "NN" {
				h := multiply(shape, op, highFloat32)
				h.own = []rival{{"own float32", t.spec, t.amount}}
				list = append(list, h)
			}
		}
	}
	for _, dtype := range []string{"float32", "bfloat16", "float16"} {
		for _, n := range cubes {
			list = append(list, multiply([]int{n, n, n}, "NN", dtype))
		}
		for _, shape := range others {
			list = append(list, multiply(shape, "NN", dtype))
		}
	}
	return list
}

// highFloat32 is the dtype of products of float32 with the precision "high".
const highFloat32 = "high float32"

func multiply(shape []int, op, dtype string) task {
	flops, name := 2.0, dims(shape)
	for _, n := range shape {
		flops *= float64(n)
	}
	if len(shape) == 3 && slices.Min(shape) == slices.Max(shape) {
		name = fmt.Sprintf("%d^3", shape[0])
	}
	peers := []string{"torch"}
	if dtype == "float32" {
		peers = []string{"openblas", "torch"}
	}
	return task{name: "gemm " + name + " " + op, spec: Spec{Work: "gemm", DType: dtype, Op: op, Shape: shape}, unit: "GFLOP/s", amount: flops, peers: peers}
}
