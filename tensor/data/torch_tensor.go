package data

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"halfnote/internal/text"
	"halfnote/tensor"
)

// storage is the memory of one or more tensors in a PyTorch file.
type storage struct {
	key     string
	element *element // nil until a tensor gives the bytes a type
	bytes   int
	data    *tensor.Tensor // all elements; nil until they are read
}

// size returns the bytes of an element, 1 while the type is unknown.
func (s *storage) size() int {
	if s.element == nil {
		return 1
	}
	return s.element.bits / 8
}

func (s *storage) numel() int { return s.bytes / s.size() }

// view is a tensor: elements of a storage, addressed by strides.
type view struct {
	storage       *storage
	element       *element
	offset        int
	shape, stride []int
	grad          bool
}

// storageTypes maps torch's storage classes to safetensors' names of their elements.
var storageTypes = map[string]string{
	"DoubleStorage": "F64", "FloatStorage": "F32", "HalfStorage": "F16", "BFloat16Storage": "BF16",
	"LongStorage": "I64", "IntStorage": "I32", "ShortStorage": "I16", "CharStorage": "I8", "ByteStorage": "U8", "BoolStorage": "BOOL",
	"UntypedStorage": "",
}

// unreadable are the elements of storage classes, and of dtypes, that tensors lack.
var unreadable = map[string]*element{
	"ComplexFloatStorage": {name: "torch.complex64", bits: 64}, "ComplexDoubleStorage": {name: "torch.complex128", bits: 128},
	"QInt8Storage": {name: "torch.qint8", bits: 8}, "QUInt8Storage": {name: "torch.quint8", bits: 8}, "QInt32Storage": {name: "torch.qint32", bits: 32},
	"torch.uint64": {name: "torch.uint64", bits: 64}, "torch.complex32": {name: "torch.complex32", bits: 32},
}

// torchTypes maps torch's dtypes to safetensors' names.
var torchTypes = map[global]string{
	"torch.float64": "F64", "torch.float32": "F32", "torch.float16": "F16", "torch.bfloat16": "BF16",
	"torch.float8_e4m3fn": "F8_E4M3", "torch.float8_e5m2": "F8_E5M2",
	"torch.float8_e4m3fnuz": "F8_E4M3FNUZ", "torch.float8_e5m2fnuz": "F8_E5M2FNUZ", "torch.float8_e8m0fnu": "F8_E8M0",
	"torch.int64": "I64", "torch.int32": "I32", "torch.int16": "I16", "torch.int8": "I8",
	"torch.uint8": "U8", "torch.uint16": "U16", "torch.uint32": "U32", "torch.bool": "BOOL",
}

// elementNamed returns the element type with the given safetensors name.
func elementNamed(name string) *element { return find(func(e *element) bool { return e.name == name }) }

// storages holds the storages of a file by key.
type storages map[string]*storage

// persistent returns the storage that a program names: ("storage", class, key, device, number
// of elements). Files from before PyTorch 1.6 add a view of another storage, which is nil in
// all but the oldest.
func (all storages) persistent(m *pickle, id any) (any, error) {
	parts, ok := id.(*sequence)
	if ok && len(parts.items) > 1 && parts.items[0] == "module" { // a class with its source, which is not read
		if class, isName := parts.items[1].(global); isName {
			return class, nil
		}
	}
	if !ok || parts.kind != "tuple" || len(parts.items) < 5 || len(parts.items) > 6 || parts.items[0] != "storage" {
		return nil, m.bad("an object kept outside of the program", "a storage")
	}
	class, ok := parts.items[1].(global)
	key, isText := parts.items[2].(string)
	numel, isInt := parts.items[4].(int)
	if !ok || !isText || !isInt || numel < 0 {
		return nil, m.wrong("storage", parts.items)
	}
	if len(parts.items) == 6 && parts.items[5] != nil {
		return nil, m.bad("a storage that is a part of another", "whole ones; save the tensors again with PyTorch 0.4 or newer")
	}
	module, name, _ := cutLast(string(class))
	kind, known := storageTypes[name]
	s := &storage{key: key, element: unreadable[name]}
	if !known && s.element == nil || module != "torch" && module != "torch.storage" && module != "torch.cuda" {
		return m.unbuilt("a storage of the class " + string(class)), nil
	}
	if kind != "" {
		s.element = elementNamed(kind)
	}
	if numel > math.MaxInt/16 {
		return nil, m.bad(fmt.Sprintf("a storage of %d elements", numel), "as many as the file has")
	}
	s.bytes = numel * s.size()
	if old := all[key]; old != nil {
		if old.bytes != s.bytes || old.element != s.element && s.element != nil {
			return nil, m.bad(fmt.Sprintf("storage %s twice, of different types or sizes", quoted(key)), "one type and size")
		}
		return old, nil
	}
	all[key] = s
	return s, m.spend(tensorWork)
}

// cutLast cuts a name at its last dot.
func cutLast(name string) (module, rest string, ok bool) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return "", name, false
	}
	return name[:i], name[i+1:], true
}

