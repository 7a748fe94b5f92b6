package symbols

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"time"

	"halfnote/tensor"
	"halfnote/tensor/driver"
	"halfnote/tensor/nn/models"
)

// maker returns a new value with its text for failures.
type maker struct {
	text string
	make func() reflect.Value
}

// generator makes arguments: plausible ones and hostile ones.
type generator struct {
	made  map[reflect.Type]maker // makers of functions' results, by type
	order []reflect.Type
	call  func(reflect.Value, []reflect.Value) ([]reflect.Value, error) // stops calls that take long
}

// newGenerator calls all functions with plausible arguments, several times, to find a function
// that returns a value of each type.
func newGenerator(list []callee, call func(reflect.Value, []reflect.Value) ([]reflect.Value, error)) *generator {
	g := &generator{made: map[reflect.Type]maker{}, call: call}
	tried := map[string]bool{}
	for range 3 {
		for _, c := range list {
			if tried[c.name] || c.fn.Type().NumOut() == 0 || !g.wanted(c.fn.Type()) {
				continue
			}
			in, ok := g.plausible(c.fn.Type())
			if !ok || slices.ContainsFunc(in, func(m maker) bool { return m.text == zeroed }) {
				continue
			}
			tried[c.name] = true
			g.learn(c, in)
		}
	}
	return g
}

// wanted reports whether a function of type t returns a type that no other function
// returns yet.
func (g *generator) wanted(t reflect.Type) bool {
	for i := range t.NumOut() {
		o := t.Out(i)
		if _, ok := g.made[o]; !ok && ours(o) && o != tensorType {
			return true
		}
	}
	return false
}

// learn records the results of a call.
func (g *generator) learn(c callee, in []maker) {
	again := func() ([]reflect.Value, error) {
		args := make([]reflect.Value, len(in))
		for i, m := range in {
			args[i] = m.make()
		}
		return g.call(c.fn, args)
	}
	out, err := again()
	if err != nil {
		return
	}
	if last := out[len(out)-1]; last.Type() == reflect.TypeFor[error]() && !last.IsNil() {
		return
	}
	for i, v := range out {
		declared := v.Type()
		if v.Kind() == reflect.Interface {
			v = v.Elem()
		}
		if !v.IsValid() || v.Type() == tensorType || !ours(v.Type()) || nilValue(v) {
			continue
		}
		m := maker{c.name + "(…)", func() reflect.Value {
			if out, err := again(); err == nil && !nilValue(out[i]) {
				if r := out[i]; r.Kind() == reflect.Interface {
					return r.Elem()
				}
				return out[i]
			}
			return v
		}}
		for _, t := range []reflect.Type{v.Type(), declared} {
			if _, ok := g.made[t]; !ok {
				g.made[t] = m
				g.order = append(g.order, t)
			}
		}
	}
}

func nilValue(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Func, reflect.Map, reflect.Slice, reflect.Chan:
		return v.IsNil()
	}
	return false
}

// plausible returns makers of plausible arguments of a function.
func (g *generator) plausible(t reflect.Type) ([]maker, bool) {
	in := make([]maker, t.NumIn())
	for i := range in {
		m, ok := g.usual(t.In(i), 0)
		if !ok {
			return nil, false
		}
		if t.IsVariadic() && i == len(in)-1 && t.In(i).Elem().Kind() == reflect.Func {
			m = maker{"none", func() reflect.Value { return reflect.Zero(t.In(i)) }} // options
		}
		in[i] = m
	}
	return in, true
}

var tensorType = reflect.TypeFor[*tensor.Tensor]()

// always returns a maker of one value of type t.
func always(t reflect.Type, x any) maker {
	return maker{fmt.Sprintf("%v", x), func() reflect.Value { return reflect.ValueOf(x).Convert(t) }}
}

