//go:build ignore

package maphash

import (
	"errors"
	"math"
	"reflect"
)

func Comparable[T comparable](seed Seed, v T) uint64 {
	var h Hash
	h.SetSeed(seed)
	hash(&h, reflect.ValueOf(&v).Elem())
	return h.Sum64()
}

func WriteComparable[T comparable](h *Hash, x T) { hash(h, reflect.ValueOf(&x).Elem()) }

// hash adds a value: its type, and the parts that == compares.
func hash(h *Hash, v reflect.Value) {
	if !v.IsValid() {
		h.WriteByte(0)
		return
	}
	h.WriteString(v.Type().String())
	switch v.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		number(h, uint64(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		number(h, v.Uint())
	case reflect.String:
		number(h, uint64(v.Len()))
		h.WriteString(v.String())
	case reflect.Bool:
		if v.Bool() {
			h.WriteByte(1)
		} else {
			h.WriteByte(0)
		}
	case reflect.Float32, reflect.Float64:
		float(h, v.Float())
	case reflect.Complex64, reflect.Complex128:
		float(h, real(v.Complex()))
		float(h, imag(v.Complex()))
	case reflect.Array:
		for i := range v.Len() {
			hash(h, v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			hash(h, v.Field(i))
		}
	case reflect.Interface:
		hash(h, v.Elem())
	case reflect.Pointer, reflect.Chan, reflect.UnsafePointer:
		number(h, uint64(v.Pointer()))
	default:
		panic(errors.New("maphash: hash of unhashable type " + v.Type().String()))
	}
}

func number(h *Hash, n uint64) {
	for range 8 {
		h.WriteByte(byte(n))
		n >>= 8
	}
}

// float adds a number so that 0 and -0 are equal and no two NaNs are.
func float(h *Hash, f float64) {
	switch {
	case f == 0:
		f = 0
	case f != f:
		seed := MakeSeed()
		number(h, String(seed, ""))
		return
	}
	number(h, math.Float64bits(f))
}