// rebuildTensor is torch._utils._rebuild_tensor_v2: storage, offset, size, stride,
// requires_grad, hooks, metadata. _rebuild_tensor has the first four.
func rebuildTensor(m *pickle, args []any) (any, error) {
	if len(args) > 0 {
		if s, ok := args[0].(*storage); ok && s.element != nil {
			return m.view("torch._utils._rebuild_tensor_v2", s.element, args, 6)
		}
	}
	return nil, m.wrong("torch._utils._rebuild_tensor_v2", args)
}

// rebuildTyped is torch._utils._rebuild_tensor_v3, which has a dtype before the metadata.
func rebuildTyped(m *pickle, args []any) (any, error) {
	const name = "torch._utils._rebuild_tensor_v3"
	if len(args) < 7 {
		return nil, m.wrong(name, args)
	}
	dtype, ok := args[6].(global)
	s, isStorage := args[0].(*storage)
	if !ok || !isStorage {
		return nil, m.wrong(name, args)
	}
	e := cmp.Or(elementNamed(torchTypes[dtype]), unreadable[string(dtype)])
	if e == nil {
		return m.unbuilt("a tensor of " + string(dtype)), m.spend(tensorWork)
	}
	if s.element == nil && s.bytes%(e.bits/8) == 0 {
		s.element = e
	}
	if s.element != e {
		return nil, m.bad(fmt.Sprintf("storage %s also as %s", quoted(s.key), dtype), "one dtype for each storage")
	}
	return m.view(name, e, args, 7)
}

// view makes a tensor from the arguments that all functions begin with; last is the index of
// metadata.
func (m *pickle) view(name string, e *element, args []any, last int) (any, error) {
	if len(args) < 4 {
		return nil, m.wrong(name, args)
	}
	offset, ok := args[1].(int)
	shape, isShape := integersOf(args[2])
	stride, isStride := integersOf(args[3])
	if !ok || !isShape || !isStride || len(shape) != len(stride) {
		return nil, m.wrong(name, args)
	}
	v := &view{storage: args[0].(*storage), element: e, offset: offset, shape: shape, stride: stride}
	if !v.within() {
		return nil, m.bad(text.Sprintf("shape %s, stride %v and offset %d in a storage of %d elements", text.Shape(shape), stride, offset, v.storage.numel()), "only elements of the storage")
	}
	if len(args) > 4 {
		v.grad, _ = args[4].(bool)
	}
	if len(args) > last {
		if meta, ok := args[last].(*mapping); ok && len(meta.keys) > 0 {
			return m.unbuilt("a tensor with its conjugate or negative bit set"), m.spend(tensorWork)
		}
	}
	return v, m.spend(tensorWork + 2*len(shape))
}

// within reports whether the storage has all elements of the view.
func (v *view) within() bool {
	n, ok := count(v.shape, math.MaxInt64)
	if !ok || v.offset < 0 || v.offset > v.storage.numel() {
		return false
	}
	last := v.offset
	for i, size := range v.shape {
		step := v.stride[i]
		if step < 0 {
			return false
		}
		if n == 0 || step == 0 || size == 1 {
			continue
		}
		if (v.storage.numel()-last)/step < size-1 {
			return false
		}
		last += (size - 1) * step
	}
	return n == 0 || last < v.storage.numel()
}

// rebuildParameter is torch._utils._rebuild_parameter: data, requires_grad, hooks, and the
// attributes of _rebuild_parameter_with_state.
func rebuildParameter(m *pickle, args []any) (any, error) {
	if len(args) >= 2 {
		v, ok := args[0].(*view)
		grad, isBool := args[1].(bool)
		if ok && isBool {
			of := *v
			of.grad = grad
			return &of, m.spend(tensorWork)
		}
		if f, ok := args[0].(*foreign); ok {
			return f, nil
		}
	}
	return nil, m.wrong("torch._utils._rebuild_parameter", args)
}

// tensorClasses are the classes that _rebuild_from_type_v2 may return.
var tensorClasses = map[global]bool{
	"torch.Tensor": true, "torch._tensor.Tensor": true, "torch.nn.parameter.Parameter": true, "torch.nn.parameter.Buffer": true,
}

// rebuildFromType is torch._tensor._rebuild_from_type_v2: the function that makes the tensor,
// its class, the arguments, and attributes, which are dropped.
func rebuildFromType(m *pickle, args []any) (any, error) {
	const name = "torch._tensor._rebuild_from_type_v2"
	if len(args) != 4 {
		return nil, m.wrong(name, args)
	}
	class, ok := args[1].(global)
	with, isTuple := args[2].(*sequence)
	f, isName := args[0].(global)
	if !ok || !isTuple || !isName {
		return nil, m.wrong(name, args)
	}
	if !tensorClasses[class] {
		return m.foreign(class), nil
	}
	switch f {
	case "torch._utils._rebuild_tensor_v2":
		return rebuildTensor(m, with.items)
	case "torch._utils._rebuild_tensor_v3":
		return rebuildTyped(m, with.items)
	}
	return m.foreign(f), nil
}