// fixed holds plausible values of types that need particular ones.
var fixed = map[reflect.Type]func() any{
	tensorType:                         func() any { return tensor.Ones(2, 2) },
	reflect.TypeFor[tensor.Device]():   func() any { return tensor.CPU },
	reflect.TypeFor[tensor.DType]():    func() any { return tensor.Float32 },
	reflect.TypeFor[time.Duration]():   func() any { return time.Millisecond },
	reflect.TypeFor[io.Writer]():       func() any { return &bytes.Buffer{} },
	reflect.TypeFor[io.Reader]():       func() any { return strings.NewReader("text") },
	reflect.TypeFor[error]():           func() any { return errors.New("some error") },
	reflect.TypeFor[context.Context](): func() any { return context.Background() },
	reflect.TypeFor[any]():             func() any { return 1.0 },
	reflect.TypeFor[fmt.Stringer]():    func() any { return tensor.CPU },

	// Makers of these sizes return models that take a second to initialise.
	reflect.TypeFor[models.BERTConfig](): func() any {
		return models.BERTConfig{Vocabulary: 64, Hidden: 8, Layers: 1, Heads: 2, Intermediate: 8, Positions: 16, Types: 2}
	},
}

// zeroed is the text of a pointer to the zero value of a type that functions return.
const zeroed = "new"

// usual returns a maker of plausible values of a type.
func (g *generator) usual(t reflect.Type, depth int) (maker, bool) {
	if f, ok := fixed[t]; ok {
		return maker{t.String(), func() reflect.Value { return as(reflect.ValueOf(f()), t) }}, true
	}
	if m, ok := g.made[t]; ok {
		return m, true
	}
	if depth > 3 {
		return maker{"zero", func() reflect.Value { return reflect.Zero(t) }}, true
	}
	switch t.Kind() {
	case reflect.Interface:
		return g.implementer(t)
	case reflect.Pointer:
		if ours(t) {
			if m, ok := g.made[t.Elem()]; ok {
				return maker{"&" + m.text, func() reflect.Value {
					v := reflect.New(t.Elem())
					v.Elem().Set(m.make())
					return v
				}}, true
			}
		}
		return maker{zeroed, func() reflect.Value { return reflect.New(t.Elem()) }}, true
	case reflect.Slice:
		e, ok := g.usual(t.Elem(), depth+1)
		return maker{"[" + e.text + "]", func() reflect.Value {
			s := reflect.MakeSlice(t, 2, 2)
			s.Index(0).Set(e.make())
			s.Index(1).Set(e.make())
			return s
		}}, ok
	case reflect.Map:
		k, _ := g.usual(t.Key(), depth+1)
		e, ok := g.usual(t.Elem(), depth+1)
		return maker{"a map", func() reflect.Value {
			m := reflect.MakeMap(t)
			m.SetMapIndex(k.make(), e.make())
			return m
		}}, ok
	case reflect.Func:
		return maker{"a function", func() reflect.Value { return g.function(t, depth) }}, true
	case reflect.Chan:
		return maker{"a channel", func() reflect.Value { return reflect.MakeChan(t, 8) }}, true
	case reflect.String:
		return always(t, "x"), true
	case reflect.Bool:
		return always(t, true), true
	case reflect.Float32, reflect.Float64:
		return always(t, 0.5), true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint:
		return always(t, 2), true
	}
	return maker{"zero", func() reflect.Value { return reflect.Zero(t) }}, true
}

// function returns a function that returns plausible values, and polls as interpreted
// functions do.
func (g *generator) function(t reflect.Type, depth int) reflect.Value {
	return reflect.MakeFunc(t, func(in []reflect.Value) []reflect.Value {
		driver.Poll()
		out := make([]reflect.Value, t.NumOut())
		for i := range out {
			out[i] = reflect.Zero(t.Out(i))
			if t.Out(i) == reflect.TypeFor[error]() {
				continue
			}
			if m, ok := g.usual(t.Out(i), depth+1); ok {
				out[i] = m.make()
			}
		}
		return out
	})
}

// implementer returns a maker of a value that has the methods of t.
func (g *generator) implementer(t reflect.Type) (maker, bool) {
	for _, o := range g.order {
		if o.Kind() != reflect.Interface && o.Implements(t) {
			return g.made[o], true
		}
	}
	return maker{}, false
}

