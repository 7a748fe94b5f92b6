package data_test

import (
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/data"
	"halfnote/tensor/nn"
)

// fixture is a tensor in torch_models.json.
type fixture struct {
	Shape  []int
	Values []float64
	Int    bool
}

func (f fixture) tensor() *tensor.Tensor {
	x := tensor.New(f.Values, f.Shape...)
	if f.Int {
		return x.Long()
	}
	return x
}

// tied is a model with one weight in two places.
type tied struct {
	Table *nn.Embedding
	Head  *nn.Linear
}

func newTied() *tied {
	m := &tied{nn.NewEmbedding(5, 3), nn.NewLinear(3, 5, nn.Bias(false))}
	m.Head.Weight = m.Table.Weight
	return m
}

// torchModel is a module of torch_models.py with the function that calls it.
type torchModel struct {
	model any
	call  func(x *tensor.Tensor) *tensor.Tensor
}

func forward(m nn.Module) torchModel { return torchModel{m, m.Forward} }

func torchModels() map[string]torchModel {
	bilinear, attention, wide := nn.NewBilinear(4, 4, 2), nn.NewMultiheadAttention(4, 2), nn.NewMultiheadAttention(4, 2, nn.KDim(3), nn.VDim(5), nn.AddBiasKV())
	rnn, lstm := nn.NewRNN(4, 3, nn.NumLayers(2)), nn.NewLSTM(4, 3, nn.NumLayers(2), nn.Bidirectional())
	projected, gru := nn.NewLSTM(4, 3, nn.ProjSize(2), nn.BatchFirst()), nn.NewGRU(4, 3, nn.Bias(false))
	decoder, transformer, shared, bag := nn.NewTransformerDecoderLayer(4, 2, nn.DimFeedforward(8)), nn.NewTransformer(4, 2, 1, 1, nn.DimFeedforward(8)), newTied(), nn.NewEmbeddingBag(5, 3)
	return map[string]torchModel{
		"linear": forward(nn.NewLinear(4, 3)), "linear without bias": forward(nn.NewLinear(4, 3, nn.Bias(false))),
		"bilinear": {bilinear, func(x *tensor.Tensor) *tensor.Tensor { return bilinear.Forward(x, x) }},
		"conv1d":   forward(nn.NewConv1d(4, 3, 2)), "conv2d": forward(nn.NewConv2d(4, 6, 3, nn.Padding(1), nn.Groups(2))), "conv transpose": forward(nn.NewConvTranspose2d(4, 2, 2)),
		"batch norm": forward(nn.NewBatchNorm2d(4)), "instance norm": forward(nn.NewInstanceNorm2d(4, nn.Affine(true), nn.TrackRunningStats(true))),
		"group norm": forward(nn.NewGroupNorm(2, 4)), "layer norm": forward(nn.NewLayerNorm([]int{4})),
		"prelu": forward(nn.NewPReLU(4, 0.25)), "embedding": forward(nn.NewEmbedding(5, 3)), "embedding bag": forward(bag),
		"rnn":                   {rnn, func(x *tensor.Tensor) *tensor.Tensor { y, _ := rnn.ForwardState(x, nil); return y }},
		"lstm":                  {lstm, func(x *tensor.Tensor) *tensor.Tensor { y, _, _ := lstm.ForwardState(x, nil, nil); return y }},
		"lstm with projections": {projected, func(x *tensor.Tensor) *tensor.Tensor { y, _, _ := projected.ForwardState(x, nil, nil); return y }},
		"gru":                   {gru, func(x *tensor.Tensor) *tensor.Tensor { y, _ := gru.ForwardState(x, nil); return y }},
		"attention": {attention, func(x *tensor.Tensor) *tensor.Tensor {
			y, _ := attention.Attend(x, x, x)
			return y
		}},
		"attention of other widths": {wide, func(x *tensor.Tensor) *tensor.Tensor {
			y, _ := wide.Attend(x, x.Slice(2, 0, 3), tensor.Cat(2, x, x.Slice(2, 0, 1)))
			return y
		}},
		"encoder layer": forward(nn.NewTransformerEncoderLayer(4, 2, nn.DimFeedforward(8))),
		"encoder":       forward(nn.NewTransformerEncoder(nn.NewTransformerEncoderLayer(4, 2, nn.DimFeedforward(8), nn.NormFirst()), 2, nn.NewLayerNorm([]int{4}))),
		"decoder layer": {decoder, func(x *tensor.Tensor) *tensor.Tensor { return decoder.Forward(x, x) }},
		"transformer": {transformer, func(x *tensor.Tensor) *tensor.Tensor {
			return transformer.Forward(x, x)
		}},
		"sequential": forward(nn.NewSequential(nn.NewConv2d(4, 4, 3), nn.NewBatchNorm2d(4), nn.NewReLU(), nn.NewSequential(nn.NewFlatten(), nn.NewLinear(36, 3)))),
		"tied":       {shared, func(x *tensor.Tensor) *tensor.Tensor { return shared.Head.Forward(shared.Table.Forward(x)) }},
	}
}

// TestTorchModels loads state dicts of torch's modules and compares the results of the modules
// here with torch's.
func TestTorchModels(t *testing.T) {
	var fixtures struct {
		Models []struct {
			Name          string
			File          []byte
			Input, Output fixture
		}
	}
	readJSON(t, "torch_models.json", &fixtures)
	models := torchModels()
	if len(models) != len(fixtures.Models) {
		t.Errorf("got %d models, want %d", len(fixtures.Models), len(models))
	}
	for _, c := range fixtures.Models {
		state, err := data.Load(file(t, "x.pth", c.File))
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		weights, err := data.StateDict(state["model"])
		if err != nil || state["epoch"] != 3 {
			t.Fatalf("%s: got epoch %v, %v", c.Name, state["epoch"], err)
		}
		m := models[c.Name]
		if err := nn.LoadStateDict(m.model, weights); err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		nn.Eval(m.model)
		if y, want := m.call(c.Input.tensor()).Detach(), c.Output.tensor(); !tensor.AllClose(y, want, 1e-5, 1e-6) {
			t.Errorf("%s: got\n%v\nwant\n%v", c.Name, y, want)
		}
	}
}

func TestStateDictErrors(t *testing.T) {
	x := tensor.Ones(2)
	same := map[string]*tensor.Tensor{"a": x}
	if got, err := data.StateDict(same); err != nil || got["a"] != x {
		t.Errorf("tensors alone: got %v, %v", got, err)
	}
	for value, want := range map[any]string{
		5: "found int; want a map of tensors", nil: "found nil; want a map of tensors",
	} {
		if _, err := data.StateDict(value); err == nil || err.Error() != "data: state dict: "+want {
			t.Errorf("%v: got error %v, want %s", value, err, want)
		}
	}
	want := `data: state dict: "epoch" is int; want only tensors: the weights may be under a key such as "model"`
	if _, err := data.StateDict(map[string]any{"epoch": 3, "a": x}); err == nil || err.Error() != want {
		t.Errorf("a number among tensors: got error %v, want %s", err, want)
	}
}
