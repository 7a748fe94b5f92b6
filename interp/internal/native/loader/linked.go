package loader

import "strconv"

// The functions of this file make the linker keep functions of the runtime that compiled
// cells call and that the program itself may not: TestLinked lists those that are lacking.
// They are called once, with arguments that take no time.

func init() {
	deferInLoop(func(yield func(int) bool) {}, 0)
	exotic(nil, 0)
	errorMethod = error.Error
}

//go:noinline
func deferInLoop(seq func(func(int) bool), n int) (s string) {
	for i := range seq {
		defer func() { s += strconv.Itoa(i) }()
	}
	for i := range n {
		defer func() { s += strconv.Itoa(i) }()
	}
	return s
}

// errorMethod refers to the function of a method expression, which is in package runtime.
//
//lint:ignore U1000 it is for the linker
var errorMethod func(error) string

type large [200]int

//go:noinline
func exotic(a any, n int64) {
	if a == nil {
		return
	}
	defer func() { _ = recover() }()
	b := a.([][]byte)
	s := string(b[0]) + string(b[1]) + string(b[2]) + string(b[3]) + string(b[4])
	all := append([]byte(nil), []byte(s+string(b[1])+string(b[2])+string(b[3])+string(b[0]))...)
	x, y := complex(float64(n), 1), complex(2, float64(n))
	println(a, x/y, all, make([]int, n), make(chan int, n), make(map[int]large, n))
	m := map[int]large{}
	v, ok := m[int(n)]
	q := map[*large]int{&v: cap(make(chan int, n))}
	q[&v]++
	println(ok, len(q), a.(interface{ M() string }).M(), m[2][3], len(make(chan int, n)), len([]rune(s)), assert[error](a))
	println(len(map[struct{}]int{{}: 1}), len(map[uint8]any{uint8(n): a}))
	ps, qs := growing[*large](n)
	is, js := growing[int](n)
	println(len(ps)+len(qs), len(is)+len(js), len(concatenated(s, 0)), len(concatenated(s, 1)))
	delete(a.(map[int32]int), int32(n))
	select {}
}

// assert is an assertion to an interface that only a type argument names.
//
//go:noinline
func assert[T any](a any) T { return a.(T) }

// growing returns slices that grow in the frame of the function first: the capacity of the first counts later.
func growing[T any](n int64) (list, other []T) {
	var a, b []T
	for range n {
		var v T
		a, b = append(a, v), append(b, v)
	}
	a = a[:cap(a)]
	return a, b
}

//go:noinline
func concatenated(s string, i int) []byte {
	if i == 0 {
		return []byte(s + "a" + s + s)
	}
	return []byte(s + "a" + s + "b" + s)
}
