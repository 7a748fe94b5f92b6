package data

import (
	"encoding/json"
	"fmt"
	"strconv"

	"halfnote/tensor"
)

// checkpoint reads the values of a checkpoint's metadata.
type checkpoint struct {
	parser
	file *Safetensors
	used map[string]bool
}

// deepest is the largest nesting depth of values.
const deepest = 1000

// node reads a value preceded by its type.
func (l *checkpoint) node(depth int) (value any, err error) {
	if depth > deepest {
		return nil, fmt.Errorf("values nested %d deep", depth)
	}
	if err := l.delim('['); err != nil {
		return nil, err
	}
	kind, err := l.text()
	if err != nil {
		return nil, err
	}
	within := func() (any, error) { return l.node(depth + 1) }
	switch kind {
	case "map[string]any":
		value, err = loadMap(l, within)
	case "map[string]tensor":
		value, err = loadMap(l, l.tensor)
	case "map[string]float64":
		value, err = loadMap(l, l.number)
	case "[]any":
		value, err = loadList(l, within)
	case "[]tensor":
		value, err = loadList(l, l.tensor)
	case "[]float64":
		value, err = loadList(l, l.number)
	case "[]int":
		value, err = loadList(l, l.integer)
	case "[]string":
		value, err = loadList(l, l.text)
	case "tensor":
		value, err = l.tensor()
	case "float64":
		value, err = l.number()
	case "int":
		value, err = l.integer()
	case "string":
		value, err = l.text()
	case "bool", "nil":
		value, err = l.Token()
		if _, isBool := value.(bool); err == nil && (isBool != (kind == "bool") || !isBool && value != nil) {
			err = fmt.Errorf("%v where there should be a %s", value, kind)
		}
	default:
		err = fmt.Errorf("the type %s", quoted(kind))
	}
	if err != nil {
		return nil, err
	}
	return value, l.delim(']')
}

func (l *checkpoint) tensor() (*tensor.Tensor, error) {
	name, err := l.text()
	if err != nil {
		return nil, err
	}
	if l.used[name] {
		return nil, fmt.Errorf("tensor %s twice", quoted(name))
	}
	l.used[name] = true
	return l.file.Tensor(name)
}

func (l *checkpoint) number() (float64, error) {
	t, err := l.Token()
	if err != nil {
		return 0, err
	}
	var s string
	switch v := t.(type) {
	case json.Number:
		s = string(v)
	case string:
		s = v
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		err = fmt.Errorf("%v instead of a number", t)
	}
	return x, err
}

func (l *checkpoint) integer() (int, error) {
	t, err := l.Token()
	if err != nil {
		return 0, err
	}
	number, _ := t.(json.Number)
	n, err := strconv.Atoi(string(number))
	if err != nil {
		err = fmt.Errorf("%v instead of an integer", t)
	}
	return n, err
}

func loadMap[T any](l *checkpoint, value func() (T, error)) (map[string]T, error) {
	m := map[string]T{}
	err := l.object(func(key string) (err error) {
		m[key], err = value()
		return err
	})
	return m, err
}

func loadList[T any](l *checkpoint, value func() (T, error)) ([]T, error) {
	list := []T{}
	if err := l.delim('['); err != nil {
		return nil, err
	}
	for l.More() {
		x, err := value()
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	return list, l.delim(']')
}
