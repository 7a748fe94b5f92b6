package tensor

import (
	"fmt"
	"slices"
	"strings"

	"halfnote/internal/text"
	"halfnote/tensor/driver"
)

// Error reports operands or arguments that an operation does not accept. It is a panic value;
// [Try] turns it into an error.
type Error struct {
	Op     string  // name of the operation, for example "matmul"
	Shapes [][]int // shapes of the operands, if relevant
	DTypes []DType // dtypes of the operands, if relevant
	Why    string  // the problem, the values expected and the fix
	Module string  // path of the module that ran the operation, for example "encoder.0", if it is known

	within string // text of that module
}

// Error returns "tensor: matmul: shapes (32, 784) and (512, 10): …", with the module at the end.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("tensor: " + e.Op + ": ")
	if len(e.Shapes) > 0 {
		b.WriteString(list("shape", len(e.Shapes), func(i int) string { return shapeString(e.Shapes[i]) }) + ": ")
	}
	if len(e.DTypes) > 0 {
		b.WriteString(list("dtype", len(e.DTypes), func(i int) string { return e.DTypes[i].String() }) + ": ")
	}
	b.WriteString(e.Why)
	if e.Module != "" {
		b.WriteString("; in module " + e.Module)
	}
	if e.within != "" {
		b.WriteString(", " + e.within)
	}
	return b.String()
}

// list returns "shapes a, b and c".
func list(noun string, n int, item func(int) string) string {
	var b strings.Builder
	b.WriteString(noun)
	if n > 1 {
		b.WriteString("s")
	}
	for i := range n {
		switch {
		case i == 0:
			b.WriteString(" ")
		case i == n-1:
			b.WriteString(" and ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(item(i))
	}
	return b.String()
}

// Try runs body and returns the [*Error] or device failure that it panicked with, or nil if
// body returned. Other panics pass through.
func Try(body func()) (err error) {
	need("try", "body", body != nil, "a function to run")
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *Error:
			err = p
		case *driver.Failure:
			err = p
		default:
			panic(p)
		}
	}()
	body()
	return nil
}

// fail panics with an Error about the shapes of ts.
func fail(op string, ts []*Tensor, format string, args ...any) {
	given(op, ts...)
	e := &Error{Op: op, Why: text.Sprintf(format, args...)}
	for _, t := range ts {
		e.Shapes = append(e.Shapes, t.shape)
	}
	panic(named(e))
}

// given panics if any of ts, the operands of op, is nil.
func given(op string, ts ...*Tensor) {
	for i, t := range ts {
		if t == nil {
			missing(op, i, len(ts))
		}
	}
}

// given returns t, and panics if it is nil.
func (t *Tensor) given(op string) *Tensor {
	if t == nil {
		missing(op, 0, 1)
	}
	return t
}

// missing panics because operand i of n is nil.
func missing(op string, i, n int) {
	which := "the operand"
	if n > 1 {
		which = fmt.Sprintf("operand %d", i+1)
		if i < len(ordinals) {
			which = "the " + ordinals[i] + " operand"
		}
	}
	panic(named(&Error{Op: op, Why: which + " is nil; want a tensor"}))
}

var ordinals = [...]string{"first", "second", "third", "fourth", "fifth", "sixth"}

// need panics if the argument called name of op is missing; want describes it.
func need(op, name string, there bool, want string) {
	if !there {
		panic(named(&Error{Op: op, Why: name + " is nil; want " + want}))
	}
}

// failDType panics with an Error about the dtypes of ts.
func failDType(op string, ts []*Tensor, format string, args ...any) {
	given(op, ts...)
	e := &Error{Op: op, Why: text.Sprintf(format, args...)}
	for _, t := range ts {
		e.DTypes = append(e.DTypes, t.dtype)
	}
	panic(named(e))
}

func sameShape(op string, x, y *Tensor) {
	given(op, x, y)
	if !slices.Equal(x.shape, y.shape) {
		fail(op, []*Tensor{x, y}, "input and target do not match; want equal shapes")
	}
}

// notBool panics if an operand is bool.
func notBool(op string, in []*Tensor) {
	given(op, in...)
	for _, t := range in {
		if t.dtype == Bool {
			failDType(op, in, "not defined for bool; want a numeric dtype: cast with To(tensor.Int64)")
		}
	}
}

// notWhole panics unless an operand has a floating-point dtype.
func notWhole(op string, in []*Tensor) {
	given(op, in...)
	if !promoteAll(in).IsFloat() {
		failDType(op, in, "not defined for integers; want a floating-point dtype: cast with To")
	}
}
