package data

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

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
	omit bool // leave out what cannot be built, and
	left []Foreign
}

// grown is a converted object with its number of values.
type grown struct {
	value any
	size  int
}

// omitted is the value of an object that is left out.
type omitted struct{}

// place is the key path of an object; key is the last key.
type place struct {
	before *place
	key    string
}

func (p *place) String() string {
	switch path := p.path(); {
	case p == nil:
		return "the object"
	case len(path) > mostPath:
		return fmt.Sprintf("key %q…", path[:mostPath])
	default:
		return fmt.Sprintf("key %q", path)
	}
}

const mostPath = 200 // characters of a key path in messages

// path returns the keys joined by dots; the rest of a long path is dropped.
func (p *place) path() (path string) {
	var keys []string
	for ; p != nil; p = p.before {
		keys = append(keys, p.key)
	}
	slices.Reverse(keys)
	for i, key := range keys {
		if path = join(path, key); len(path) > mostPath && i < len(keys)-1 {
			return path + "…"
		}
	}
	return path
}

// tree converts v. With omit it leaves out what cannot be built; otherwise that is an error, as is strange, an object that the
// program has made and may have dropped.
func (f *fileOf) tree(v any, strange *foreign, omit bool) (any, []Foreign, error) {
	t := &tree{fileOf: f, done: map[any]grown{}, omit: omit}
	g, err := t.grow(v, nil, 0)
	if err != nil {
		return nil, nil, err
	}
	if strange != nil && !omit {
		return nil, nil, f.bad(fmt.Sprintf("byte %d of the pickle", strange.at), strange.what, notBuilt)
	}
	if _, nothing := g.value.(omitted); nothing {
		return nil, nil, f.bad("the object", t.left[0].What, notBuilt)
	}
	return g.value, t.left, nil
}

const notBuilt = "only tensors, containers, numbers and text; code in the file is not run; LoadKnown leaves such values out"

// leave leaves an object out, or returns an error that says what it is.
func (t *tree) leave(at *place, what string) (any, error) {
	if !t.omit {
		return nil, t.bad(at.String(), what, notBuilt)
	}
	t.left = append(t.left, Foreign{at.path(), strings.TrimPrefix(what, "a call of ")})
	return omitted{}, nil
}

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
		if t.done[v] = g; g.value == (omitted{}) {
			delete(t.done, v) // to name it at each of its places
		}
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
		if v.element.dtype == 0 {
			x, err = t.leave(at, "a tensor of "+v.element.name)
			break
		}
		x, err = t.tensor(v)
	case *storage:
		if v.element != nil && v.element.dtype == 0 {
			x, err = t.leave(at, "a storage of "+v.element.name)
			break
		}
		x, err = t.load(v)
	case *numpyArray:
		if v.foreign != nil {
			x, err = t.leave(at, "an array with "+v.foreign.what)
			break
		}
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
		if _, nothing := g.value.(omitted); !nothing {
			list[i] = g.value
		}
		size = min(size+g.size, mostValues+1)
	}
	return grown{list, size}, nil
}

func (t *tree) dict(d *mapping, at *place, depth int) (grown, error) {
	dict, size := make(map[string]any, len(d.keys)), 1
	from := make(map[string]any, len(d.keys)) // original keys
	for i, k := range d.keys {
		key, ok := textOf(k)
		if !ok {
			if _, err := t.leave(at, "a key that is "+kindOf(k)); err != nil {
				return grown{}, err
			}
			continue
		}
		if old, ok := from[key]; ok && old != k {
			return grown{}, t.bad(at.String(), fmt.Sprintf("the keys %s as text and as a number", quoted(key)), "one of them")
		}
		g, err := t.grow(d.values[i], &place{at, key}, depth+1)
		if err != nil {
			return grown{}, err
		}
		from[key] = k
		if _, nothing := g.value.(omitted); !nothing {
			dict[key] = g.value
		}
		size = min(size+g.size, mostValues+1)
	}
	return grown{dict, size}, nil
}

// textOf returns a key as text, if it is text or a whole number.
func textOf(key any) (string, bool) {
	switch k := key.(type) {
	case string:
		return k, true
	case int:
		return strconv.Itoa(k), true
	}
	return "", false
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
		return t.leave(at, "the name "+string(v))
	case *big.Int:
		return t.leave(at, fmt.Sprintf("an int of %d bits", v.BitLen()))
	}
	return t.leave(at, kindOf(v))
}
