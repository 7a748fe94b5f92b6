package chart

import (
	"fmt"
	"math"
)

// mlp returns the operations of a step of three linear layers with ReLU and MSE loss under
// autocast, with a scaler.
func mlp(steps int) (ops []OpDType) {
	for range steps {
		for i := range 3 {
			module := fmt.Sprint(2 * i)
			casts := 2
			if i == 0 {
				casts = 3
			}
			ops = append(ops, OpDType{Name: "linear", Module: module, DType: "float16", Casts: casts, Why: "lower"})
			if i < 2 {
				ops = append(ops, OpDType{Name: "relu", Module: fmt.Sprint(2*i + 1), DType: "float16", Why: "unlisted"})
			}
		}
		ops = append(ops, OpDType{Name: "mse_loss", DType: "float32", Casts: 1, Why: "fp32"}, OpDType{Name: "mul", DType: "float32", Why: "promote"})
		back := func(name, module, dtype string) {
			ops = append(ops, OpDType{Name: name, Module: module, Phase: "backward", DType: dtype, Why: "of " + name})
		}
		back("mul", "", "float32")
		back("mse_loss", "", "float32")
		back("to", "", "float16")
		for i := 2; i >= 0; i-- {
			module := fmt.Sprint(2 * i)
			back("matmul", module, "float16")
			if i > 0 {
				back("matmul", module, "float16")
			}
			back("sum", module, "float16")
			back("to", module, "float32")
			back("to", module, "float32")
			if i > 0 {
				back("relu", fmt.Sprint(2*i-1), "float16")
			}
		}
		for range 6 {
			ops = append(ops, OpDType{Name: "unscale", Phase: "optimizer", DType: "float32"})
		}
		for range 6 {
			ops = append(ops, OpDType{Name: "sgd_step", Phase: "optimizer", DType: "float32"})
		}
	}
	return ops
}

func fourDTypes() (ops []OpDType) {
	for i, d := range []string{"int64", "float32", "bfloat16", "float16", "float64", "complex64"} {
		ops = append(ops, OpDType{Name: "an_operation_with_a_long_name", Module: "encoder.layer.11.attention", DType: d, Casts: i, Cached: 5 - i, Why: "full unless a dtype is given"})
	}
	return ops
}

func longTrace(n int) (ops []OpDType) {
	for i := range n {
		op := OpDType{Name: []string{"conv2d", "batch_norm", "relu"}[i%3], Module: fmt.Sprint("layer.", i/3), DType: []string{"float16", "float32", "float16"}[i%3], Why: "lower", Casts: (i + 1) % 2}
		if i >= n/3 {
			op.Phase = "backward"
		}
		ops = append(ops, op)
	}
	return ops
}

func ranges(n int) (list []ValueRange) {
	for i := range n {
		r := ValueRange{Name: fmt.Sprint("linear backward, encoder.", i), DType: []string{"float32", "float16", "bfloat16"}[i%3], Min: math.Ldexp(1, -30+i%20), Max: math.Ldexp(1, i%18)}
		r.Bad = i == 6
		list = append(list, r)
	}
	return list
}

func roofPoints() []RoofPoint {
	return []RoofPoint{
		{"linear", "float16", 17e9, 42e6, 26e-5, "compute"}, {"cast", "float16", 16e6, 100e6, 31e-5, "memory"},
		{"relu", "float16", 2e6, 8e6, 26e-6, "memory"}, {"mse_loss", "float32", 2e6, 16e6, 5e-5, "memory"}, {"add", "float32", 10, 120, 3.8e-6, "launch"},
	}
}

// castGraphOf returns a small network with a connection that skips a layer.
func castGraphOf() ([]CastNode, []CastEdge) {
	return []CastNode{
			{Name: "input", DType: "float32"}, {Name: "embed", DType: "float16", Ops: "linear, relu", Casts: 2}, {Name: "body.0", DType: "float16", Ops: "linear", Casts: 1, Cached: 1},
			{Name: "norm", DType: "float32", Ops: "layer_norm"}, {Name: "body", DType: "float32", Ops: "add", Casts: 0}, {Name: "head", DType: "float16", Ops: "linear", Casts: 5}, {Name: "mse_loss", DType: "float32", Ops: "mse_loss"},
		}, []CastEdge{
			{0, 1, "float32", "float16", false}, {1, 2, "float16", "", false}, {2, 3, "float16", "float32", false}, {1, 4, "float16", "float32", false}, {3, 4, "float32", "", false},
			{4, 5, "float32", "float16", true}, {5, 6, "float16", "float32", false},
		}
}

// longGraph returns a chain of n nodes.
func longGraph(n int) (nodes []CastNode, edges []CastEdge) {
	for i := range n {
		nodes = append(nodes, CastNode{Name: fmt.Sprint("encoder.layer.", i), DType: []string{"float16", "float32"}[i%2], Ops: "linear, an_operation_with_a_long_name, another_operation_with_a_long_name, and_more", Casts: i % 3, Cached: i % 5})
		if i > 0 {
			edges = append(edges, CastEdge{i - 1, i, nodes[i-1].DType, nodes[i].DType, i%7 == 0})
		}
		if i > 3 && i%4 == 0 {
			edges = append(edges, CastEdge{i - 3, i, nodes[i-3].DType, "", false})
		}
	}
	return nodes, edges
}

// wideGraph returns n branches between two nodes.
func wideGraph(n int) (nodes []CastNode, edges []CastEdge) {
	nodes = append(nodes, CastNode{Name: "input", DType: "int64"})
	for i := range n {
		nodes = append(nodes, CastNode{Name: fmt.Sprint("branches.attention.", i), DType: "bfloat16", Ops: "linear"})
		edges = append(edges, CastEdge{0, 1 + i, "float32", "bfloat16", i > 0}, CastEdge{1 + i, n + 1, "bfloat16", "float32", false})
	}
	return append(nodes, CastNode{Name: "cat", DType: "float32", Ops: "cat"}), edges
}

// spans returns the operations of a step, n times over.
func spans(n int, device string) (list []Span) {
	at := .5
	add := func(name, lane, dtype string, took, gap float64) {
		list = append(list, Span{name, "fc1", lane, device, dtype, at, took})
		at += took + gap
	}
	for range n {
		for range 3 {
			add("float32 → float16", "casts", "float16", 2e-4, 0)
			add("linear", "forward", "float16", 9e-4, 5e-5)
			add("relu", "forward", "float16", 1e-4, 5e-5)
		}
		add("mse_loss", "forward", "float32", 2e-4, 1e-4)
		for range 3 {
			add("relu", "backward", "float16", 2e-4, 0)
			add("linear", "backward", "float16", 1.7e-3, 5e-5)
		}
		for range 6 {
			add("sgd_step", "optimizer", "float32", 1e-4, 1e-5)
		}
	}
	return list
}
