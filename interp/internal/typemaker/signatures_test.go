package typemaker

import (
	"fmt"
	"math/rand"
	"reflect"
	"runtime"
	"testing"
	"testing/quick"
)

// parameters are types that calls pass in other ways: in registers of both sorts, in several, in none, and on the stack.
var parameters = []reflect.Type{
	reflect.TypeFor[int](), reflect.TypeFor[bool](), reflect.TypeFor[uint16](), reflect.TypeFor[float32](), reflect.TypeFor[float64](), reflect.TypeFor[complex128](),
	reflect.TypeFor[string](), reflect.TypeFor[[]string](), reflect.TypeFor[*int](), reflect.TypeFor[map[string]int](), reflect.TypeFor[struct{}](), reflect.TypeFor[[0]int](),
	reflect.TypeFor[[1]string](), reflect.TypeFor[[2]float64](), reflect.TypeFor[struct {
		A int8
		B *string
		C float32
	}](), reflect.TypeFor[[5]*int](), reflect.TypeFor[struct {
		A [1]struct{ X, Y string }
		B []byte
	}](), reflect.TypeFor[int64](), reflect.TypeFor[struct {
		A *int
		_ struct{}
	}](),
}

// TestSignatures calls methods of random signatures with random receivers and arguments. They return the receiver and their arguments.
func TestSignatures(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	pick := func() reflect.Type { return parameters[random.Intn(len(parameters))] }
	value := func(typ reflect.Type) reflect.Value {
		if typ.Kind() == reflect.Struct && typ.NumField() == 2 && typ.Field(1).Name == "_" {
			p := reflect.New(typ).Elem()
			p.Field(0).Set(reflect.ValueOf(new(int)))
			return p
		}
		v, ok := quick.Value(typ, random)
		if !ok {
			t.Fatalf("there is no value of type %v", typ)
		}
		return v
	}
	for i := range 60 {
		receiver := pick()
		for receiver.Kind() == reflect.Pointer {
			receiver = pick()
		}
		var in []reflect.Type
		for range random.Intn(9) {
			in = append(in, pick())
		}
		echo := func(result reflect.Type) Method {
			return Method{Name: "Echo", Pointer: result.Kind() == reflect.Pointer, Type: reflect.FuncOf(in, append([]reflect.Type{result}, in...), false), Func: func(a []reflect.Value) []reflect.Value {
				deep(random.Intn(9), func() {
					if random.Intn(8) == 0 {
						runtime.GC()
					}
				})
				a[0] = a[0].Convert(result)
				return a
			}}
		}
		typ := makeType(t, fmt.Sprint("Random", i), receiver, echo(receiver))
		onPointer := echo(reflect.PointerTo(receiver))
		onPointer.Name = "EchoP"
		pointed := makeType(t, fmt.Sprint("RandomP", i), receiver, onPointer)

		v := value(receiver)
		var args []reflect.Value
		for _, p := range in {
			args = append(args, value(p))
		}
		p, q := reflect.New(typ), reflect.New(pointed)
		p.Elem().Set(v.Convert(typ))
		q.Elem().Set(v.Convert(pointed))
		for _, c := range []struct {
			what string
			got  []reflect.Value
		}{
			{"T", p.Elem().Method(0).Call(args)},
			{"*T", p.Method(0).Call(args)},
			{"T's method expression", typ.Method(0).Func.Call(append([]reflect.Value{p.Elem()}, args...))},
			{"*T's method expression", p.Type().Method(0).Func.Call(append([]reflect.Value{p}, args...))},
			{"a method on *T", q.Method(0).Call(args)},
			{"the expression of a method on *T", q.Type().Method(0).Func.Call(append([]reflect.Value{q}, args...))},
		} {
			if c.got[0].Kind() == reflect.Pointer {
				c.got[0] = c.got[0].Elem()
			}
			for k, want := range append([]reflect.Value{v}, args...) {
				if !reflect.DeepEqual(c.got[k].Interface(), want.Interface()) {
					t.Errorf("%s, %v with %v: argument %d is %v, want %v", c.what, receiver, in, k, c.got[k], want)
				}
			}
		}
	}
}
