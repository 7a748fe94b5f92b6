package loader

import "strconv"

// The functions of this file make the linker keep functions of the runtime that compiled
// cells call and that the program itself may not: TestBuiltins lists those that are lacking.
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
	println(ok, len(q), a.(interface{ M() string }).M(), m[2][3])
}
