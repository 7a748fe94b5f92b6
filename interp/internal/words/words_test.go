package words

import (
	"bytes"
	"fmt"
	"reflect"
	"runtime"
	"testing"
)

// panicOf returns the value with which f panics.
func panicOf(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}

// TestOf compares the panics of package reflect, in the words of compiled Go, with those of the same
// code, compiled.
func TestOf(t *testing.T) {
	list, n := []int{1, 2, 3}, -1
	var none func()
	var empty any
	v := reflect.ValueOf(list)
	for _, c := range []struct {
		what                string
		reflected, compiled func()
	}{
		{"a nil function", func() { reflect.ValueOf(none).Call(nil) }, func() { none() }},
		{"a channel of negative size", func() { reflect.MakeChan(reflect.TypeFor[chan int](), n) }, func() { _ = make(chan int, n) }},
		{"a slice of negative length", func() { reflect.MakeSlice(v.Type(), n, 0) }, func() { _ = make([]int, n) }},
		{"a slice as a longer array", func() { v.Convert(reflect.TypeFor[[4]int]()) }, func() { _ = [4]int(list) }},
		{"a type assertion", func() { _ = empty.(int) }, func() { _ = empty.(int) }},
	} {
		want := fmt.Sprint(1, panicOf(c.compiled)) // without a space before an error that is a string
		got := Of(panicOf(c.reflected))
		if _, ok := got.(runtime.Error); !ok || fmt.Sprint(1, got) != want {
			t.Errorf("%s: got %v, want %s", c.what, got, want)
		}
	}
	if got := Of("text"); got != "text" {
		t.Errorf("got %v, want other values unchanged", got)
	}
}

// TestBounds compares the panics of indexes and slices with those of compiled code.
func TestBounds(t *testing.T) {
	list, array := []int{1, 2, 3}[:2], [3]int{}
	minus, one, two, three, four := -1, 1, 2, 3, 4
	for _, c := range []struct {
		got, want func()
	}{
		{func() { Index(-1, true, 2) }, func() { _ = list[minus] }},
		{func() { Index(2, true, 2) }, func() { _ = list[two] }},
		{func() { Index(-1, false, 2) }, func() { _ = list[uint(minus)] }},
		{func() { Slice(3, 2, 3, true) }, func() { _ = list[three:] }},
		{func() { Slice(-1, 2, 3, true) }, func() { _ = list[minus:] }},
		{func() { Slice(0, 4, 3, true) }, func() { _ = list[:four] }},
		{func() { Slice(0, -1, 3, true) }, func() { _ = list[:minus] }},
		{func() { Slice(0, 4, 3, false) }, func() { _ = "abc"[:four] }},
		{func() { Slice(0, 4, 3, false) }, func() { _ = array[:four] }},
		{func() { Slice3(0, 0, 4, 3, true) }, func() { _ = list[0:0:four] }},
		{func() { Slice3(0, 0, 4, 3, false) }, func() { _ = array[0:0:four] }},
		{func() { Slice3(0, 3, 2, 3, true) }, func() { _ = list[0:three:two] }},
		{func() { Slice3(2, 1, 3, 3, true) }, func() { _ = list[two:one:3] }},
		{func() { Slice3(-1, 1, 3, 3, true) }, func() { _ = list[minus:one:3] }},
	} {
		if got, want := panicOf(c.got), panicOf(c.want); got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	Index(1, true, 2)
	Slice(0, 3, 3, true)
	Slice3(1, 2, 3, 3, true)
}

// TestPrint checks the output of print and println.
func TestPrint(t *testing.T) {
	var b bytes.Buffer
	Print(&b, "", []any{1, "a", true})
	Print(&b, " ", []any{uint8(2), nil, Interface(nil), Interface(3)})
	if got, want := b.String(), "1atrue2 nil (0x0,0x0) (int,3)\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