// as returns v as a value of t.
func as(v reflect.Value, t reflect.Type) reflect.Value {
	r := reflect.New(t).Elem()
	r.Set(v)
	return r
}

// hostile returns makers of values that a function should probably refuse.
func (g *generator) hostile(t reflect.Type, depth int) (list []maker) {
	zero := maker{"zero", func() reflect.Value { return reflect.Zero(t) }}
	switch t.Kind() {
	case reflect.Int, reflect.Int64:
		for _, n := range []int{-1 << 62, -3, -1, 0, 1, 1 << 20, 1 << 40, 1 << 62, math.MaxInt} {
			list = append(list, always(t, n))
		}
		return list
	case reflect.Int32, reflect.Int16, reflect.Int8, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint:
		return []maker{zero, always(t, 100), always(t, -1)}
	case reflect.Float64, reflect.Float32:
		for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -1, 0} {
			list = append(list, always(t, x))
		}
		return list
	case reflect.String:
		return []maker{zero, always(t, "no such thing"), always(t, "\x00%s→"), always(t, ".")}
	case reflect.Bool:
		return []maker{zero}
	case reflect.Pointer:
		list = []maker{zero}
		if t == tensorType {
			return append(list, hostileTensors...)
		}
		if ours(t) && t.Elem().Kind() == reflect.Struct {
			list = append(list, maker{zeroed, func() reflect.Value { return reflect.New(t.Elem()) }})
		}
		return list
	case reflect.Slice:
		list = []maker{zero, {"empty", func() reflect.Value { return reflect.MakeSlice(t, 0, 0) }}}
		for _, m := range g.elements(t.Elem(), depth) {
			list = append(list, maker{"[" + m.text + "]", func() reflect.Value {
				s := reflect.MakeSlice(t, 1, 1)
				s.Index(0).Set(m.make())
				return s
			}}, maker{"[" + m.text + " ×3]", func() reflect.Value {
				s := reflect.MakeSlice(t, 3, 3)
				for i := range 3 {
					s.Index(i).Set(m.make())
				}
				return s
			}})
		}
		return list
	case reflect.Struct:
		list = []maker{zero}
		if depth < 2 && ours(t) {
			list = append(list, g.structs(t, depth)...)
		}
		return list
	case reflect.Interface:
		list = []maker{zero}
		if t == reflect.TypeFor[any]() {
			list = append(list, maker{"nil tensor", func() reflect.Value { return as(reflect.Zero(tensorType), t) }})
		}
		return list
	}
	return []maker{zero}
}

// elements returns makers of slice elements.
func (g *generator) elements(t reflect.Type, depth int) []maker {
	if depth > 1 {
		return nil
	}
	return g.hostile(t, depth+1)
}

// structs returns makers of structs with one hostile field each.
func (g *generator) structs(t reflect.Type, depth int) (list []maker) {
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		for _, m := range g.hostile(f.Type, depth+1) {
			list = append(list, maker{"{" + f.Name + ": " + m.text + "}", func() reflect.Value {
				v := reflect.New(t).Elem()
				v.Field(i).Set(m.make())
				return v
			}})
		}
	}
	return list
}

var hostileTensors = []maker{
	tensors("Zeros(0, 3)", func() *tensor.Tensor { return tensor.Zeros(0, 3) }),
	tensors("Scalar(NaN)", func() *tensor.Tensor { return tensor.Scalar(math.NaN()) }),
	tensors("FromInts([1<<45, -1])", func() *tensor.Tensor { return tensor.FromInts([]int{1 << 45, -1}) }),
	tensors("FromBools([true])", func() *tensor.Tensor { return tensor.FromBools([]bool{true}) }),
	tensors("Ones(1, 2, 3, 1, 1)", func() *tensor.Tensor { return tensor.Ones(1, 2, 3, 1, 1) }),
	tensors("Ones(1).Expand(1<<36)", func() *tensor.Tensor { return tensor.Ones(1).Expand(1 << 36) }),
}

func tensors(text string, make func() *tensor.Tensor) maker {
	return maker{text, func() reflect.Value { return reflect.ValueOf(make()) }}
}

