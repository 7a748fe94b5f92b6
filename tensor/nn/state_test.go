package nn_test

import (
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// TestStateDictNames loads state dicts whose names wrappers have changed, or that fit a model only in part.
func TestStateDictNames(t *testing.T) {
	w, b := tensor.Full(2, 2, 3), tensor.Full(3, 2)
	for _, c := range []struct {
		name    string
		state   map[string]*tensor.Tensor
		strict  string // what LoadStateDict says, "" if it loads
		partly  string // what LoadStateDictPartly returns
		refused string // its error
	}{
		{"plain", map[string]*tensor.Tensor{"0.weight": w, "0.bias": b}, "", "all keys matched", ""},
		{"DataParallel", map[string]*tensor.Tensor{"module.0.weight": w, "module.0.bias": b}, "", "all keys matched", ""},
		{"torch.compile", map[string]*tensor.Tensor{"_orig_mod.0.weight": w, "_orig_mod.0.bias": b}, "", "all keys matched", ""},
		{"Lightning", map[string]*tensor.Tensor{"model.0.weight": w, "model.0.bias": b}, "", "all keys matched", ""},
		{"all of them", map[string]*tensor.Tensor{"module._orig_mod.model.0.weight": w, "model._orig_mod.0.bias": b}, "", "all keys matched", ""},
		{"a compiled part", map[string]*tensor.Tensor{"0._orig_mod.weight": w, "0._orig_mod.bias": b}, "", "all keys matched", ""},
		{"another prefix", map[string]*tensor.Tensor{"net.0.weight": w, "0.bias": b}, "0.weight is missing; net.0.weight is not in the model", "missing: 0.weight; unexpected: net.0.weight", ""},
		{"with and without", map[string]*tensor.Tensor{"module.0.weight": w, "0.weight": w, "0.bias": b}, "module.0.weight is not in the model", "unexpected: module.0.weight", ""},
		{"two prefixes", map[string]*tensor.Tensor{"module.0.weight": w, "model.0.weight": w, "0.bias": b}, "0.weight is there twice, once as module.0.weight", "", "is there twice"},
		{"a part", map[string]*tensor.Tensor{"0.bias": b}, "0.weight is missing", "missing: 0.weight", ""},
		{"more", map[string]*tensor.Tensor{"0.weight": w, "0.bias": b, "1.weight": w, "0": w}, "0 is not in the model; 1.weight is not in the model", "unexpected: 0, 1.weight", ""},
		{"a shape", map[string]*tensor.Tensor{"0.weight": b, "0.bias": b}, "0.weight has shape (2,), want (2, 3)", "", "0.weight has shape (2,), want (2, 3)"},
		{"nothing in common", map[string]*tensor.Tensor{"encoder.w": w}, "encoder.w is not in the model", "", "no name of the state is in the model, such as encoder.w; the model has names such as 0.bias, 0.weight"},
		{"empty", nil, "0.bias is missing; 0.weight is missing", "missing: 0.bias, 0.weight", ""},
	} {
		first, second := nn.NewSequential(nn.NewLinear(3, 2)), nn.NewSequential(nn.NewLinear(3, 2))
		before := nn.StateDict(first)["0.bias"].Clone()
		err := nn.LoadStateDict(first, c.state)
		if c.strict == "" && err != nil || c.strict != "" && (err == nil || !strings.Contains(err.Error(), c.strict)) {
			t.Errorf("%s: got error %v, want %s", c.name, err, c.strict)
		}
		if want := map[bool]*tensor.Tensor{true: b, false: before}[c.strict == ""]; !tensor.Equal(nn.StateDict(first)["0.bias"], want) {
			t.Errorf("%s: got bias %v, want %v", c.name, nn.StateDict(first)["0.bias"], want)
		}
		before = nn.StateDict(second)["0.bias"].Clone()
		keys, err := nn.LoadStateDictPartly(second, c.state)
		if c.refused == "" && (err != nil || keys.String() != c.partly) || c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)) {
			t.Errorf("%s: partly: got %v, %v, want %s%s", c.name, keys, err, c.partly, c.refused)
		}
		loads := c.refused == "" && c.state != nil
		if want := map[bool]*tensor.Tensor{true: b, false: before}[loads]; !tensor.Equal(nn.StateDict(second)["0.bias"], want) {
			t.Errorf("%s: partly: got bias %v, want %v", c.name, nn.StateDict(second)["0.bias"], want)
		}
	}
}
