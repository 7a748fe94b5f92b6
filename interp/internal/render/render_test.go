package render

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"halfnote/interp/internal/dynamic"
)

// types are types of a cell: Point{X, Y int}, Celsius float64 with the method String, and Page struct{Text string} with
// the method HTML.
type types struct {
	*dynamic.Space
	integer, text, any, point, celsius, page *dynamic.Type
}

func newTypes(t *testing.T) types {
	s := dynamic.NewSpace()
	t.Cleanup(s.Close)
	c := types{Space: s}
	compiled := func(name string) *dynamic.Type { return s.Type(name, func(d *dynamic.Type) { d.Name = name }) }
	c.integer, c.text = compiled("int"), compiled("string")
	c.any = s.Type("interface {}", func(d *dynamic.Type) { d.Name, d.Kind = "interface {}", reflect.Interface })
	c.point = s.Type("Point", func(d *dynamic.Type) {
		d.Name, d.Kind, d.Named = "main.Point", reflect.Struct, true
		d.Fields = []dynamic.Field{{Name: "X", Exported: true, Type: c.integer}, {Name: "Y", Exported: true, Type: c.integer}}
	})
	c.celsius = s.Type("Celsius", func(d *dynamic.Type) { d.Name, d.Kind, d.Named, d.Boxed = "main.Celsius", reflect.Float64, true, true })
	give := func(f func(reflect.Value) string) func(any) string {
		return func(x any) string {
			r, _ := dynamic.Open(x)
			return f(reflect.Indirect(r))
		}
	}
	degrees := give(func(r reflect.Value) string {
		if r.Float() < -273 {
			panic("too cold")
		}
		return strings.TrimSuffix(r.String(), " Value>")[1:] + " degrees"
	})
	s.Declare("Celsius", "String", "func() string", degrees, degrees)
	c.page = s.Type("Page", func(d *dynamic.Type) {
		d.Name, d.Kind, d.Named = "main.Page", reflect.Struct, true
		d.Fields = []dynamic.Field{{Name: "Text", Exported: true, Type: c.text}}
	})
	html := give(func(r reflect.Value) string { return "<p>" + r.Field(0).String() + "</p>" })
	s.Declare("Page", "HTML", "func() string", html, html)
	return c
}

// list returns a type composed of others.
func (c types) list(e *dynamic.Type) *dynamic.Type {
	return c.Type("[]"+e.ID, func(d *dynamic.Type) { d.Name, d.Kind, d.Elem, d.Boxed = "[]"+e.Name, reflect.Slice, e, e.Boxed })
}

func (c types) table(k, e *dynamic.Type) *dynamic.Type {
	return c.Type("map["+k.ID+"]"+e.ID, func(d *dynamic.Type) {
		d.Name, d.Kind, d.Key, d.Elem, d.Boxed = "map["+k.Name+"]"+e.Name, reflect.Map, k, e, k.Boxed || e.Boxed
	})
}

func (c types) function(name string) *dynamic.Type {
	return c.Type(name, func(d *dynamic.Type) { d.Name, d.Kind = name, reflect.Func })
}

// structOf returns the value of a struct type of a cell with these fields.
func (c types) structOf(t *dynamic.Type, fields ...any) reflect.Value {
	var list []reflect.StructField
	for i, f := range fields {
		list = append(list, reflect.StructField{Name: t.Fields[i].Name, Type: reflect.TypeOf(f)})
	}
	list[0].Tag = reflect.StructTag(c.Tag(t.ID))
	v := reflect.New(reflect.StructOf(list)).Elem()
	for i, f := range fields {
		v.Field(i).Set(reflect.ValueOf(f))
	}
	return v
}

// slice returns a slice of values of one type.
func slice(list ...reflect.Value) reflect.Value {
	return reflect.Append(reflect.MakeSlice(reflect.SliceOf(list[0].Type()), 0, len(list)), list...)
}

func open(v reflect.Value) (reflect.Value, *dynamic.Type) { return dynamic.Open(v.Interface()) }

// attributes matches those of an HTML element.
var attributes = regexp.MustCompile(`<(\w+) [^>]*>`)

