package data

import (
	"bytes"
	"fmt"

	"halfnote/internal/text"
	"halfnote/tensor"
)

// NumPy numbers and arrays. Many checkpoints hold some next to the tensors, for example the
// best accuracy.

// numpyType is a numpy.dtype.
type numpyType struct {
	element   *element
	bigEndian bool
}

// numpyArray is a numpy.ndarray.
type numpyArray struct {
	*numpyType
	shape   []int
	fortran bool
	data    []byte
	foreign *foreign // its elements, if they are not numbers
}

// newNumpyType is numpy.dtype("f8", …).
func newNumpyType(m *pickle, args []any) (any, error) {
	if len(args) == 0 {
		return nil, m.wrong("numpy.dtype", args)
	}
	name, _ := args[0].(string)
	e := find(func(e *element) bool { return e.npy == name && name != "" && e.dtype != 0 })
	if e == nil {
		return m.unbuilt("elements of numpy.dtype(" + quoted(name) + ")"), m.spend(containerWork)
	}
	return &numpyType{element: e}, m.spend(containerWork)
}

// build sets the byte order: (version, "<", …).
func (n *numpyType) build(m *pickle, state any) error {
	s, ok := state.(*sequence)
	if !ok || len(s.items) < 2 {
		return m.wrong("numpy.dtype.__setstate__", []any{state})
	}
	order, _ := s.items[1].(string)
	n.bigEndian = order == ">"
	return nil
}

// newNumpyScalar is numpy.core.multiarray.scalar: a type, and the bytes of one number.
func newNumpyScalar(m *pickle, args []any) (any, error) {
	const name = "numpy.core.multiarray.scalar"
	if len(args) != 2 {
		return nil, m.wrong(name, args)
	}
	kind, ok := args[0].(*numpyType)
	p, isBytes := args[1].([]byte)
	if !ok || !isBytes || len(p) != kind.element.size {
		return nil, m.wrong(name, args)
	}
	if err := m.spend(tensorWork); err != nil {
		return nil, err
	}
	t, err := kind.element.read(bytes.NewReader(p), kind.bigEndian, []int{1})
	switch {
	case err != nil:
		return nil, m.source.fail(err)
	case t.DType() == tensor.Bool:
		return t.Bools()[0], nil
	case t.DType().IsFloat():
		return t.Float64s()[0], nil
	}
	return t.Ints()[0], nil
}

// newNumpyArray is numpy.core.multiarray._reconstruct; build sets the contents of its result.
func newNumpyArray(m *pickle, args []any) (any, error) {
	class := global("")
	if len(args) > 0 {
		class, _ = args[0].(global)
	}
	switch class {
	case "numpy.ndarray":
	case "":
		return nil, m.wrong("numpy.core.multiarray._reconstruct", args)
	default:
		return m.foreign(class), nil
	}
	return &numpyArray{}, m.spend(tensorWork)
}

// build sets the contents: (version, shape, type, whether in Fortran order, bytes).
func (a *numpyArray) build(m *pickle, state any) error {
	s, ok := state.(*sequence)
	if !ok || len(s.items) != 5 {
		return m.wrong("numpy.ndarray.__setstate__", []any{state})
	}
	return a.fill(m, s.items[4], s.items[2], s.items[1], s.items[3] == true)
}

// numpyFromBuffer is numpy.core.numeric._frombuffer: bytes, type, shape, order.
func numpyFromBuffer(m *pickle, args []any) (any, error) {
	if len(args) != 4 {
		return nil, m.wrong("numpy.core.numeric._frombuffer", args)
	}
	a := &numpyArray{}
	return a, a.fill(m, args[0], args[1], args[2], args[3] == "F")
}

func (a *numpyArray) fill(m *pickle, data, kind, shape any, fortran bool) error {
	if f, isForeign := kind.(*foreign); isForeign {
		*a = numpyArray{foreign: f}
		return m.spend(tensorWork)
	}
	p, ok := data.([]byte)
	n, isType := kind.(*numpyType)
	sizes, isShape := integersOf(shape)
	if !ok || !isType || !isShape {
		return m.wrong("numpy.ndarray", []any{shape, kind, data})
	}
	if numel, ok := count(sizes, int64(len(p))); !ok || int(numel)*n.element.size != len(p) {
		return m.bad(fmt.Sprintf("%d bytes for an array of shape %s of %s", len(p), text.Shape(sizes), n.element.npy), "as many as it has")
	}
	*a = numpyArray{n, sizes, fortran, p, nil}
	return m.spend(tensorWork + 2*len(sizes))
}

// tensor returns the array as a tensor, which is a view for Fortran order.
func (a *numpyArray) tensor() (*tensor.Tensor, error) {
	if a.numpyType == nil {
		return nil, fmt.Errorf("an array without elements")
	}
	return a.element.readOrdered(bytes.NewReader(a.data), a.bigEndian, a.fortran, a.shape)
}
