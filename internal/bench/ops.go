package bench

import "fmt"

// ops lists single operations: elementwise passes compared with the speed of copying,
// conversions, normalization and others compared with a peer, optimizers, and the cost of the
// tape. Bytes count what an operation must read and write.
func ops(full bool) (list []task) {
	sizes := []int{1 << 17, 1 << 24} // float32: 512 kB, and 64 MB
	if full {
		sizes = append(sizes, 1<<27) // 512 MB
	}
	for _, n := range sizes {
		for _, o := range []struct {
			op    string
			dtype string
			bytes int // bytes read and written per element
		}{
			{"add", "float32", 12}, {"mul", "float32", 12}, {"relu", "float32", 8}, {"add_", "float32", 12}, {"relu_", "float32", 8}, {"add", "bfloat16", 6}, {"add", "float16", 6},
			{"mul", "bfloat16", 6}, {"mul", "float16", 6}, {"relu", "bfloat16", 4}, {"relu", "float16", 4},
			{"add_", "bfloat16", 6}, {"add_", "float16", 6}, {"relu_", "bfloat16", 4}, {"relu_", "float16", 4},
			{"float16", "float32", 6}, {"checked float16", "float32", 6}, {"bfloat16", "float32", 6}, {"float32", "float16", 6}, {"float32", "bfloat16", 6},
		} {
			t := elementwise(o.op, o.dtype, []int{n}, o.bytes)
			t.own = []rival{{"copy", Spec{Work: "copy", Shape: []int{n * o.bytes}}, t.amount}}
			list = append(list, t)
		}
	}
	for _, dtype := range []string{"float32", "bfloat16", "float16"} {
		size := 4
		if dtype != "float32" {
			size = 2
		}
		for _, o := range []struct {
			op    string
			shape []int
			moved int // elements read and written per element in the forward pass
			grad  bool
		}{
			{"exp", []int{1 << 22}, 2, false}, {"log", []int{1 << 22}, 2, false}, {"tanh", []int{1 << 22}, 2, false},
			{"sigmoid", []int{1 << 22}, 2, false}, {"erf", []int{1 << 22}, 2, false}, {"expm1", []int{1 << 22}, 2, false},
			{"log1p", []int{1 << 22}, 2, false}, {"sin", []int{1 << 22}, 2, false}, {"rsqrt", []int{1 << 22}, 2, false},
			{"gelu", []int{2048, 1024}, 2, true}, {"gelu tanh", []int{2048, 1024}, 2, true}, {"silu", []int{2048, 1024}, 2, true},
			{"softmax", []int{64, 128, 128}, 2, true}, {"softmax", []int{2048, 1024}, 2, true}, {"log_softmax", []int{2048, 1000}, 2, true},
			{"layer_norm", []int{2048, 256}, 2, true}, {"batch_norm", []int{64, 64, 32, 32}, 2, true}, {"cross_entropy", []int{2048, 1000}, 1, true},
			{"embedding", []int{30522, 256}, 2, true}, {"dropout", []int{2048, 1024}, 2, true}, {"max_pool2d", []int{64, 64, 32, 32}, 2, true},
			{"sum", []int{4096, 1024}, 1, false}, {"sum of rows", []int{4096, 1024}, 1, false}, {"sum of columns", []int{4096, 1024}, 1, false},
			{"add of a row", []int{4096, 1024}, 2, false}, {"transpose", []int{2048, 2048}, 2, false}, {"mse_loss", []int{512, 4096}, 2, false},
		} {
			t := elementwise(o.op, dtype, o.shape, o.moved*size)
			if o.op == "embedding" {
				t.amount = float64(2 * 16 * 128 * o.shape[1] * size)
			}
			list = append(list, t)
			if o.grad {
				t.name, t.spec.Grad = t.name+" + grad", true
				list = append(list, t)
			}
		}
		if dtype == "float16" {
			continue
		}
		for _, o := range []struct {
			op    string
			shape []int
		}{
			{"attention", []int{16, 4, 128, 64}}, {"conv3x3", []int{16, 64, 32, 32}}, {"conv3x3/2", []int{16, 64, 32, 32}}, {"conv3x3", []int{16, 512, 4, 4}}, {"conv1x1", []int{16, 128, 16, 16}},
		} {
			t := task{name: o.op + " " + dims(o.shape), spec: Spec{Work: "op", Op: o.op, DType: dtype, Shape: o.shape}, unit: "us", amount: 1, peers: []string{"torch"}}
			list = append(list, t)
			t.name, t.spec.Grad = t.name+" + grad", true
			list = append(list, t)
		}
	}
	for _, o := range []struct {
		op    string
		bytes int
	}{{"sgd", 12}, {"momentum", 20}, {"adamw", 28}, {"unscale", 8}} {
		list = append(list, elementwise(o.op, "float32", []int{1 << 22}, o.bytes))
	}
	for _, how := range []string{"plain", "forward", "backward"} {
		name := map[string]string{"plain": "16 numbers, no tape", "forward": "16 numbers, tape, forward", "backward": "16 numbers, tape, forward and backward"}[how]
		list = append(list, task{name: name, spec: Spec{Work: "tape", DType: "float32", Op: how}, unit: "us/op", amount: chainLength, peers: []string{"torch"}})
	}
	return list
}

// elementwise returns the task of an operation that moves that many bytes per element of its
// operand.
func elementwise(op, dtype string, shape []int, bytes int) task {
	n := 1
	for _, d := range shape {
		n *= d
	}
	name := op + " " + dims(shape)
	switch op {
	case "float16", "bfloat16", "float32", "checked float16":
		name = "to " + name
	}
	return task{name: name, spec: Spec{Work: "op", Op: op, DType: dtype, Shape: shape}, unit: "GB/s", amount: float64(n * bytes), peers: []string{"torch"}}
}

// dims formats a shape, for example 16x64x32.
func dims(shape []int) (s string) {
	for i, n := range shape {
		if i > 0 {
			s += "x"
		}
		s += fmt.Sprint(n)
	}
	return s
}
