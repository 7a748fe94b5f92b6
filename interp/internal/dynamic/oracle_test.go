package dynamic

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// values are values of the types of a cell.
var values = []struct {
	name string
	v    any
}{
	{"nil", nil},
	{"compiled", []int{1, 2}},
	{"number", Count(42)},
	{"negative", Count(-7)},
	{"bool", Flag(true)},
	{"string", Word("a b")},
	{"complex", Phase(1 + 2i)},
	{"with String", Celsius(36.6)},
	{"bytes", Raw("hi")},
	{"array", Grid{{1, 2}, {3, 4}}},
	{"struct", Point{1, -2}},
	{"pointer", &Point{1, 2}},
	{"nil pointer in a field", Link{}},
	{"nested", Line{Point{1, 2}, Point{3, 4}, "l", 20}},
	{"slice", []Point{{1, 2}, {3, 4}}},
	{"nil slice", []Point(nil)},
	{"slice of numbers", []Count{1, 2}},
	{"slice with String", []Celsius{1, 2}},
	{"map", map[string]Point{"b": {1, 2}, "a": {3, 4}}},
	{"map of numbers", map[Word]Count{"x": 1, "w": 2}},
	{"array of structs", [1]Point{{5, 6}}},
	{"interface", Box{Point{1, 2}}},
	{"interface with a number", Box{Count(3)}},
	{"interface with String", Box{Celsius(3)}},
	{"nil interface", Box{}},
	{"compiled in an interface", Box{"s"}},
	{"error", &Failed{7}},
	{"error in an interface", Box{&Failed{7}}},
	{"value of an error's type", Failed{7}},
	{"with GoString", Quoted{"q"}},
	{"tags", Tagged{1, "", []Point{{1, 2}}, nil}},
}

// newCell returns a space for a cell.
func newCell(t *testing.T) cell {
	s := NewSpace()
	t.Cleanup(s.Close)
	return cell{s}
}

// inMain gives a text of Go the package of cells.
func inMain(text string) string { return strings.ReplaceAll(text, "dynamic.", "main.") }

// TestFormats compares the texts of a cell's values with Go's, for every verb and flag.
func TestFormats(t *testing.T) {
	formats := strings.Split("%v %+v %#v %T %d %+d %05d|%-8v| %8v| %s %q %x %X %#x %f %.2f %e %t %c %U %b %o %% %z %", " ")
	for _, tt := range values {
		t.Run(tt.name, func(t *testing.T) {
			c := newCell(t)
			x := c.value(tt.v)
			for _, format := range formats {
				if tt.name == "error in an interface" && strings.ContainsAny(format, "#dxXbo") {
					continue // shows an address
				}
				if got, want := Sprintf(format, x), inMain(fmt.Sprintf(format, tt.v)); got != want {
					t.Errorf("%s: got %q, want %q", format, got, want)
				}
			}
			if got, want := Sprint("a", x, x, 1), inMain(fmt.Sprint("a", tt.v, tt.v, 1)); got != want {
				t.Errorf("Sprint: got %q, want %q", got, want)
			}
			if got, want := Sprintln(x, x), inMain(fmt.Sprintln(tt.v, tt.v)); got != want {
				t.Errorf("Sprintln: got %q, want %q", got, want)
			}
			if got, want := Name(x), inMain(fmt.Sprintf("%T", tt.v)); got != want {
				t.Errorf("Name: got %q, want %q", got, want)
			}
		})
	}
}

