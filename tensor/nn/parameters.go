package nn

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"halfnote/tensor"
)

// Named is a tensor of a model with its path, for example "0.weight".
type Named struct {
	Name   string
	Tensor *tensor.Tensor
}

// Parameters returns the tensors of model that require a gradient, in the order of
// fields, each once. model is a module, or a struct, slice or map that holds
// modules and tensors; unexported fields count too. It is
// torch.nn.Module.parameters.
func Parameters(model any) []*tensor.Tensor {
	var out []*tensor.Tensor
	for _, n := range NamedParameters(model) {
		out = append(out, n.Tensor)
	}
	return out
}

// NamedParameters is Parameters with names made of field names and indices: field
// RunningMean is running_mean, unless it has a tag nn:"…" with another name; a field with the tag nn:"-" is
// not part of the model. It is
// torch.nn.Module.named_parameters.
func NamedParameters(model any) []Named {
	return slices.DeleteFunc(namedTensors(model), func(n Named) bool { return !n.Tensor.IsLeaf() || !n.Tensor.RequiresGrad() })
}

// NumParameters returns the number of elements of all parameters.
func NumParameters(model any) int {
	n := 0
	for _, p := range Parameters(model) {
		n += p.Numel()
	}
	return n
}

func namedTensors(model any) []Named {
	w := walker{seen: map[any]bool{}}
	w.walk(reflect.ValueOf(model), "")
	return w.found
}

// walker collects tensors from a value of any type. Modules declared in a cell are structs
// of unnamed types; as interface values they are in a wrapper with the field IValue.
type walker struct {
	found []Named
	seen  map[any]bool
	again []string            // further paths of values already found, such as a tied weight
	visit func(reflect.Value) // called for every struct, if not nil
	field func(reflect.Value) // called for every pointer to a tensor, if not nil
	// enter is called for every module with its path and reports whether to look
	// inside; nil looks everywhere.
	enter func(v reflect.Value, path string) bool
}

var (
	tensorType = reflect.TypeFor[tensor.Tensor]()
	namedType  = reflect.TypeFor[Named]()
)

func (w *walker) walk(v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.Pointer:
		if w.field != nil && v.Type().Elem() == tensorType {
			w.field(v)
		}
		if v.IsNil() || w.visited(v, path) {
			return
		}
		if v.Type().Elem() == tensorType {
			// v may be an unexported field, from which Interface would panic.
			w.found = append(w.found, Named{path, (*tensor.Tensor)(v.UnsafePointer())})
			return
		}
		w.walk(v.Elem(), path)
	case reflect.Interface:
		w.walk(v.Elem(), path)
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && (!holdsTensors(v.Type().Elem()) || v.Len() > 0 && w.visited(v, path)) {
			return
		}
		for i := range v.Len() {
			if v.Type().Elem() == namedType {
				w.walk(v.Index(i), path)
			} else {
				w.walk(v.Index(i), join(path, strconv.Itoa(i)))
			}
		}
	case reflect.Map:
		if !holdsTensors(v.Type().Elem()) || w.visited(v, path) {
			return
		}
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(keyString(a), keyString(b)) })
		for _, k := range keys {
			w.walk(v.MapIndex(k), join(path, keyString(k)))
		}
	case reflect.Struct:
		if w.enter != nil && v.CanAddr() && isModule(v.Type()) && !w.enter(v, path) {
			return
		}
		w.fields(v, path)
	}
}

func (w *walker) fields(v reflect.Value, path string) {
	t := v.Type()
	if t == namedType { // has its own name
		w.walk(v.Field(1), join(path, v.Field(0).String()))
		return
	}
	if w.visit != nil {
		w.visit(v)
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name := f.Name
		switch {
		case f.Tag.Get("nn") == "-":
			continue
		case name == "IValue", t == reflect.TypeFor[Sequential](), f.Type == reflect.SliceOf(namedType):
			w.walk(v.Field(i), path)
			continue
		case t == reflect.TypeFor[Parametrized]() && f.Anonymous:
			w.inside(v.Field(i), path)
			continue
		case f.Anonymous:
			w.embedded(v.Field(i), path)
			continue
		case t.Name() == "" && len(name) > 1 && name[0] == 'X' && !unicode.IsUpper(rune(name[1])):
			name = name[1:] // the interpreter's name for an unexported field
		}
		if tag := f.Tag.Get("nn"); tag != "" {
			name = tag
		} else {
			name = snake(name)
		}
		w.walk(v.Field(i), join(path, name))
	}
}

