package bench

// steps lists the training steps of a network: in float32, under autocast in bfloat16, and under
// autocast in float16 with a gradient scaler.
func steps(name string, shape []int) (list []task) {
	for _, dtype := range []string{"float32", "bfloat16", "float16"} {
		t := task{name: name + " step", spec: Spec{Work: name, DType: dtype, Shape: shape}, unit: "ms", amount: 1, peers: []string{"torch"}, equal: 1e-3}
		if dtype != "float32" {
			t.equal = 3e-2
		}
		if name == "resnet" && dtype == "float16" {
			t.peers = nil // on the CPU, PyTorch 2.15 differentiates a float16 convolution in plain loops: minutes per step
		}
		list = append(list, t)
	}
	return list
}

func mlp(full bool) []task {
	if full {
		return steps("mlp", []int{512, 4096, 3})
	}
	return steps("mlp", []int{128, 1024, 3})
}

func resnet(full bool) []task {
	if full {
		return steps("resnet", []int{128})
	}
	return steps("resnet", []int{8})
}

func bert(full bool) []task {
	if full {
		return steps("bert", []int{16, 128, 256, 4})
	}
	return steps("bert", []int{8, 64, 256, 4})
}

// gpuSteps lists the training steps for GPUs: in float32, with products in TF32, and under
// autocast in bfloat16 and float16, which are also compared with float32. Sizes keep a GPU busy:
// those of the original papers, except that BERT is BERT-base. The last rows compare steps as
// replayed graphs with the same steps without graphs.
func gpuSteps(name string, full bool) (list []task) {
	shape := map[bool]map[string][]int{
		false: {"mlp": {128, 1024, 3}, "resnet": {128}, "bert": {16, 64, 256, 4}},
		true:  {"mlp": {512, 4096, 3}, "resnet": {512}, "bert": {32, 128, 768, 12}},
	}[full][name]
	single := Spec{Work: name, DType: "float32", Shape: shape}
	for _, dtype := range []string{"float32", "tf32", "float16", "bfloat16"} {
		t := task{name: name + " step", spec: Spec{Work: name, DType: dtype, Shape: shape}, unit: "ms", amount: 1, batch: shape[0], peers: []string{"torch"}, equal: 1e-3}
		switch {
		case name == "bert":
			t.equal = .3 // dropout masks differ
		case dtype != "float32":
			t.equal = 3e-2
		}
		if dtype != "float32" {
			t.own = []rival{{"own float32", single, 1}}
		}
		list = append(list, t)
	}
	for _, t := range list[2:] {
		t.own = []rival{{"own " + t.spec.DType, t.spec, 1}}
		t.name, t.spec.Graph = name+" step, graph", true
		list = append(list, t)
	}
	return list
}