// shapes holds tensors for functions that refuse the usual one.
var shapes = []maker{
	tensors("Ones(2, 2)", func() *tensor.Tensor { return tensor.Ones(2, 2) }),
	tensors("Ones(4)", func() *tensor.Tensor { return tensor.Ones(4) }),
	tensors("Ones(2, 2, 4)", func() *tensor.Tensor { return tensor.Ones(2, 2, 4) }),
	tensors("Ones(2, 2, 4, 4)", func() *tensor.Tensor { return tensor.Ones(2, 2, 4, 4) }),
	tensors("Ones(2, 2, 4, 4, 4)", func() *tensor.Tensor { return tensor.Ones(2, 2, 4, 4, 4) }),
	tensors("FromInts([0, 1])", func() *tensor.Tensor { return tensor.FromInts([]int{0, 1}) }),
	tensors("FromInts([[0, 1], [1, 0]])", func() *tensor.Tensor { return tensor.FromInts([]int{0, 1, 1, 0}, 2, 2) }),
	tensors("FromBools([[true, false], [false, true]])", func() *tensor.Tensor { return tensor.FromBools([]bool{true, false, false, true}, 2, 2) }),
	tensors("Scalar(1)", func() *tensor.Tensor { return tensor.Scalar(1) }),
}

// taken returns arguments that c accepts: usual or, if c refuses it, usual with other
// numbers and with tensors from shapes, one for the first tensor and one for the rest.
func (g *generator) taken(c callee, usual []maker) []maker {
	works := func(in []maker) bool {
		args, _, ok := makeAll(in)
		if !ok {
			return false
		}
		_, err := g.call(c.fn, args)
		return err == nil
	}
	if works(usual) {
		return usual
	}
	for _, n := range []int{2, 1, 0} {
		for _, first := range shapes {
			for _, rest := range shapes {
				in, tensors := slices.Clone(usual), 0
				for i := range in {
					switch t := c.fn.Type().In(i); {
					case t == tensorType && tensors == 0:
						in[i] = first
						tensors++
					case t == tensorType:
						in[i] = rest
						tensors++
					case t.Kind() == reflect.Int:
						in[i] = always(t, n)
					}
				}
				if works(in) {
					return in
				}
				if tensors < 2 {
					break
				}
			}
		}
	}
	return usual
}

// calls returns makers of the arguments for the calls of c: each argument in turn has
// all its hostile values while the others are plausible, and then all are chosen at
// random, with a seed derived from the name.
func (g *generator) calls(c callee, all bool) (list []func() ([]reflect.Value, string, bool)) {
	t := c.fn.Type()
	usual, known := g.plausible(t)
	if known {
		usual = g.taken(c, usual)
	}
	hostile := make([][]maker, t.NumIn())
	for i := range hostile {
		hostile[i] = g.hostile(t.In(i), 0)
	}
	add := func(in []maker) {
		list = append(list, func() ([]reflect.Value, string, bool) { return makeAll(in) })
	}
	if known {
		add(usual)
		for i := range usual {
			for _, m := range hostile[i] {
				in := append([]maker(nil), usual...)
				in[i] = m
				add(in)
			}
		}
	}
	h := fnv.New64()
	io.WriteString(h, c.name)
	r := rand.New(rand.NewSource(int64(h.Sum64())))
	extra := 4
	if all {
		extra = 200
	}
	for range extra {
		in := make([]maker, t.NumIn())
		for i := range in {
			in[i] = hostile[i][r.Intn(len(hostile[i]))]
			if known && (r.Intn(3) == 0 || i == 0 && c.recv != nil) {
				in[i] = usual[i]
			}
		}
		add(in)
	}
	return list
}

// makeAll makes arguments; ok is false if one cannot be made.
func makeAll(in []maker) (args []reflect.Value, text string, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	var texts []string
	for _, m := range in {
		args = append(args, m.make())
		texts = append(texts, m.text)
	}
	return args, "(" + strings.Join(texts, ", ") + ")", true
}
