package nn

import (
	"fmt"
	"maps"
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
// them all and leaves the model unchanged; [LoadStateDictPartly] loads what is there. A tensor with several names in the model, such as
// a tied weight, is loaded by the first; state may contain the others too, as torch's does.
// Names that are not the model's are tried without what wrappers add: module. (DataParallel), _orig_mod. (torch.compile)
// and model. (Lightning). It is torch.nn.Module.load_state_dict.
func LoadStateDict(model any, state map[string]*tensor.Tensor) error {
	l := matched(model, state)
	wrong := l.wrong
	for _, name := range l.Missing {
		wrong = append(wrong, name+" is missing")
	}
	for _, name := range l.Unexpected {
		wrong = append(wrong, name+" is not in the model")
	}
	return l.load(wrong)
}

// LoadStateDictPartly is LoadStateDict that loads the tensors that are in both, and returns the names of the others, sorted:
//
//	keys, err := nn.LoadStateDictPartly(net, weights)
//	fmt.Println(keys) // missing: head.weight, head.bias; unexpected: classifier.weight
//
// If shapes differ, or if no name is in both, it returns an error and leaves the model unchanged. It is
// torch.nn.Module.load_state_dict with strict=False.
func LoadStateDictPartly(model any, state map[string]*tensor.Tensor) (IncompatibleKeys, error) {
	l := matched(model, state)
	wrong := l.wrong
	if len(l.from) == 0 && len(wrong) == 0 && len(state) > 0 {
		wrong = append(wrong, fmt.Sprintf("no name of the state is in the model, such as %s; the model has names such as %s", strings.Join(some(l.Unexpected), ", "), strings.Join(some(l.Missing), ", ")))
	}
	return l.IncompatibleKeys, l.load(wrong)
}

// some returns the first names of a list.
func some(names []string) []string { return names[:min(3, len(names))] }

// IncompatibleKeys are names that only the model or only the state dict has.
type IncompatibleKeys struct{ Missing, Unexpected []string }

// String lists the names.
func (k IncompatibleKeys) String() string {
	var parts []string
	if len(k.Missing) > 0 {
		parts = append(parts, "missing: "+strings.Join(k.Missing, ", "))
	}
	if len(k.Unexpected) > 0 {
		parts = append(parts, "unexpected: "+strings.Join(k.Unexpected, ", "))
	}
	if parts == nil {
		return "all keys matched"
	}
	return strings.Join(parts, "; ")
}

// matching pairs the tensors of a model with those of a state dict.
type matching struct {
	IncompatibleKeys
	own   []Named
	from  map[string]*tensor.Tensor // the state's tensors by the model's names
	wrong []string                  // what neither function accepts
}

func matched(model any, state map[string]*tensor.Tensor) *matching {
	w := walker{seen: map[any]bool{}}
	w.walk(reflect.ValueOf(model), "")
	l := &matching{own: w.found, from: map[string]*tensor.Tensor{}}
	known := map[string]bool{}
	for _, n := range l.own {
		known[n.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(state)) {
		own, ok := unwrapped(name, func(name string) bool { return known[name] || w.hasAgain(name) })
		switch {
		case !ok, own != name && state[own] != nil:
			l.Unexpected = append(l.Unexpected, name)
		case known[own] && l.from[own] != nil:
			l.wrong = append(l.wrong, fmt.Sprintf("%s is there twice, once as %s", own, name))
		case known[own]:
			l.from[own] = state[name]
		}
	}
	for _, n := range l.own {
		switch x := l.from[n.Name]; {
		case x == nil:
			l.Missing = append(l.Missing, n.Name)
		case !slices.Equal(x.Shape(), n.Tensor.Shape()):
			l.wrong = append(l.wrong, fmt.Sprintf("%s has shape %s, want %s", n.Name, tuple(x.Shape()), tuple(n.Tensor.Shape())))
		}
	}
	slices.Sort(l.Missing)
	return l
}

// load copies the tensors unless something is wrong.
func (l *matching) load(wrong []string) error {
	if len(wrong) > 0 {
		slices.Sort(wrong)
		return fmt.Errorf("nn: load state dict: %s", strings.Join(wrong, "; "))
	}
	tensor.NoGrad(func() {
		for _, n := range l.own {
			if x := l.from[n.Name]; x != nil {
				n.Tensor.Assign(x)
			}
		}
	})
	return nil
}

// wrappers are the prefixes that PyTorch's and Lightning's wrappers of modules add to names.
var wrappers = []string{"module.", "_orig_mod.", "model."}

// unwrapped returns name, or name without the prefixes of wrappers, if has holds for it.
func unwrapped(name string, has func(name string) bool) (string, bool) {
	if has(name) {
		return name, true
	}
	if inner := strings.ReplaceAll(name, "._orig_mod.", "."); inner != name { // of a part that is compiled
		return unwrapped(inner, has)
	}
	for _, w := range wrappers {
		if inner, ok := strings.CutPrefix(name, w); ok {
			return unwrapped(inner, has)
		}
	}
	return "", false
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
	calls.Note(plumbing.Call[*tensor.Tensor]{Name: "zero_grad", Tensors: params})
	for _, p := range params {
		p.ZeroGrad()
	}
}