// TestOperands compares formats whose operands are missing, superfluous or numbered.
func TestOperands(t *testing.T) {
	c := newCell(t)
	for _, tt := range []struct {
		format string
		args   []any
	}{
		{"%v", nil},
		{"%v %v", []any{Point{1, 2}}},
		{"%v", []any{Point{1, 2}, Count(3)}},
		{"%[2]v %[1]v", []any{Point{1, 2}, Celsius(3)}},
		{"%[3]v", []any{Point{1, 2}}},
		{"%[1]T %[1]v", []any{Point{1, 2}}},
		{"%*d", []any{Count(5), Count(42)}},
		{"%.*f", []any{Count(2), Celsius(1)}},
		{"%*d", []any{Word("w"), Count(42)}},
		{"100%% of %v", []any{Point{}}},
		{"%", []any{Point{}}},
		{"%v and %-", []any{Point{}}},
		{"%w", []any{&Failed{1}}},
	} {
		var args []any
		for _, a := range tt.args {
			args = append(args, c.value(a))
		}
		if got, want := Sprintf(tt.format, args...), inMain(fmt.Sprintf(tt.format, tt.args...)); got != want {
			t.Errorf("%q: got %q, want %q", tt.format, got, want)
		}
	}
}

// TestErrors compares wrapped errors: their texts, and what errors.Is and errors.As find.
func TestErrors(t *testing.T) {
	c := newCell(t)
	x := c.value(&Failed{3})
	wrapped := Errorf("no: %w", x)
	if got, want := wrapped.Error(), fmt.Errorf("no: %w", &Failed{3}).Error(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if inner := errors.Unwrap(wrapped); Unwrap(inner) != x {
		t.Errorf("got the error %v, want the cell's", inner)
	}
	if _, ok := As(c.value(Failed{3}), reflect.TypeFor[error](), reflect.TypeFor[Error]()); ok {
		t.Error("a value is an error although its method has a pointer receiver")
	}
	if e, ok := As(x, reflect.TypeFor[error](), reflect.TypeFor[Error]()); !ok || e.(error).Error() != "code 3" {
		t.Errorf("got %v, want the error", e)
	}
}

// panicOf returns the text of the panic of f, or "".
func panicOf(f func()) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprint(r)
		}
	}()
	f()
	return ""
}

// TestInterfaces compares ==, keys of maps and type assertions of values in interfaces.
func TestInterfaces(t *testing.T) {
	c := newCell(t)
	cells := map[string]any{}
	for _, v := range values {
		cells[v.name] = c.value(v.v)
	}
	for _, a := range values {
		if got, want := panicOf(func() { Key(cells[a.name]) }), inMain(panicOf(func() { map[any]bool{}[a.v] = true })); got != want {
			t.Errorf("%s as a key: got %q, want %q", a.name, got, want)
		}
		for _, b := range values {
			x, y := cells[a.name], cells[b.name]
			var got, want bool
			gotPanic := panicOf(func() { got = Equal(x, y) })
			wantPanic := panicOf(func() { want = a.v == b.v })
			if got != want || (gotPanic == "") != (wantPanic == "") {
				t.Errorf("%s == %s: got %v %q, want %v %q", a.name, b.name, got, gotPanic, want, wantPanic)
			}
			if b.v == nil {
				continue
			}
			target := reflect.New(reflect.TypeOf(y)).Interface()
			if got, want := Is(x, reflect.Zero(reflect.TypeOf(target)).Interface()), reflect.TypeOf(a.v) == reflect.TypeOf(b.v); got != want {
				t.Errorf("%s has the type of %s: got %v, want %v", a.name, b.name, got, want)
			}
		}
	}
}

// TestMissing compares the texts of failed assertions.
func TestMissing(t *testing.T) {
	c := newCell(t)
	stringer := []Method{{"String", "func() string"}}
	for _, tt := range []struct {
		name string
		got  error
		want func()
	}{
		{"other type", Missing(c.value(Point{}), "interface {}", "main.Count", false, nil), func() { _ = any(Point{}).(Count) }},
		{"nil", Missing(nil, "interface {}", "main.Count", false, nil), func() { _ = any(nil).(Count) }},
		{"no method", Missing(c.value(Point{}), "interface {}", "fmt.Stringer", true, stringer), func() { _ = any(Point{}).(fmt.Stringer) }},
		{"number", Missing(c.value(Count(1)), "interface {}", "fmt.Stringer", true, stringer), func() { _ = any(Count(1)).(fmt.Stringer) }},
	} {
		if got, want := tt.got.Error(), inMain(panicOf(tt.want)); got != want {
			t.Errorf("%s: got %q, want %q", tt.name, got, want)
		}
	}
}

