package data

import (
	"fmt"
	"slices"
	"strings"
)

// callables are the classes and functions that a program may call, and what they give. Each
// has a plain Go function of its own; no other name ever does more than stand in an error.
var callables map[global]func(m *pickle, args []any) (any, error)

func init() {
	callables = map[global]func(m *pickle, args []any) (any, error){
		"collections.OrderedDict":                    newDict,
		"collections.defaultdict":                    newDefaultDict,
		"collections.Counter":                        newDict,
		"__builtin__.set":                            newSequence("set"),
		"builtins.set":                               newSequence("set"),
		"__builtin__.frozenset":                      newSequence("set"),
		"builtins.frozenset":                         newSequence("set"),
		"__builtin__.bytearray":                      newByteArray,
		"builtins.bytearray":                         newByteArray,
		"__builtin__.bytes":                          newByteArray,
		"builtins.bytes":                             newByteArray,
		"copy_reg._reconstructor":                    reconstruct,
		"copyreg._reconstructor":                     reconstruct,
		"_codecs.encode":                             encode,
		"torch.Size":                                 newSequence("torch.Size"),
		"torch.device":                               newDevice,
		"torch.torch_version.TorchVersion":           newText,
		"torch._utils._rebuild_tensor":               rebuildTensor,
		"torch._utils._rebuild_tensor_v2":            rebuildTensor,
		"torch._utils._rebuild_tensor_v3":            rebuildTyped,
		"torch._utils._rebuild_parameter":            rebuildParameter,
		"torch._tensor._rebuild_from_type_v2":        rebuildFromType,
		"torch._utils._rebuild_parameter_with_state": rebuildParameter,
		"numpy.dtype":                                newNumpyType,
		"numpy.core.multiarray.scalar":               newNumpyScalar,
		"numpy._core.multiarray.scalar":              newNumpyScalar,
		"numpy.core.multiarray._reconstruct":         newNumpyArray,
		"numpy._core.multiarray._reconstruct":        newNumpyArray,
		"numpy.core.numeric._frombuffer":             numpyFromBuffer,
		"numpy._core.numeric._frombuffer":            numpyFromBuffer,
	}
}

// mostArguments is how many arguments a call may have.
const mostArguments = 64

// call returns what f gives.
func (m *pickle) call(f any, args []any) error {
	if len(args) > mostArguments {
		return m.bad(fmt.Sprintf("a call with %d arguments", len(args)), fmt.Sprintf("at most %d", mostArguments))
	}
	name, ok := f.(global)
	if of, isForeign := f.(*foreign); isForeign {
		name, ok = of.name, true
	}
	if !ok {
		return m.bad("a call of "+kindOf(f), "a class or a function")
	}
	run, known := callables[name]
	if _, named := f.(global); !known || !named {
		return m.push(m.foreign(name))
	}
	v, err := run(m, args)
	if err != nil {
		return err
	}
	return m.push(v)
}

func (m *pickle) foreign(name global) *foreign {
	f := &foreign{name, m.start}
	if m.strange == nil {
		m.strange = f
	}
	return f
}

// reduce calls what is under the arguments on top.
func (m *pickle) reduce() error {
	args, err := m.popTuple()
	if err != nil {
		return err
	}
	f, err := m.pop()
	if err != nil {
		return err
	}
	return m.call(f, args)
}

func (m *pickle) popTuple() ([]any, error) {
	v, err := m.pop()
	if err != nil {
		return nil, err
	}
	t, ok := v.(*sequence)
	if !ok || t.kind != "tuple" {
		return nil, m.bad("arguments that are "+kindOf(v), "a tuple")
	}
	return t.items, nil
}

// callWithNames is reduce with arguments by name too.
func callWithNames(m *pickle) error {
	names, err := m.pop()
	if err != nil {
		return err
	}
	if d, ok := names.(*mapping); ok && len(d.keys) == 0 {
		return m.reduce()
	}
	all, err := m.popN(2)
	if err != nil {
		return err
	}
	name, ok := all[0].(global)
	if !ok {
		return m.bad("a call of "+kindOf(all[0]), "a class")
	}
	return m.push(m.foreign(name))
}

// callMarked calls the first value after a mark with the rest.
func callMarked(m *pickle) error {
	items, err := m.popMark()
	if err != nil {
		return err
	}
	if len(items) == 0 {
		return m.bad("a call of nothing", "a class")
	}
	return m.call(items[0], items[1:])
}

// callNamed calls a class that is named, with what comes after a mark.
func callNamed(m *pickle) error {
	name, err := m.globalLines()
	if err != nil {
		return err
	}
	items, err := m.popMark()
	if err != nil {
		return err
	}
	return m.call(name, items)
}

func (m *pickle) globalLines() (global, error) {
	module, err := m.line()
	if err != nil {
		return "", err
	}
	name, err := m.line()
	if err != nil {
		return "", err
	}
	return m.globalOf(module, name)
}

// globalOf joins a name, as short as those of Python are.
func (m *pickle) globalOf(module, name string) (global, error) {
	if len(module)+len(name) > 1000 {
		return "", m.bad("the name "+quoted(module+"."+name), "a shorter one")
	}
	return global(module + "." + name), nil
}

func pushGlobal(m *pickle) error {
	name, err := m.globalLines()
	if err != nil {
		return err
	}
	return m.push(name)
}

func pushStackGlobal(m *pickle) error {
	names, err := m.popN(2)
	if err != nil {
		return err
	}
	module, ok := names[0].(string)
	name, also := names[1].(string)
	if !ok || !also {
		return m.bad("a name of "+kindOf(names[0])+" and "+kindOf(names[1]), "two str")
	}
	g, err := m.globalOf(module, name)
	if err != nil {
		return err
	}
	return m.push(g)
}