// embedded walks an embedded field, which is part of its struct and not a separate module,
// unless it is the module that the struct wraps.
func (w *walker) embedded(v reflect.Value, path string) {
	if v.Kind() == reflect.Interface {
		w.walk(v, path)
		return
	}
	enter := w.enter
	w.enter = nil
	w.walk(v, path)
	w.enter = enter
}

// inside walks the module of a Parametrized, which stands for it: enter is called only for
// the modules in it.
func (w *walker) inside(v reflect.Value, path string) {
	if enter := w.enter; enter != nil {
		root := true
		w.enter = func(v reflect.Value, path string) bool {
			if root {
				root = false
				return true
			}
			return enter(v, path)
		}
		defer func() { w.enter = enter }()
	}
	w.walk(v, path)
}

// visited reports whether v, a reference, was seen before.
func (w *walker) visited(v reflect.Value, path string) bool {
	type reference struct {
		t   reflect.Type
		p   uintptr
		len int
	}
	r := reference{t: v.Type(), p: v.Pointer()}
	if v.Kind() == reflect.Slice {
		r.len = v.Len()
	}
	if w.seen[r] {
		w.again = append(w.again, path)
		return true
	}
	w.seen[r] = true
	return false
}

// holdsTensors reports whether values of type t may hold tensors; the walk skips other
// slices.
func holdsTensors(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map, reflect.Struct:
		return true
	case reflect.Array:
		return holdsTensors(t.Elem())
	}
	return false
}

func keyString(k reflect.Value) string { return fmt.Sprint(k) }

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// snake returns a field's name in torch's spelling: RunningMean is running_mean, FC1 is fc1
// and WeightIH0 is weight_ih0.
func snake(name string) string {
	var b strings.Builder
	letters := []rune(name)
	for i, r := range letters {
		starts := i > 0 && unicode.IsUpper(r) &&
			(!unicode.IsUpper(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1]))
		if starts && letters[i-1] != '_' {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// ParametersToVector returns the elements of params concatenated into one vector, with the
// dtype and device of the first. Gradients flow back to params. It panics if params is empty
// or on several devices. It is torch.nn.utils.parameters_to_vector.
func ParametersToVector(params []*tensor.Tensor) *tensor.Tensor {
	if len(params) == 0 {
		failVector("parameters_to_vector", "params is empty; want at least one tensor, for example from nn.Parameters(net)")
	}
	flat := make([]*tensor.Tensor, len(params))
	for i, p := range params {
		if p == nil {
			failVector("parameters_to_vector", "parameter %d is nil; want a tensor", i)
		}
		flat[i] = p.Reshape(-1)
	}
	return tensor.Cat(0, flat...)
}

// VectorToParameters copies the elements of v into params in turn, in place and converted to
// their dtypes. It panics unless v is a vector with as many elements as params in total. It
// is torch.nn.utils.vector_to_parameters.
func VectorToParameters(v *tensor.Tensor, params []*tensor.Tensor) {
	n := 0
	for i, p := range params {
		if p == nil {
			failVector("vector_to_parameters", "parameter %d is nil; want a tensor", i)
		}
		n += p.Numel()
	}
	if v == nil || v.Dim() != 1 || v.Numel() != n {
		failVector("vector_to_parameters", "%s for %d parameters with %d elements; want a vector of %d", describeVector(v), len(params), n, n)
	}
	tensor.NoGrad(func() {
		at := 0
		for _, p := range params {
			p.Assign(v.Slice(0, at, at+p.Numel()).Reshape(p.Shape()...))
			at += p.Numel()
		}
	})
}

func describeVector(v *tensor.Tensor) string {
	if v == nil {
		return "a nil tensor"
	}
	return fmt.Sprintf("a tensor of shape %s", tuple(v.Shape()))
}

func failVector(op, format string, args ...any) {
	panic(&tensor.Error{Op: op, Why: fmt.Sprintf(format, args...)})
}
