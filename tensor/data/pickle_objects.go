package data

import (
	"fmt"
	"slices"
	"strings"
)

// callables are the classes and functions that a program may call, implemented by plain Go
// functions. Any other name only ever appears in an error.
var callables = map[global]func(m *pickle, args []any) (any, error){
	"collections.OrderedDict":                    newDict,
	"collections.defaultdict":                    newDefaultDict,
	"collections.Counter":                        newDict,
	"collections.deque":                          newDeque,
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

// wrong returns the error of a callable for invalid arguments.
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

// newDict returns an empty dict, or a dict of the items of a dict or of a list of pairs.
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

// newDefaultDict returns a plain dict: it drops the factory for missing values.
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

// newDeque returns a list: it drops the largest length.
func newDeque(m *pickle, args []any) (any, error) {
	return newSequence("list")(m, args[:min(1, len(args))])
}

// newByteArray returns the bytes of a byte string, or of a Latin-1 text.
func newByteArray(m *pickle, args []any) (any, error) {
	if len(args) == 0 {
		return []byte{}, nil
	}
	if p, ok := args[0].([]byte); ok {
		return p, nil
	}
	return encode(m, args)
}

// encode returns a text encoded in Latin-1: protocols below 3 represent bytes in this way.
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
			return nil, m.bad("a character outside Latin-1", "characters up to U+00FF")
		}
		p = append(p, byte(r))
	}
	return p, nil
}

// reconstruct makes an object from a class, its base class and a value of the base class.
// Protocols below 2 represent torch's version string in this way.
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

// device returns a torch.device.
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
