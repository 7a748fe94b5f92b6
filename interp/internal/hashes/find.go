package hashes

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"halfnote/internal/receipt"
	"halfnote/interp/internal/dynamic"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// Variable is a variable of a session.
type Variable struct {
	Name  string
	Value reflect.Value
	Alone bool // no other goroutine of cells runs, so that maps can be read
}

// found is a tensor that a variable holds, or a number of the state of an optimizer or a scaler.
type found struct {
	digest receipt.Digest
	tensor *tensor.Tensor // nil for a number
	number float64
}

// bits returns the bits of an element.
func (f found) bits(i int) uint64 {
	if f.tensor == nil {
		return math.Float64bits(f.number)
	}
	var one [8]byte
	w := pick{at: i * f.tensor.DType().Size(), out: one[:f.tensor.DType().Size()]}
	f.tensor.WriteTo(&w)
	return binary.LittleEndian.Uint64(one[:])
}

// pick keeps the bytes that are written at a position.
type pick struct {
	at  int
	out []byte
}

func (p *pick) Write(b []byte) (int, error) {
	if p.at >= 0 && p.at < len(b) {
		copy(p.out, b[p.at:])
	}
	p.at -= len(b)
	return len(b), nil
}

// finder walks values. It runs no code of cells.
type finder struct {
	alone bool
	left  int // number of values that may still be visited
	seen  map[visit]bool
	out   map[string]found
}

type visit struct {
	typ     reflect.Type
	address uintptr
}

// maxVisits is the maximum number of values that are visited in search of tensors.
const maxVisits = 1 << 17

// find returns the tensors that variables hold: in structs, lists, maps and pointers, as parameters and buffers of modules, and in the states
// of optimizers, schedulers, scalers and generators. A tensor that is in several places has several names.
func find(vars []Variable) map[string]found {
	out := map[string]found{}
	for _, v := range vars {
		f := finder{alone: v.Alone, left: maxVisits, seen: map[visit]bool{}, out: out}
		f.value(v.Name, v.Value)
	}
	return out
}

func (f *finder) tensor(name string, t *tensor.Tensor) {
	if t == nil {
		return
	}
	if d, ok := Of(t); ok {
		f.out[name] = found{digest: d, tensor: t}
	}
}

func (f *finder) number(name string, x float64) {
	w := receipt.NewWriter("float64")
	w.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(x)))
	f.out[name] = found{digest: w.Digest(), number: x}
}

var (
	tensorType    = reflect.TypeFor[tensor.Tensor]()
	generatorType = reflect.TypeFor[tensor.Generator]()
)

// value adds the tensors in a value.
func (f *finder) value(name string, v reflect.Value) {
	if f.left--; f.left < 0 || !v.IsValid() {
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return
		}
		inner := v.Elem()
		if v.CanInterface() {
			if x, t := dynamic.Open(v.Interface()); t != nil { // of a type that a cell declares
				inner = x
			}
		}
		f.value(name, inner)
	case reflect.Pointer:
		if v.IsNil() || f.was(v.Type(), v.Pointer()) {
			return
		}
		switch v.Type().Elem() {
		case tensorType:
			f.tensor(name, (*tensor.Tensor)(v.UnsafePointer()))
		case generatorType:
			f.tensor(name, (*tensor.Generator)(v.UnsafePointer()).State())
		default:
			if !f.known(name, v) {
				f.value(name, v.Elem())
			}
		}
	case reflect.Struct:
		if !enters(v.Type()) || v.Type() == tensorType {
			return
		}
		for i := range v.NumField() {
			f.value(name+"."+fieldName(v.Type().Field(i).Name), v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		if !holds(v.Type().Elem()) || v.Kind() == reflect.Slice && (v.IsNil() || v.Len() > 0 && f.was(v.Type(), v.Pointer())) {
			return
		}
		for i := range v.Len() {
			f.value(fmt.Sprintf("%s[%d]", name, i), v.Index(i))
		}
	case reflect.Map:
		if !f.alone || !holds(v.Type().Elem()) || v.IsNil() || f.was(v.Type(), v.Pointer()) {
			return
		}
		for entry := v.MapRange(); entry.Next(); {
			switch k := entry.Key(); k.Kind() { // others have no text that stays the same
			case reflect.String, reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
				f.value(fmt.Sprintf("%s[%v]", name, k), entry.Value())
			}
		}
	}
}

// fieldName returns the name of a field without the X that an engine puts before names that are not exported.
func fieldName(name string) string {
	if bare, ok := strings.CutPrefix(name, "X"); ok && bare != "" && (unicode.IsLower(rune(bare[0])) || bare[0] == '_') {
		return bare
	}
	return name
}

// was reports whether a pointer has been visited, and notes it.
func (f *finder) was(t reflect.Type, address uintptr) bool {
	v := visit{t, address}
	if f.seen[v] {
		return true
	}
	f.seen[v] = true
	return false
}

// known adds the tensors of a value whose methods or package name them, and reports whether it is one.
func (f *finder) known(name string, v reflect.Value) bool {
	if !v.CanInterface() || !strings.HasPrefix(v.Type().Elem().PkgPath(), module) {
		return false
	}
	switch x := v.Interface().(type) {
	case interface{ StateDict() map[string]any }: // an optimizer
		state := x.StateDict()
		for _, key := range slices.Sorted(maps.Keys(state)) {
			switch value := state[key].(type) {
			case *tensor.Tensor:
				f.tensor(name+"."+key, value)
			case float64:
				f.number(name+"."+key, value)
			case int:
				f.number(name+"."+key, float64(value))
			}
		}
		return true
	case interface{ StateDict() map[string]float64 }: // a scheduler or a scaler
		for key, value := range x.StateDict() {
			f.number(name+"."+key, value)
		}
		return true
	case interface {
		Forward(*tensor.Tensor) *tensor.Tensor
	}:
		for _, n := range slices.Concat(nn.NamedParameters(x), nn.NamedBuffers(x)) {
			f.tensor(name+"."+n.Name, n.Tensor)
		}
		return true
	}
	return false
}

// module is the beginning of the paths of this module's packages.
var module = strings.TrimSuffix(tensorType.PkgPath(), "tensor")

// enters reports whether values of a struct type are searched for tensors: those of cells and of the packages for models. Other packages
// may change theirs meanwhile.
func enters(t reflect.Type) bool {
	first, _, _ := strings.Cut(t.PkgPath(), "/")
	own, isOwn := strings.CutPrefix(t.PkgPath(), module)
	switch {
	case isOwn && own != "":
		return strings.HasPrefix(own, "tensor/") || own == "amp/apex" || own == "amp/fp8"
	case strings.HasPrefix(t.PkgPath(), "github.com/traefik/yaegi"):
		return false
	case t.PkgPath() == "" || first == "main":
		return true
	}
	return strings.Contains(first, ".")
}

// holds reports whether values of a type can hold tensors, as far as the type itself shows.
func holds(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Interface, reflect.Pointer, reflect.Struct, reflect.Slice, reflect.Array, reflect.Map:
		return true
	}
	return false
}
