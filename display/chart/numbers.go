package chart

import (
	"fmt"
	"reflect"
)

// numbers is a list of numbers that a caller gave in one of several types.
type numbers struct {
	values []float64
	shape  []int  // sizes of the dimensions
	dtype  string // dtype of a tensor, "" for other lists
}

// maxNumbers is the maximum number of elements that a chart reads.
const maxNumbers = 1 << 24

// numbersOf returns the numbers in v: a slice or array of numbers or of such slices, or a tensor.
func numbersOf(v any) (n numbers, err error) {
	if v == nil {
		return n, fmt.Errorf("nil")
	}
	defer func() {
		if r := recover(); r != nil { // from the value's own methods
			err = fmt.Errorf("a value of type %T that cannot be read: %v", v, r)
		}
	}()
	if t, ok := v.(interface {
		Shape() []int
		Float64s() []float64
	}); ok {
		if rv := reflect.ValueOf(v); rv.Kind() == reflect.Pointer && rv.IsNil() {
			return n, fmt.Errorf("a nil %T", v)
		}
		n = numbers{values: t.Float64s(), shape: t.Shape()}
		if m := reflect.ValueOf(v).MethodByName("DType"); m.IsValid() && m.Type().NumIn() == 0 && m.Type().NumOut() == 1 {
			n.dtype = fmt.Sprint(m.Call(nil)[0])
		}
		return n, nil
	}
	rv := reflect.ValueOf(v)
	if rv.Kind() != reflect.Slice && rv.Kind() != reflect.Array {
		return n, fmt.Errorf("a value of type %T", v)
	}
	err = n.add(rv, 0)
	return n, err
}

// add appends the numbers in a slice. depth is its dimension.
func (n *numbers) add(list reflect.Value, depth int) error {
	if len(n.shape) == depth {
		n.shape = append(n.shape, list.Len())
	} else if n.shape[depth] != list.Len() {
		return fmt.Errorf("rows of %d and %d numbers", n.shape[depth], list.Len())
	}
	for i := range list.Len() {
		e := list.Index(i)
		for e.Kind() == reflect.Interface || e.Kind() == reflect.Pointer {
			e = e.Elem()
		}
		switch {
		case len(n.values) >= maxNumbers:
			return fmt.Errorf("more than %d numbers", maxNumbers)
		case e.CanInt():
			n.values = append(n.values, float64(e.Int()))
		case e.CanUint():
			n.values = append(n.values, float64(e.Uint()))
		case e.CanFloat():
			n.values = append(n.values, e.Float())
		case e.Kind() == reflect.Bool && e.Bool():
			n.values = append(n.values, 1)
		case e.Kind() == reflect.Bool:
			n.values = append(n.values, 0)
		case depth < 3 && (e.Kind() == reflect.Slice || e.Kind() == reflect.Array):
			if err := n.add(e, depth+1); err != nil {
				return err
			}
		case !e.IsValid():
			return fmt.Errorf("a slice of type %v with nil", list.Type())
		default:
			return fmt.Errorf("a slice of type %v", list.Type())
		}
	}
	return nil
}

// seriesOf returns the lines in the arguments of a function such as Plot: for each line its values, or its
// positions and its values, and perhaps its name; or a table and names of its columns. named are the names that a table gives the
// axes. Without paired, lists are values alone.
func seriesOf(function string, paired bool, data []any) (list []Series, named axes) {
	type given struct {
		numbers
		at int
	}
	var open []given // numbers without a name so far
	add := func(name string) {
		if len(open) == 0 {
			return
		}
		s := Series{Name: name, DType: open[len(open)-1].dtype, Values: open[len(open)-1].values}
		if len(open) == 2 {
			s.X = open[0].values
			if len(s.X) != len(s.Values) {
				refuse(function, "argument %d has %d numbers and argument %d has %d; want as many positions as values", open[0].at, len(s.X), open[1].at, len(s.Values))
			}
		}
		list, open = append(list, s), nil
	}
	for i := 0; i < len(data); i++ {
		if t, ok := data[i].(table); ok {
			add("")
			names := namesAfter(data[i+1:])
			sets, axes := setsOf(function, paired, t, names)
			list, named = append(list, sets...), axes
			i += len(names)
			continue
		}
		if name, ok := data[i].(string); ok {
			if len(open) == 0 {
				refuse(function, "argument %d is the name %q without values; want values before it", i+1, name)
			}
			add(name)
			continue
		}
		n, err := numbersOf(data[i])
		if err != nil {
			refuse(function, "argument %d: %v; want a slice or tensor of numbers, a table, or a name", i+1, err)
		}
		if k := coloured(n.shape); k != "" && paired { // a distribution may be that of colours
			refuse(function, "argument %d has the shape %s, which is %s; want one number for each point; chart.Imshow and chart.Images show pictures", i+1, shapeText(n.shape), k)
		}
		if len(open) == 2 || len(open) == 1 && !paired {
			add("")
		}
		open = append(open, given{n, i + 1})
	}
	add("")
	return list, named
}

// coloured returns what values of a shape are if they are pictures with several channels, and otherwise "".
func coloured(shape []int) string {
	switch n := len(shape); {
	case n == 4 && (shape[1] == 3 || shape[3] == 3):
		return "pictures in colour"
	case n == 3 && (shape[0] == 3 || shape[2] == 3):
		return "a picture in colour"
	}
	return ""
}

// named returns the axes with the names that a table gives them.
func (a axes) named(by axes) axes {
	if by.x != "" {
		a.x = by.x
	}
	if by.y != "" {
		a.y = by.y
	}
	return a
}
