package nn

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"halfnote/tensor"
)

// Parametrized is a module of which some tensors are computed from parameters at each run.
// Put it in the place of the module. [WeightNorm] and [SpectralNorm] make one. Names of
// parameters and of the state are those of torch.nn.utils.parametrize.
//
// The module itself has these tensors only while Forward, With or String runs; do not call
// it in another way, nor from several goroutines at once.
type Parametrized struct {
	Module
	Parametrizations map[string]Parametrization // keyed by the name of the tensor

	put map[string]func(*tensor.Tensor) // setters of the module's tensors; functions, which the walk for tensors does not enter
}

// Parametrization computes a tensor from its parameters.
type Parametrization interface {
	compute() *tensor.Tensor
	original() *tensor.Tensor // parameter with the computed tensor's shape
	fmt.Stringer
}

// TensorName is the name of the tensor of a module to compute; "weight" by default.
func TensorName(name string) Option {
	return Option{"TensorName", func(c *config) { c.tensorName = name }}
}

// parametrize returns m with the named tensor computed by the result of make. A module that
// is already Parametrized gains another computed tensor.
func parametrize(op string, m Module, name string, make func(weight *tensor.Tensor) Parametrization) *Parametrized {
	if m == nil {
		panic(&tensor.Error{Op: op, Why: "module is nil; want a module"})
	}
	p, ok := m.(*Parametrized)
	if !ok {
		p = &Parametrized{m, map[string]Parametrization{}, map[string]func(*tensor.Tensor){}}
	}
	if p.Parametrizations[name] != nil {
		panic(&tensor.Error{Op: op, Why: fmt.Sprintf("%s is already computed by %v; choose another tensor, or call RemoveParametrizations first", name, p.Parametrizations[name])})
	}
	own := namedTensors(p.Module)
	i := slices.IndexFunc(own, func(n Named) bool { return n.Name == name && !strings.Contains(name, ".") })
	if i < 0 {
		panic(&tensor.Error{Op: op, Why: fmt.Sprintf("%s has no tensor %q; want one of %s", typeName(p.Module), name, ownNames(own))})
	}
	places := internals{}.Places(p.Module, own[i].Tensor)
	if len(places) == 0 {
		panic(&tensor.Error{Op: op, Why: fmt.Sprintf("%s cannot be replaced; want a pointer to the module", name)})
	}
	p.Parametrizations[name] = make(own[i].Tensor)
	p.put[name] = func(t *tensor.Tensor) {
		for _, at := range places {
			*at = t
		}
	}
	p.put[name](nil)
	return p
}

// ownNames lists the names that contain no dot.
func ownNames(own []Named) string {
	var names []string
	for _, n := range own {
		if !strings.Contains(n.Name, ".") {
			names = append(names, n.Name)
		}
	}
	return strings.Join(names, ", ")
}

// Places returns the fields of model that hold t and can be set.
func (internals) Places(model any, t *tensor.Tensor) []**tensor.Tensor {
	var places []**tensor.Tensor
	w := walker{seen: map[any]bool{}}
	w.field = func(v reflect.Value) {
		if v.CanAddr() && (*tensor.Tensor)(v.UnsafePointer()) == t {
			places = append(places, (**tensor.Tensor)(v.Addr().UnsafePointer()))
		}
	}
	w.walk(reflect.ValueOf(model), "")
	return places
}

// With calls body while the module has its computed tensors, for methods other than
// Forward:
//
//	gru := nn.NewGRU(8, 16)
//	normed := nn.WeightNorm(gru, nn.TensorName("weight_hh_l0"))
//	normed.With(func() { out, h = gru.ForwardState(x, nil) })
func (p *Parametrized) With(body func()) { p.with(Parametrization.compute, body) }

// with calls body while the module has the tensors that tensorOf returns.
func (p *Parametrized) with(tensorOf func(Parametrization) *tensor.Tensor, body func()) {
	defer func() {
		for _, put := range p.put {
			put(nil)
		}
	}()
	for _, name := range slices.Sorted(maps.Keys(p.Parametrizations)) {
		p.put[name](tensorOf(p.Parametrizations[name]))
	}
	body()
}

// Forward runs the module with its computed tensors.
func (p *Parametrized) Forward(x *tensor.Tensor) (y *tensor.Tensor) {
	p.With(func() { y = p.Module.Forward(x) })
	return y
}

// RemoveParametrizations makes the named tensor of p a parameter again, with its current
// computed value, and returns p, or the module in it if no computed tensor is left. It
// panics if that tensor is not computed. It is
// torch.nn.utils.parametrize.remove_parametrizations, torch.nn.utils.remove_weight_norm
// and remove_spectral_norm.
func RemoveParametrizations(p *Parametrized, name string) Module {
	if p == nil {
		panic(&tensor.Error{Op: "remove_parametrizations", Why: "the module is nil; want the result of nn.WeightNorm or nn.SpectralNorm"})
	}
	by := p.Parametrizations[name]
	if by == nil {
		panic(&tensor.Error{Op: "remove_parametrizations", Why: fmt.Sprintf("%q is not computed; want one of %v", name, slices.Sorted(maps.Keys(p.Parametrizations)))})
	}
	var value *tensor.Tensor
	tensor.NoGrad(func() { value = by.compute().Clone() })
	p.put[name](value.Detach().RequireGrad())
	delete(p.Parametrizations, name)
	delete(p.put, name)
	if len(p.Parametrizations) == 0 {
		return p.Module
	}
	return p
}

// String returns what torch prints.
func (p *Parametrized) String() string {
	var text string
	p.with(Parametrization.original, func() { text = describe(p.Module) })
	name, inside, _ := strings.Cut(text, "(")
	inside = strings.TrimSuffix(inside, ")")
	if strings.HasPrefix(inside, "\n") {
		inside = strings.TrimSuffix(inside, "\n")
	} else if inside != "" {
		inside = "\n  " + inside
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(p.Parametrizations)) {
		fmt.Fprintf(&b, "    (%s): ParametrizationList(\n      (0): %v\n    )\n", name, p.Parametrizations[name])
	}
	return fmt.Sprintf("Parametrized%s(%s\n  (parametrizations): ModuleDict(\n%s  )\n)", name, inside, b.String())
}
