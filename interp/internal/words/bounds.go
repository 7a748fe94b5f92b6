package words

import "reflect"

// An operation is one of those that fail with a runtime.boundsError, by the numbers of package internal/abi. In the
// texts x is the index or bound, and y what it exceeds.
type operation uint8

const (
	indexed       operation = iota // index out of range [x] with length y
	slicedLength                   // slice bounds out of range [:x] with length y
	slicedCap                      // slice bounds out of range [:x] with capacity y
	sliced                         // slice bounds out of range [x:y]
	sliced3Length                  // slice bounds out of range [::x] with length y
	sliced3Cap                     // slice bounds out of range [::x] with capacity y
	sliced3High                    // slice bounds out of range [:x:y]
	sliced3Low                     // slice bounds out of range [x:y:]
	convert                        // cannot convert slice with length y to array or pointer to array with length x
)

// outOfBounds returns the error with which an operation of compiled code fails: one of Go's own, with other numbers.
func outOfBounds(op operation, x int64, signed bool, y int) (err any) {
	defer func() {
		e := reflect.New(reflect.TypeOf(err)).Elem()
		e.Set(reflect.ValueOf(err))
		*(*int64)(e.FieldByName("x").Addr().UnsafePointer()) = x
		*(*int)(e.FieldByName("y").Addr().UnsafePointer()) = y
		*(*bool)(e.FieldByName("signed").Addr().UnsafePointer()) = signed
		*(*operation)(e.FieldByName("code").Addr().UnsafePointer()) = op
		err = e.Interface()
	}()
	defer func() { err = recover() }()
	var none []int
	i := 0
	_ = none[i]
	return nil
}

// Index panics as Go does if i is not an index of a slice, array or string of length n. signed is false for the bits of an
// unsigned index.
func Index(i int64, signed bool, n int) {
	if uint64(i) >= uint64(n) {
		panic(outOfBounds(indexed, i, signed, n))
	}
}

// Slice panics as Go does if low and high are not bounds of a slice. limit is its capacity or, of a string or an array, the
// length.
func Slice(low, high, limit int, capacity bool) {
	switch {
	case uint(high) > uint(limit) && capacity:
		panic(outOfBounds(slicedCap, int64(high), true, limit))
	case uint(high) > uint(limit):
		panic(outOfBounds(slicedLength, int64(high), true, limit))
	case uint(low) > uint(high):
		panic(outOfBounds(sliced, int64(low), true, high))
	}
}

// Slice3 is Slice for an expression with three bounds.
func Slice3(low, high, most, limit int, capacity bool) {
	switch {
	case uint(most) > uint(limit) && capacity:
		panic(outOfBounds(sliced3Cap, int64(most), true, limit))
	case uint(most) > uint(limit):
		panic(outOfBounds(sliced3Length, int64(most), true, limit))
	case uint(high) > uint(most):
		panic(outOfBounds(sliced3High, int64(high), true, most))
	case uint(low) > uint(high):
		panic(outOfBounds(sliced3Low, int64(low), true, high))
	}
}
