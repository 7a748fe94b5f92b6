package bench

// steps are the training steps of a network, which spec builds: in float32, and under
// autocast in both halves, the second with a gradient scaler.
func steps(name string, shape []int) (list []task) {
	for _, dtype := range []string{"float32", "bfloat16", "float16"} {
		t := task{name: name + " step", spec: Spec{Work: name, DType: dtype, Shape: shape}, unit: "ms", amount: 1, peers: []string{"torch"}, equal: 1e-3}
		if dtype != "float32" {
			t.equal = 3e-2
		}
		if name == "resnet" && dtype == "float16" {
			t.peers = nil // PyTorch 2.15 differentiates a float16 convolution by plain loops on the CPU: minutes a step
		}
		list = append(list, t)
	}
	return list
}

func mlp(seed bool) []task {
	if seed {
		return steps("mlp", []int{512, 4096, 3})
	}
	return steps("mlp", []int{128, 1024, 3})
}

func resnet(seed bool) []task {
	if seed {
		return steps("resnet", []int{128})
	}
	return steps("resnet", []int{8})
}

func bert(seed bool) []task {
	if seed {
		return steps("bert", []int{16, 128})
	}
	return steps("bert", []int{8, 64})
}
