package typemaker

import (
	"reflect"
	"unsafe"
)

// params returns how many parameters and results follow the description of a type.
func params(t reflect.Type) int {
	if t.Kind() != reflect.Func {
		return 0
	}
	return t.NumIn() + t.NumOut()
}

// param is a parameter or a result of a function type.
func param(t reflect.Type, i int) reflect.Type {
	if i < t.NumIn() {
		return t.In(i)
	}
	return t.Out(i - t.NumIn())
}

// The parts of data.

func (t *Type) ownWords() int {
	return words(t.like.Kind()) + uncommonWords + params(t.like) + t.values*methodWords
}

func (t *Type) own() *common { return (*common)(unsafe.Pointer(&t.data[0])) }

func (t *Type) ownUncommon() *uncommon {
	return (*uncommon)(unsafe.Pointer(&t.data[words(t.like.Kind())]))
}

func (t *Type) ownParams() []uintptr {
	return t.data[words(t.like.Kind())+uncommonWords:][:params(t.like)]
}

func (t *Type) ownMethods() []method {
	return methodsIn(t.data[:t.ownWords()], t.values)
}

func (t *Type) pointer() *ptrType { return (*ptrType)(unsafe.Pointer(&t.data[t.ownWords()])) }

func (t *Type) pointerUncommon() *uncommon {
	return (*uncommon)(unsafe.Pointer(&t.data[t.ownWords()+words(reflect.Pointer)]))
}

func (t *Type) pointerMethods() []method {
	return methodsIn(t.data, t.methods)
}

// methodsIn returns the n methods at the end of a description.
func methodsIn(data []uintptr, n int) []method {
	return unsafe.Slice((*method)(unsafe.Pointer(unsafe.SliceData(data[len(data)-n*methodWords:]))), n)
}

// copy copies what the descriptions of a type and of its underlying type have in common.
func (t *Type) copy(from reflect.Type) {
	c := t.own()
	hash, str, toThis := c.hash, c.str, c.ptrToThis
	n := words(from.Kind())
	copy(t.data[:n], unsafe.Slice((*uintptr)(unsafe.Pointer(description(from))), n))
	c.hash, c.str, c.ptrToThis = hash, str, toThis
	c.tflag |= tflagUncommon | tflagNamed | tflagExtraStar
	for i := range t.ownParams() {
		t.ownParams()[i] = uintptr(unsafe.Pointer(description(param(from, i))))
	}
	t.like = from
}

// sameLayout reports whether values of two types lie in memory alike, for types that package reflect has made
// of one of them and for the collector.
func sameLayout(a, b reflect.Type) bool {
	x, y := description(a), description(b)
	if a.Kind() != b.Kind() || params(a) != params(b) || x.size != y.size || x.ptrBytes != y.ptrBytes || x.align != y.align || x.fieldAlign != y.fieldAlign ||
		x.tflag&tflagDirectIface != y.tflag&tflagDirectIface || (x.equal == nil) != (y.equal == nil) {
		return false
	}
	if (x.tflag|y.tflag)&tflagGCMaskOnDemand != 0 || x.ptrBytes == 0 { // then the runtime finds the pointers itself
		return true
	}
	n := (x.ptrBytes/wordSize + 7) / 8
	return string(unsafe.Slice(x.gcData, n)) == string(unsafe.Slice(y.gcData, n))
}