// TestValue renders values of the types that cells declare.
func TestValue(t *testing.T) {
	c := newTypes(t)
	point := c.structOf(c.point, 1, 2)
	heat := reflect.ValueOf(36.5)
	boxed := reflect.ValueOf([]any{point.Interface(), c.celsius.In(heat), nil, 1})
	var many []int
	for range 102 {
		many = append(many, 0)
	}
	manyPoints := reflect.MakeSlice(reflect.SliceOf(point.Type()), 52, 52)
	for _, tt := range []struct {
		name    string
		v       reflect.Value
		t       *dynamic.Type
		methods bool
		text    string
		html    string // a part of the table, or "" if there is none
	}{
		{"struct", point, c.point, true, "Point{X:1 Y:2}", ""},
		{"pointer", point.Addr(), c.point.Pointer(), true, "&Point{X:1 Y:2}", ""},
		{"nil pointer", reflect.Zero(reflect.PointerTo(point.Type())), c.point.Pointer(), true, "<nil>", ""},
		{"no value", reflect.Value{}, c.point, true, "<nil>", ""},
		{"list", slice(point, point), c.list(c.point), true, "[Point{X:1 Y:2} Point{X:1 Y:2}]", "<td>1</td><td>1</td><td>2</td>"},
		{"number", heat, c.celsius, true, "36.5", ""},
		{"numbers with String", reflect.ValueOf([]float64{1, 2}), c.list(c.celsius), true, "[float64 degrees float64 degrees]", ""},
		{"numbers without their methods", reflect.ValueOf([]float64{1, 2}), c.list(c.celsius), false, "[1 2]", ""},
		{"method that panics", reflect.ValueOf([]float64{-300}), c.list(c.celsius), true, "[(method String panicked: too cold)]", ""},
		{"map", reflect.ValueOf(map[string]int{"b": 2, "a": 1}), c.table(c.text, c.integer), true, "map[a:1 b:2]", "<td>a</td><td>1</td>"},
		{"map with numbers for keys", reflect.ValueOf(map[int]int{10: 1, 9: 2}), c.table(c.integer, c.integer), true, "map[9:2 10:1]", "<td>9</td><td>2</td>"},
		{"interfaces", boxed, c.list(c.any), true, "[Point{X:1 Y:2} float64 degrees <nil> 1]", ""},
		{"function", reflect.ValueOf(func() {}), c.function("func(main.Point) int"), true, "func(Point) int", ""},
		{"long list", reflect.ValueOf(many), c.list(c.integer), true, "[" + strings.Repeat("0 ", 100) + "… 2 more]", ""},
		{"long table", manyPoints, c.list(c.point), true, "[" + strings.TrimSuffix(strings.Repeat("Point{X:0 Y:0} ", 52), " ") + "]", "… 2 more"},
	} {
		b := Value(tt.v, tt.t, tt.methods, open)
		if got := b.Data["text/plain"]; got != tt.text {
			t.Errorf("%s: got the text %q, want %q", tt.name, got, tt.text)
		}
		html, _ := b.Data["text/html"].(string)
		html = attributes.ReplaceAllString(html, "<$1>")
		if tt.html == "" && html != "" || !strings.Contains(html, tt.html) {
			t.Errorf("%s: got the table %q, want one that contains %q", tt.name, html, tt.html)
		}
	}
}

// TestPresented renders values of cells for package display, with their methods.
func TestPresented(t *testing.T) {
	c := newTypes(t)
	page := c.structOf(c.page, "hi").Interface()
	for _, tt := range []struct {
		name string
		v    any
		mime string
		want any
	}{
		{"HTML", page, "text/html", "<p>hi</p>"},
		{"text beside HTML", page, "text/plain", `Page{Text:hi}`},
		{"String", c.celsius.In(reflect.ValueOf(1.0)), "text/plain", "float64 degrees"},
		{"String that panics", c.celsius.In(reflect.ValueOf(-300.0)), "text/plain", "-300\n(method String panicked: too cold)"},
	} {
		b, ok := Presented(tt.v).(interface{ String() string })
		if !ok {
			t.Errorf("%s: got %T, want a bundle", tt.name, Presented(tt.v))
			continue
		}
		if got := reflect.ValueOf(b).FieldByName("Data").MapIndex(reflect.ValueOf(tt.mime)); !got.IsValid() || got.Interface() != tt.want {
			t.Errorf("%s: got %v as %s, want %v", tt.name, got, tt.mime, tt.want)
		}
	}
	for _, v := range []any{nil, 1, "s", []int{1}} { // of compiled types
		if got := Presented(v); !reflect.DeepEqual(got, v) {
			t.Errorf("%v: got %v, want the value itself", v, got)
		}
	}
}

// TestHoldsOwn finds values of a cell's types in values of compiled ones.
func TestHoldsOwn(t *testing.T) {
	c := newTypes(t)
	point := c.structOf(c.point, 1, 2).Interface()
	late := make([]any, 30)
	late[25] = point
	for _, tt := range []struct {
		name string
		v    any
		want bool
	}{
		{"nothing", []any{1, nil}, false},
		{"list", []any{1, point}, true},
		{"map", map[string]any{"p": point}, true},
		{"list of lists", [][]any{{}, {point}}, true},
		{"numbers", []int{1}, false},
		{"beyond the first elements", late, false},
	} {
		if got := HoldsOwn(reflect.ValueOf(tt.v)); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}
