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
		want := fmt.Sprint(panicOf(c.compiled))
		got := Of(panicOf(c.reflected))
		if _, ok := got.(runtime.Error); !ok || fmt.Sprint(got) != want {
			t.Errorf("%s: got %v, want %s", c.what, got, want)
		}
	}
	if got := Of("text"); got != "text" {
		t.Errorf("got %v, want other values unchanged", got)
	}
}

// TestBounds compares the panics of indexes and slices with those of compiled code.
func TestBounds(t *testing.T) {
	list := []int{1, 2, 3}[:2]
	for _, c := range []struct {
		got, want func()
	}{
		{func() { OutOfRange(-1, 2) }, func() { i := -1; _ = list[i] }},
		{func() { OutOfRange(2, 2) }, func() { i := 2; _ = list[i] }},
		{func() { SliceOutOfRange(1, 3, 0, 0, 2, 3, true) }, func() { i := 3; _ = list[i:] }},
		{func() { SliceOutOfRange(2, 0, 4, 0, 2, 3, true) }, func() { i := 4; _ = list[:i] }},
		{func() { SliceOutOfRange(2, 0, 4, 0, 3, 3, false) }, func() { i := 4; _ = "abc"[:i] }},
		{func() { SliceOutOfRange(7, 2, 1, 3, 2, 3, true) }, func() { i, j := 2, 1; _ = list[i:j:3] }},
	} {
		if got, want := fmt.Sprint(panicOf(c.got)), fmt.Sprint(panicOf(c.want)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
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
