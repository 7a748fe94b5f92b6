package tensor

import (
	"fmt"
	"strings"

	"halfnote/tensor/driver"
)

// Error reports operands that an operation cannot take. It is the panic value of
// such calls.
type Error struct {
	Op     string  // the operation's name, as "matmul"
	Shapes [][]int // of the operands, when they matter
	DTypes []DType // of the operands, when they matter
	Why    string  // what is wrong and what was expected
}

// Error returns "tensor: matmul: shapes (32, 784) and (512, 10): …".
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("tensor: " + e.Op + ": ")
	if len(e.Shapes) > 0 {
		b.WriteString(list("shape", len(e.Shapes), func(i int) string { return shapeString(e.Shapes[i]) }) + ": ")
	}
	if len(e.DTypes) > 0 {
		b.WriteString(list("dtype", len(e.DTypes), func(i int) string { return e.DTypes[i].String() }) + ": ")
	}
	return b.String() + e.Why
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

// Try runs body and returns the [*Error] that it panicked with, or what a device failed
// with, which says what to do; nil if body returned. Other panics go on.
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

// fail panics about the shapes of ts.
func fail(op string, ts []*Tensor, format string, args ...any) {
	given(op, ts...)
	e := &Error{Op: op, Why: fmt.Sprintf(format, args...)}
	for _, t := range ts {
		e.Shapes = append(e.Shapes, t.shape)
	}
	panic(e)
}

// given panics unless all of ts, the operands of op, are there.
func given(op string, ts ...*Tensor) {
	for i, t := range ts {
		if t == nil {
			missing(op, i, len(ts))
		}
	}
}

// given returns t, and panics unless it is there.
func (t *Tensor) given(op string) *Tensor {
	if t == nil {
		missing(op, 0, 1)
	}
	return t
}

// missing panics about operand i of n, which is nil.
func missing(op string, i, n int) {
	which := "the operand"
	if n > 1 {
		which = fmt.Sprintf("operand %d", i+1)
		if i < len(ordinals) {
			which = "the " + ordinals[i] + " operand"
		}
	}
	panic(&Error{Op: op, Why: which + " is nil; expected a tensor"})
}

var ordinals = [...]string{"first", "second", "third", "fourth", "fifth", "sixth"}

// need panics unless an argument of op is there, which is called name and should be want.
func need(op, name string, there bool, want string) {
	if !there {
		panic(&Error{Op: op, Why: name + " is nil; expected " + want})
	}
}

// failDType panics about the dtypes of ts.
func failDType(op string, ts []*Tensor, format string, args ...any) {
	given(op, ts...)
	e := &Error{Op: op, Why: fmt.Sprintf(format, args...)}
	for _, t := range ts {
		e.DTypes = append(e.DTypes, t.dtype)
	}
	panic(e)
}