// build gives the object on top its attributes. Those of containers and tensors, such as
// the _metadata of a state dict, are left out.
func build(m *pickle) error {
	state, err := m.pop()
	if err != nil {
		return err
	}
	v, err := m.top()
	if err != nil {
		return err
	}
	switch v := v.(type) {
	case *mapping, *view, *foreign:
		return nil
	case *numpyType:
		return v.build(m, state)
	case *numpyArray:
		return v.build(m, state)
	}
	return m.bad("attributes of "+kindOf(v), "an object that has them")
}

// wrong is the error of a callable for arguments that it does not take.
func (m *pickle) wrong(name string, args []any) error {
	kinds := make([]string, len(args))
	for i, a := range args {
		kinds[i] = kindOf(a)
	}
	text := strings.Join(kinds, ", ")
	if len(text) > 200 {
		text = text[:200] + "…"
	}
	return m.bad(fmt.Sprintf("%s(%s)", name, text), "the arguments that PyTorch writes")
}

// newDict returns a dict of no argument, a dict, or a list of pairs.
func newDict(m *pickle, args []any) (any, error) {
	d := &mapping{}
	if len(args) == 0 {
		return d, m.spend(containerWork)
	}
	switch from := args[0].(type) {
	case *mapping:
		if err := m.spend(containerWork + 2*len(from.keys)); err != nil {
			return nil, err
		}
		d.keys, d.values = slices.Clone(from.keys), slices.Clone(from.values)
		return d, nil
	case *sequence:
		if err := m.spend(containerWork + 2*len(from.items)); err != nil {
			return nil, err
		}
		for _, item := range from.items {
			pair, ok := item.(*sequence)
			if !ok || len(pair.items) != 2 {
				return nil, m.wrong("dict", args)
			}
			d.keys, d.values = append(d.keys, pair.items[0]), append(d.values, pair.items[1])
		}
		return d, nil
	}
	return nil, m.wrong("dict", args)
}

// newDefaultDict leaves out what makes the values of new keys.
func newDefaultDict(m *pickle, args []any) (any, error) { return newDict(m, args[min(1, len(args)):]) }

func newSequence(kind string) func(m *pickle, args []any) (any, error) {
	return func(m *pickle, args []any) (any, error) {
		if len(args) == 0 {
			return &sequence{kind: kind}, m.spend(containerWork)
		}
		from, ok := args[0].(*sequence)
		if !ok || len(args) != 1 {
			return nil, m.wrong(kind, args)
		}
		if err := m.spend(containerWork + len(from.items)); err != nil {
			return nil, err
		}
		return &sequence{kind, slices.Clone(from.items)}, nil
	}
}

// newByteArray returns bytes of bytes, or of text whose letters are bytes.
func newByteArray(m *pickle, args []any) (any, error) {
	if len(args) == 0 {
		return []byte{}, nil
	}
	if p, ok := args[0].([]byte); ok {
		return p, nil
	}
	return encode(m, args)
}

// encode returns text in Latin-1, which is how protocols below 3 have bytes.
func encode(m *pickle, args []any) (any, error) {
	var text, coding string
	if len(args) == 2 {
		text, _ = args[0].(string)
		coding, _ = args[1].(string)
	}
	if coding != "latin1" && coding != "latin-1" {
		return nil, m.wrong("_codecs.encode", args)
	}
	if err := m.spend(1 + len(text)/8); err != nil {
		return nil, err
	}
	p := make([]byte, 0, len(text))
	for _, r := range text {
		if r > 0xff {
			return nil, m.bad("a letter that Latin-1 does not have", "letters up to U+00FF")
		}
		p = append(p, byte(r))
	}
	return p, nil
}

// reconstruct makes an object of a class, of the class that it is derived from, and of a
// value of that: how protocols below 2 have torch's version.
func reconstruct(m *pickle, args []any) (any, error) {
	if len(args) != 3 {
		return nil, m.wrong("copyreg._reconstructor", args)
	}
	class, ok := args[0].(global)
	switch {
	case !ok:
		return nil, m.wrong("copyreg._reconstructor", args)
	case class == "torch.torch_version.TorchVersion":
		return newText(m, args[2:])
	}
	return m.foreign(class), nil
}

func newText(m *pickle, args []any) (any, error) {
	if len(args) == 1 {
		if text, ok := args[0].(string); ok {
			return text, nil
		}
	}
	return nil, m.wrong("str", args)
}

// device is a torch.device.
type device string

func newDevice(m *pickle, args []any) (any, error) {
	if len(args) == 0 || len(args) > 2 {
		return nil, m.wrong("torch.device", args)
	}
	name, ok := args[0].(string)
	if !ok || len(name) > 100 {
		return nil, m.wrong("torch.device", args)
	}
	if len(args) == 1 || args[1] == nil {
		return device(name), nil
	}
	index, ok := args[1].(int)
	if !ok {
		return nil, m.wrong("torch.device", args)
	}
	return device(fmt.Sprintf("%s:%d", name, index)), nil
}

// integersOf returns an argument that is a list, tuple or torch.Size of ints.
func integersOf(v any) ([]int, bool) {
	s, ok := v.(*sequence)
	if !ok || len(s.items) > mostArguments {
		return nil, false
	}
	list := make([]int, len(s.items))
	for i, item := range s.items {
		if list[i], ok = item.(int); !ok {
			return nil, false
		}
	}
	return list, true
}
