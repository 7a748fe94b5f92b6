package nn_test

import (
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// tied is a model with a weight shared by two modules, and tensors in every kind of field.
type tied struct {
	Encoder *nn.Linear
	decoder *nn.Linear
	List    []*tensor.Tensor
	Pair    [2]*tensor.Tensor
	RNN     *nn.RNN
}

// TestFunctionalCall checks that the model computes with the replacements at every place,
// that gradients flow to them, and that the originals are restored.
func TestFunctionalCall(t *testing.T) {
	shared := tensor.Ones(2, 2).RequireGrad()
	m := &tied{
		Encoder: &nn.Linear{Weight: shared, Bias: tensor.Zeros(2).RequireGrad()}, decoder: &nn.Linear{Weight: shared},
		List: []*tensor.Tensor{tensor.Ones(3)}, Pair: [2]*tensor.Tensor{tensor.Ones(1), nil}, RNN: nn.NewRNN(2, 2),
	}
	before := nn.StateDict(m)
	with := map[string]*tensor.Tensor{
		"encoder.weight": tensor.Full(2, 2, 2).RequireGrad(), "list.0": tensor.Full(7, 3), "pair.0": tensor.Full(8, 1),
		"rnn.weight_ih_l0": tensor.Zeros(2, 2).Half(),
	}
	x := tensor.Ones(1, 2)
	var y *tensor.Tensor
	nn.FunctionalCall(m, with, func() {
		y = m.decoder.Forward(m.Encoder.Forward(x))
		if m.List[0] != with["list.0"] || m.Pair[0] != with["pair.0"] {
			t.Errorf("tensor in the list: got %v; in the array: got %v", m.List[0], m.Pair[0])
		}
		if d := nn.StateDict(m)["rnn.weight_ih_l0"].DType(); d != tensor.Float16 {
			t.Errorf("recurrent weight: got dtype %v, want float16", d)
		}
	})
	if got := y.Float64s()[0]; got != 16 {
		t.Errorf("got %v, want 16", got)
	}
	y.Sum().Backward()
	if with["encoder.weight"].Grad() == nil || shared.Grad() != nil {
		t.Error("the model's own weight received a gradient")
	}
	if m.Encoder.Weight != shared || m.decoder.Weight != shared {
		t.Error("the model's weight was not restored")
	}
	for name, own := range nn.StateDict(m) {
		if own.DType() != before[name].DType() || !tensor.Equal(own, before[name]) {
			t.Errorf("%s has changed", name)
		}
	}
}

// TestFunctionalCallPanics checks that the model's own tensors are restored after a panic, and
// that tensors that cannot be replaced are errors.
func TestFunctionalCallPanics(t *testing.T) {
	l := nn.NewLinear(2, 2)
	own := l.Weight
	for want, f := range map[string]func(){
		"oh": func() {
			nn.FunctionalCall(l, map[string]*tensor.Tensor{"weight": tensor.Zeros(2, 2)}, func() { panic("oh") })
		},
		"functional_call: the model has no tensor wait":                                                                         func() { nn.FunctionalCall(l, map[string]*tensor.Tensor{"wait": own}, func() {}) },
		"functional_call: the replacement of weight does not have its shape (2, 2)":                                             func() { nn.FunctionalCall(l, map[string]*tensor.Tensor{"weight": tensor.Zeros(2)}, func() {}) },
		"functional_call: weight cannot be replaced: it is in a struct held by value or in a map; hold a pointer to the struct": func() { nn.FunctionalCall(*l, map[string]*tensor.Tensor{"weight": own}, func() {}) },
	} {
		func() {
			defer func() {
				text := ""
				switch r := recover().(type) {
				case string:
					text = r
				case error:
					text = r.Error()
				}
				if !strings.Contains(text, want) {
					t.Errorf("got %q, want %q", text, want)
				}
			}()
			f()
		}()
		if l.Weight != own {
			t.Fatalf("%s: the model's weight was not restored", want)
		}
	}
}