// TestMethods calls methods through an interface.
func TestMethods(t *testing.T) {
	c := newCell(t)
	for _, tt := range []struct {
		name, method string
		v            any
		want         string // "" if the value has no such method
	}{
		{"value", "String", Celsius(1.5), "1.5°"},
		{"pointer to it", "Error", &Failed{9}, "code 9"},
		{"pointer receiver", "Error", Failed{9}, ""},
		{"no method", "String", Point{}, ""},
		{"compiled", "Error", errors.New("e"), "e"},
	} {
		x := c.value(tt.v)
		got := ""
		if f, ok := MethodOf(x, tt.method).(func(any) string); ok {
			got = f(x)
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestLent compares what compiled code sees of a cell's values: package json writes and reads them as it does Go's.
func TestLent(t *testing.T) {
	for _, tt := range values {
		t.Run(tt.name, func(t *testing.T) {
			c := newCell(t)
			x := c.value(tt.v)
			want, wantErr := json.Marshal(tt.v)
			got, err := json.Marshal(Lend(x))
			if string(got) != string(want) || (err == nil) != (wantErr == nil) {
				t.Errorf("got %s %v, want %s %v", got, err, want, wantErr)
			}
			if back := Return(Lend(x)); Sprintf("%#v", back) != Sprintf("%#v", x) && reflect.TypeOf(tt.v) != reflect.TypeFor[*Point]() {
				t.Errorf("returned: got %s, want %s", Sprintf("%#v", back), Sprintf("%#v", x))
			}
			if tt.v == nil || wantErr != nil || strings.Contains(tt.name, "interface") {
				return // JSON does not say what an interface held
			}
			p := c.value(reflect.New(reflect.TypeOf(tt.v)).Interface())
			if err := Unmarshal(want, p); err != nil {
				t.Fatal(err)
			}
			r, d := Open(p)
			read := r.Elem().Interface()
			if d != nil {
				read = d.Elem.In(r.Elem())
			}
			if got, err := json.Marshal(Lend(read)); string(got) != string(want) || err != nil {
				t.Errorf("read again: got %s %v, want %s", got, err, want)
			}
		})
	}
}

// TestSelfContaining checks that a value which contains itself is refused, where package fmt would not end.
func TestSelfContaining(t *testing.T) {
	list := []any{1, nil}
	list[1] = list
	m := map[string]any{}
	m["m"] = m
	for _, tt := range []struct {
		name string
		v    any
		want string
	}{
		{"slice", list, "fmt: a value of type []interface {} contains itself and cannot be printed: print its parts"},
		{"map", m, "fmt: a value of type map[string]interface {} contains itself and cannot be printed: print its parts"},
		{"twice the same", []any{[]any{1}, []any{1}}, ""},
	} {
		if got := panicOf(func() { Sprint(tt.v) }); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestWorded gives run-time errors the names of types in cells.
func TestWorded(t *testing.T) {
	c := newCell(t)
	x := c.value(Point{1, 2})
	for _, tt := range []struct{ got, want func() }{
		{func() { _ = x.(int) }, func() { _ = any(Point{1, 2}).(int) }},
		{func() { _ = any([]any{x}).(int) }, func() { _ = any([]any{Point{}}).(int) }},
		{func() { _ = c.value([]Point{}).(int) }, func() { _ = any([]Point{}).(int) }},
		{func() { _ = map[any]bool{}[c.value([]Point{})] }, func() { _ = map[any]bool{}[any([]Point{})] }},
	} {
		got := panicOf(func() {
			defer func() { panic(Worded(recover())) }()
			tt.got()
		})
		if want := inMain(panicOf(tt.want)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
