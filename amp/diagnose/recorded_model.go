package diagnose

import (
	"fmt"
	"strconv"
	"strings"

	"halfnote/amp/trace"
)

// goModel returns Go code for a model into which the state dict of a recorded model fits, by the names and shapes of the parameters and by the
// operations of the layers without any, or "". Options that parameters do not show, such as strides and the probability of dropout, are left out.
func goModel(rec *trace.Recording) string {
	shapes := map[string][]int{}
	for _, p := range rec.Parameters {
		shapes[p.Name] = p.Shape
	}
	for _, known := range []func(map[string][]int) string{resNetOf, bertOf} {
		if code := known(shapes); code != "" {
			return code
		}
	}
	return sequentialOf(shapes, rec.Ops())
}

// resNetOf returns the residual network of package models with these parameters. Names are those of torchvision.
func resNetOf(shapes map[string][]int) string {
	stem, last := shapes["conv1.weight"], shapes["fc.weight"]
	if len(stem) != 4 || len(last) != 2 {
		return ""
	}
	var blocks [4]int
	for i := range blocks {
		for shapes[fmt.Sprintf("layer%d.%d.conv1.weight", i+1, blocks[i])] != nil {
			blocks[i]++
		}
	}
	name := map[string]string{"[2 2 2 2] false": "18", "[3 4 6 3] false": "34", "[3 4 6 3] true": "50"}[fmt.Sprint(blocks, shapes["layer1.0.conv3.weight"] != nil)]
	options := fmt.Sprintf("Classes: %d", last[0])
	switch fmt.Sprint(stem) {
	case "[64 3 7 7]":
	case "[64 3 3 3]":
		options += ", SmallStem: true"
	default:
		return ""
	}
	if name == "" {
		return ""
	}
	return fmt.Sprintf("models.NewResNet%s(models.ResNetOptions{%s})", name, options)
}

// bertOf returns the BERT encoder of package models with these parameters. Names are those of transformers, where a model with a head has "bert." before them.
func bertOf(shapes map[string][]int) string {
	at := func(name string) []int {
		if s := shapes["bert."+name]; s != nil {
			return s
		}
		return shapes[name]
	}
	words, places, types := at("embeddings.word_embeddings.weight"), at("embeddings.position_embeddings.weight"), at("embeddings.token_type_embeddings.weight")
	up := at("encoder.layer.0.intermediate.dense.weight")
	if len(words) != 2 || len(places) != 2 || len(types) != 2 || len(up) != 2 || at("encoder.layer.0.attention.self.query.weight") == nil {
		return ""
	}
	layers := 0
	for at(fmt.Sprintf("encoder.layer.%d.output.dense.weight", layers)) != nil {
		layers++
	}
	config := fmt.Sprintf("models.BERTConfig{Vocabulary: %d, Hidden: %d, Layers: %d, Heads: …, Intermediate: %d, Positions: %d, Types: %d", words[0], words[1], layers, up[0], places[0], types[0])
	if at("pooler.dense.weight") == nil {
		config += ", NoPooler: true"
	}
	if head := shapes["classifier.weight"]; len(head) == 2 {
		return fmt.Sprintf("models.NewBERTClassifier(%s}, %d)", config, head[0])
	}
	return "models.NewBERT(" + config + "})"
}

// plainLayers are the layers without parameters, by the operation that they are.
var plainLayers = map[string]string{
	"relu": "nn.NewReLU()", "relu6": "nn.NewReLU6()", "tanh": "nn.NewTanh()", "sigmoid": "nn.NewSigmoid()", "silu": "nn.NewSiLU()", "mish": "nn.NewMish()", "hardswish": "nn.NewHardswish()", "selu": "nn.NewSELU()",
	"gelu": "nn.NewGELU()", "flatten": "nn.NewFlatten()", "dropout": "nn.NewDropout(…)",
}

// sequentialOf returns the nn.Sequential with these parameters: layers that are numbered from 0, each with parameters that show what it is or with one
// known operation.
func sequentialOf(shapes map[string][]int, ops []trace.OpRecord) string {
	count, runs := 0, map[int]string{}
	see := func(module string) (int, bool) {
		i, err := strconv.Atoi(module)
		if err == nil && i >= 0 && i < 1000 {
			count = max(count, i+1)
			return i, true
		}
		return 0, false
	}
	for name := range shapes {
		module, what, found := strings.Cut(name, ".")
		if _, ok := see(module); !ok || !found || what != "weight" && what != "bias" {
			return ""
		}
	}
	for _, op := range ops {
		if i, ok := see(op.Module); ok && !op.Backward && runs[i] == "" && op.Name != "cast" {
			runs[i] = op.Name
		}
	}
	layers := make([]string, count)
	for i := range layers {
		weight, bias := shapes[fmt.Sprintf("%d.weight", i)], shapes[fmt.Sprintf("%d.bias", i)]
		if weight == nil {
			layers[i] = plainLayers[runs[i]]
		} else {
			layers[i] = layerOf(runs[i], weight, bias != nil)
		}
		if layers[i] == "" {
			return ""
		}
	}
	if len(shapes) == 0 {
		return ""
	}
	return "nn.NewSequential(" + strings.Join(layers, ", ") + ")"
}

// layerOf returns the layer that runs an operation with a weight of this shape.
func layerOf(op string, weight []int, bias bool) string {
	without := ""
	if !bias {
		without = ", nn.Bias(false)"
	}
	switch {
	case op == "linear" && len(weight) == 2:
		return fmt.Sprintf("nn.NewLinear(%d, %d%s)", weight[1], weight[0], without)
	case op == "conv2d" && len(weight) == 4 && weight[2] == weight[3]:
		return fmt.Sprintf("nn.NewConv2d(%d, %d, %d%s)", weight[1], weight[0], weight[2], without)
	case op == "layer_norm" && bias:
		return fmt.Sprintf("nn.NewLayerNorm([]int{%s})", strings.Trim(strings.ReplaceAll(fmt.Sprint(weight), " ", ", "), "[]"))
	case op == "embedding" && len(weight) == 2:
		return fmt.Sprintf("nn.NewEmbedding(%d, %d)", weight[0], weight[1])
	}
	return "" // for batch norms, parameters do not show the number of dimensions
}
