package data

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"halfnote/tensor"
	"halfnote/tensor/driver"
)

// mostValues is the largest number of values in an object, counting shared values each time.
// It bounds the time of a walk through the object.
const mostValues = 1 << 24

// tree converts the values that the machine has built to Go values.
type tree struct {
	*fileOf
	done map[any]grown
}

// grown is a converted object with its number of values.
type grown struct {
	value any
	size  int
}

// place is the key path of an object; key is the last key.
type place struct {
	before *place
	key    string
}

func (p *place) String() string {
	var keys []string
	for ; p != nil; p = p.before {
		keys = append(keys, p.key)
	}
	if len(keys) == 0 {
		return "the object"
	}
	slices.Reverse(keys)
	text := ""
	for _, key := range keys {
		if text = join(text, key); len(text) > 200 {
			return fmt.Sprintf("key %q…", text[:200])
		}
	}
	return fmt.Sprintf("key %q", text)
}

func (f *fileOf) tree(v any, strange *foreign) (any, error) {
	t := &tree{f, map[any]grown{}}
	g, err := t.grow(v, nil, 0)
	if err != nil {
		return nil, err
	}
	if strange != nil {
		return nil, f.bad(fmt.Sprintf("byte %d of the pickle", strange.at), "a call of "+string(strange.name), notBuilt)
	}
	return g.value, nil
}

const notBuilt = "only tensors, containers, numbers and text; code in the file is not run"

// grow converts an object.
func (t *tree) grow(v any, at *place, depth int) (grown, error) {
	if depth > deepest {
		return grown{}, t.bad(at.String(), fmt.Sprintf("containers nested %d deep", depth), fmt.Sprintf("at most %d", deepest))
	}
	switch v := v.(type) {
	case *sequence, *mapping, *view, *storage, *numpyArray:
		if g, ok := t.done[v]; ok {
			if g.size == 0 {
				return g, t.bad(at.String(), kindOf(v)+" that contains itself", "a tree")
			}
			return g, nil
		}
		driver.Poll()
		t.done[v] = grown{}
		g, err := t.object(v, at, depth)
		if err == nil && g.size > mostValues {
			err = t.bad(at.String(), fmt.Sprintf("more than %d values, counting shared values each time", mostValues), "fewer")
		}
		t.done[v] = g
		return g, err
	}
	x, err := t.leaf(v, at)
	return grown{x, 1}, err
}

// object converts a container or tensor, each only once.
func (t *tree) object(v any, at *place, depth int) (grown, error) {
	x, err := any(nil), error(nil)
	switch v := v.(type) {
	case *sequence:
		return t.list(v, at, depth)
	case *mapping:
		return t.dict(v, at, depth)
	case *view:
		x, err = t.tensor(v)
	case *storage:
		x, err = t.load(v)
	case *numpyArray:
		x, err = t.array(v, at)
	}
	return grown{x, 1}, err
}

func (t *tree) array(a *numpyArray, at *place) (*tensor.Tensor, error) {
	if t.read += int64(len(a.data)); t.read > t.size {
		return nil, t.bad(at.String(), fmt.Sprintf("an array of %d bytes", len(a.data)), fmt.Sprintf("at most %d, the size of the file", t.size))
	}
	x, err := a.tensor()
	if err != nil {
		err = t.bad(at.String(), err.Error(), "an array of numbers or bool")
	}
	return x, err
}

func (t *tree) list(s *sequence, at *place, depth int) (grown, error) {
	list, size := make([]any, len(s.items)), 1
	for i, item := range s.items {
		g, err := t.grow(item, &place{at, strconv.Itoa(i)}, depth+1)
		if err != nil {
			return grown{}, err
		}
		list[i] = g.value
		size = min(size+g.size, mostValues+1)
	}
	return grown{list, size}, nil
}

func (t *tree) dict(d *mapping, at *place, depth int) (grown, error) {
	dict, size := make(map[string]any, len(d.keys)), 1
	from := make(map[string]any, len(d.keys)) // original keys
	for i, k := range d.keys {
		key, err := t.key(k, at)
		if err != nil {
			return grown{}, err
		}
		if old, ok := from[key]; ok && old != k {
			return grown{}, t.bad(at.String(), fmt.Sprintf("the keys %s as text and as a number", quoted(key)), "one of them")
		}
		g, err := t.grow(d.values[i], &place{at, key}, depth+1)
		if err != nil {
			return grown{}, err
		}
		dict[key], from[key] = g.value, k
		size = min(size+g.size, mostValues+1)
	}
	return grown{dict, size}, nil
}

// key returns a key as text.
func (t *tree) key(k any, at *place) (string, error) {
	switch k := k.(type) {
	case string:
		return k, nil
	case int:
		return strconv.Itoa(k), nil
	}
	return "", t.bad(at.String(), "a key that is "+kindOf(k), "text or whole numbers")
}

// leaf converts a value that is neither a container nor a tensor.
func (t *tree) leaf(v any, at *place) (any, error) {
	switch v := v.(type) {
	case nil, bool, int, float64, string, []byte:
		return v, nil
	case device:
		return tensor.Device(v), nil
	case global:
		if e := elementNamed(torchTypes[v]); e != nil && e.size == e.dtype.Size() && exactly(e.dtype) == e {
			return e.dtype, nil
		}
		return nil, t.bad(at.String(), "the name "+string(v), notBuilt)
	case *foreign:
		return nil, t.bad(at.String(), "a call of "+string(v.name), notBuilt)
	case *big.Int:
		return nil, t.bad(at.String(), fmt.Sprintf("an int of %d bits", v.BitLen()), "at most 64 bits")
	}
	return nil, t.bad(at.String(), kindOf(v), notBuilt)
}
