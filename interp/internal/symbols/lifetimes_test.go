package symbols

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"halfnote/internal/plumbing"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

var lifetimes = tensor.Internal(plumbing.Token{}).Lifetimes

// TestReadersKeepNothing checks what early releases of tensors rely on: a function of package tensor or nn
// whose parameters are tensors, plain values and options, and whose results are tensors and plain values, marks the memory of
// operands that its result or the tape still needs. The test calls these functions with operands
// that it then releases, and uses the results.
func TestReadersKeepNothing(t *testing.T) {
	shapes := [][]int{{96, 96}, {9216}, {4, 48, 48}, {2, 3, 40, 40}, {1}}
	lists := [][]int{{0}, {1}, {96, 96}, {-1}, {}}
	called, released := map[string]bool{}, 0
	for _, c := range callees() {
		ours := strings.HasPrefix(c.name, "tensor.") || strings.HasPrefix(c.name, "tensor/nn.") || c.recv == tensorType
		if !ours || !readerType(c.fn.Type()) || c.name == "tensor.CartesianProd" { // its result is large
			continue
		}
		for mode := range 3 {
			for i := range len(shapes) * len(lists) {
				r := &reader{c: c, shape: shapes[i%len(shapes)], list: lists[i/len(shapes)], grad: mode == 1, integers: mode == 2}
				if attempt(r.call) != nil {
					continue // it does not take such operands
				}
				called[c.name] = true
				released += r.release()
				if err := attempt(r.use); err != nil && strings.Contains(err.Error(), "after its release") {
					t.Errorf("%s with operands of shape %v, list %v, gradients %v: %v", c.name, r.shape, r.list, r.grad, err)
				}
				break
			}
		}
	}
	if len(called) < 200 || released < 500 {
		t.Errorf("%d functions were called, and %d operands released; want more: the test no longer finds arguments", len(called), released)
	}
	if !called["tensor/nn.CrossEntropy"] || !called["tensor/nn.ScaledDotProductAttention"] {
		t.Error("no loss and no attention was called")
	}
	t.Logf("%d functions, %d operands released", len(called), released)
}

// readerType reports whether a function has tensors among its operands, and otherwise only options, plain
// parameters and plain results.
func readerType(t reflect.Type) bool {
	reads := false
	for i := range t.NumIn() {
		switch p := t.In(i); {
		case p == tensorType || p == reflect.SliceOf(tensorType):
			reads = true
		case p == reflect.TypeFor[[]nn.Option]():
		case !plainType(p):
			return false
		}
	}
	for i := range t.NumOut() {
		if p := t.Out(i); !plainType(p) && !(t.NumOut() == 1 && p == tensorType) {
			return false
		}
	}
	return reads
}

func plainType(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return plainType(t.Elem())
	case reflect.Struct:
		return !slices.ContainsFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool { return !plainType(f.Type) })
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.Interface, reflect.UnsafePointer:
		return false
	}
	return true
}

// reader is one call of a function with operands in slots.
type reader struct {
	c              callee
	shape, list    []int
	grad, integers bool
	slots          []*tensor.Tensor
	out            []reflect.Value
}

func (r *reader) call() {
	t := r.c.fn.Type()
	r.slots = make([]*tensor.Tensor, 2*t.NumIn())
	in := make([]reflect.Value, t.NumIn())
	for i := range in {
		switch p := t.In(i); {
		case p == tensorType:
			in[i] = reflect.ValueOf(r.operand(2 * i))
		case p == reflect.SliceOf(tensorType):
			in[i] = reflect.ValueOf([]*tensor.Tensor{r.operand(2 * i), r.operand(2*i + 1)})
		case p == reflect.TypeFor[[]int]():
			in[i] = reflect.ValueOf(r.list)
		case p == reflect.TypeFor[int]():
			in[i] = reflect.ValueOf(0)
		case p == reflect.TypeFor[tensor.DType]():
			in[i] = reflect.ValueOf(tensor.Float32)
		case p == reflect.TypeFor[tensor.Device]():
			in[i] = reflect.ValueOf(tensor.CPU)
		case p == reflect.TypeFor[float64]():
			in[i] = reflect.ValueOf(0.5)
		default:
			in[i] = reflect.Zero(p)
		}
	}
	if t.IsVariadic() {
		r.out = r.c.fn.CallSlice(in)
	} else {
		r.out = r.c.fn.Call(in)
	}
	for _, v := range r.out {
		if y, ok := v.Interface().(*tensor.Tensor); ok {
			lifetimes.Share(y)
		}
	}
}

// operand returns a tensor that is in slot i. The second operand of a function may hold integers.
func (r *reader) operand(i int) *tensor.Tensor {
	x := tensor.Rand(r.shape...)
	if r.grad {
		x.RequireGrad()
	}
	since := lifetimes.Begin(&r.slots[i])
	if r.integers && i > 0 {
		return lifetimes.Hold(&r.slots[i], since, x.To(tensor.Int64))
	}
	return lifetimes.Hold(&r.slots[i], since, x.MulScalar(1.5))
}

// release empties the slots and returns the number of operands that have no memory any more.
func (r *reader) release() (n int) {
	for i, x := range r.slots {
		if x == nil {
			continue
		}
		lifetimes.Begin(&r.slots[i])
		if attempt(func() { x.Bits() }) != nil {
			n++
		}
	}
	return n
}

// use reads the results and computes their derivatives.
func (r *reader) use() {
	for _, v := range r.out {
		y, ok := v.Interface().(*tensor.Tensor)
		if !ok || y == nil {
			continue
		}
		y.Bits()
		if y.RequiresGrad() {
			y.Float().Sum().Backward()
		}
	}
}

// attempt calls f and returns its panic as an error.
func attempt(f func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	f()
	return nil
}
