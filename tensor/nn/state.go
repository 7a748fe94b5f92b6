package nn

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"halfnote/internal/plumbing"
	"halfnote/tensor"
)

// StateDict returns the tensors of model by name, including those that require no gradient.
// They share memory with the model: Clone them to keep their values. A model with a
// StateDict method provides its own. It is torch.nn.Module.state_dict.
func StateDict(model any) map[string]*tensor.Tensor {
	if m, ok := model.(interface {
		StateDict() map[string]*tensor.Tensor
	}); ok {
		return m.StateDict()
	}
	state := map[string]*tensor.Tensor{}
	for _, n := range namedTensors(model) {
		state[n.Name] = n.Tensor.Detach()
	}
	return state
}

// LoadStateDict copies state into the model's tensors of the same names, converted to their
// dtypes. If names are missing or unknown, or shapes differ, it returns an error that lists
// them all and leaves the model unchanged. A tensor with several names in the model, such as
// a tied weight, is loaded by the first; state may contain the others too, as torch's does.
// It is torch.nn.Module.load_state_dict.
func LoadStateDict(model any, state map[string]*tensor.Tensor) error {
	var wrong []string
	w := walker{seen: map[any]bool{}}
	w.walk(reflect.ValueOf(model), "")
	own := w.found
	known := map[string]bool{}
	for _, n := range own {
		known[n.Name] = true
		switch x := state[n.Name]; {
		case x == nil:
			wrong = append(wrong, n.Name+" is missing")
		case !slices.Equal(x.Shape(), n.Tensor.Shape()):
			wrong = append(wrong, fmt.Sprintf("%s has shape %s, want %s", n.Name, tuple(x.Shape()), tuple(n.Tensor.Shape())))
		}
	}
	for name := range state {
		if !known[name] && !w.hasAgain(name) {
			wrong = append(wrong, name+" is not in the model")
		}
	}
	if len(wrong) > 0 {
		slices.Sort(wrong)
		return fmt.Errorf("nn: load state dict: %s", strings.Join(wrong, "; "))
	}
	tensor.NoGrad(func() {
		for _, n := range own {
			n.Tensor.Assign(state[n.Name])
		}
	})
	return nil
}

// hasAgain reports whether name is a further name of a tensor already found.
func (w *walker) hasAgain(name string) bool {
	return slices.ContainsFunc(w.again, func(path string) bool { return name == path || strings.HasPrefix(name, path+".") })
}

// To moves all tensors of model to device d; parameters stay the same leaves. It panics if
// the device does not exist. It is torch.nn.Module.to.
func To(model any, d tensor.Device) {
	change(model, func(t *tensor.Tensor) *tensor.Tensor { return t.ToDevice(d) })
}

// ToDType converts the floating-point tensors of model to d; parameters stay the same
// leaves. It is torch.nn.Module.to with a dtype.
func ToDType(model any, d tensor.DType) {
	change(model, func(t *tensor.Tensor) *tensor.Tensor {
		if !t.DType().IsFloat() {
			return t
		}
		return t.To(d)
	})
}

// Half converts the floating-point tensors of model to float16. Models that run under autocast do
// not need it. It is torch.nn.Module.half.
func Half(model any) { ToDType(model, tensor.Float16) }

func change(model any, f func(*tensor.Tensor) *tensor.Tensor) {
	for _, n := range namedTensors(model) {
		t := n.Tensor
		t.SetData(f(t.Detach()))
		if g := t.Grad(); g != nil {
			t.SetGrad(f(g.Detach()))
		}
	}
}

// ZeroGrad drops the gradients of all parameters. It is
// torch.nn.Module.zero_grad.
func ZeroGrad(model any) {
	params := Parameters(model)
	marks.Note(plumbing.Mark[*tensor.Tensor]{Name: "zero_grad", Tensors: params})
	for _, p := range params {
		p.ZeroGrad()
	}
}
