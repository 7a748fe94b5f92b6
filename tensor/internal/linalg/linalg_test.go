package linalg

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"

	"halfnote/tensor/driver"
)

// matrix returns a matrix (m, n) of numbers from -1 to 1 that depend on its sizes only.
func matrix(m, n int) []float64 {
	r := rand.New(rand.NewPCG(uint64(m), uint64(n)))
	a := make([]float64, m*n)
	for i := range a {
		a[i] = 2*r.Float64() - 1
	}
	return a
}

// copied returns a copy of a, for functions that overwrite it.
func copied(a []float64) []float64 { return append([]float64(nil), a...) }

// symmetric returns a + aᵀ for a random a (n, n).
func symmetric(n int) []float64 {
	a := matrix(n, n)
	subtract(a, Transpose(a, n, n), -1)
	return a
}

// identity returns the identity (n, n).
func identity(n int) []float64 {
	a := make([]float64, n*n)
	for i := range n {
		a[i*n+i] = 1
	}
	return a
}

// diagonal returns the matrix (n, n) with diagonal d.
func diagonal(d []float64) []float64 {
	a := identity(len(d))
	for i, x := range d {
		a[i*len(d)+i] = x
	}
	return a
}

// close fails the test unless got and want differ by less than a small multiple of the rounding
// error, relative to the largest element.
func close(t *testing.T, name string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: got %d elements, want %d", name, len(got), len(want))
	}
	largest := 1.0
	for _, x := range want {
		largest = max(largest, math.Abs(x))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= 1e-12*largest) {
			t.Fatalf("%s: element %d is %v, want %v", name, i, got[i], want[i])
		}
	}
}

func TestDecompositions(t *testing.T) {
	for _, s := range [][2]int{{0, 0}, {1, 1}, {2, 2}, {3, 3}, {17, 17}, {40, 40}, {5, 1}, {9, 4}, {40, 33}, {4, 0}} {
		m, n := s[0], s[1]
		name := fmt.Sprintf(" (%d, %d)", m, n)
		a := matrix(m, n)
		f := QR(copied(a), m, n)
		for _, k := range []int{n, m} {
			q, r := f.Q(k), f.R(k)
			close(t, "q r"+name, Product(q, m, k, r, n), a)
			close(t, "qᵀ q"+name, Product(Transpose(q, m, k), k, m, q, k), identity(k))
		}
		u, d, v := SVD(copied(a), m, n)
		close(t, "u s vᵀ"+name, Product(Product(u, m, n, diagonal(d), n), m, n, Transpose(v, n, n), n), a)
		close(t, "uᵀ u"+name, Product(Transpose(u, m, n), n, m, u, n), identity(n))
		close(t, "vᵀ v"+name, Product(Transpose(v, n, n), n, n, v, n), identity(n))
		for i := 1; i < n; i++ {
			if d[i-1] < d[i] {
				t.Errorf("singular values%s are not in descending order: %v", name, d)
			}
		}
		p := PseudoInverse(copied(a), m, n, func(float64) float64 { return 1e-14 })
		if p.Rank != n {
			t.Errorf("rank%s is %d, want %d", name, p.Rank, n)
		}
		close(t, "a⁺ a"+name, Product(p.P, n, m, a, n), identity(n))
		wide := PseudoInverse(Transpose(a, m, n), n, m, func(float64) float64 { return 1e-14 })
		close(t, "the pseudoinverse of the transpose of"+name, Transpose(wide.P, m, n), p.P)
	}
}

func TestSquareMatrices(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 10, 37} {
		name := fmt.Sprintf(" of %d", n)
		a := matrix(n, n)
		b := matrix(n, 3)
		f := LU(copied(a), n)
		close(t, "a x"+name, Product(a, n, n, f.Solve(b, 3), 3), b)
		if sign := f.LogDet(); !(math.Abs(sign[0]*math.Exp(sign[1])-f.Det()) <= 1e-12*math.Abs(f.Det())) {
			t.Errorf("sign and logarithm%s are %v, and the determinant is %v", name, sign, f.Det())
		}
		lower, upper := identity(n), make([]float64, n*n)
		for i := range n {
			copy(lower[i*n:i*n+i], f.LU[i*n:])
			copy(upper[i*n+i:(i+1)*n], f.LU[i*n+i:])
		}
		pivots := make([]int64, n)
		for i, p := range f.Pivots() {
			pivots[i] = int64(p)
		}
		order, back := Exchanges(pivots, false), Exchanges(pivots, true)
		for i, row := range order {
			if back[row] != int64(i) {
				t.Errorf("exchanges%s are %v, and undone %v", name, order, back)
			}
		}
		product := Product(lower, n, n, upper, n)
		for i, row := range order {
			close(t, fmt.Sprintf("row %d of l u%s", i, name), product[i*n:(i+1)*n], a[int(row)*n:(int(row)+1)*n])
		}
		x := copied(b)
		Substitute(lower, n, x, 3, false, true)
		close(t, "l x"+name, Product(lower, n, n, x, 3), b)
		x = copied(b)
		Substitute(upper, n, x, 3, true, false)
		close(t, "u x"+name, Product(upper, n, n, x, 3), b)

		s := symmetric(n)
		w, v, ok := Eigh(copied(s), n)
		if !ok {
			t.Fatalf("eigenvalues%s did not converge", name)
		}
		close(t, "v w vᵀ"+name, Product(Product(v, n, n, diagonal(w), n), n, n, Transpose(v, n, n), n), s)
		inverse, ok := PseudoInverseSymmetric(copied(s), n, func(float64) float64 { return 1e-14 })
		if !ok {
			t.Fatalf("eigenvalues%s did not converge", name)
		}
		close(t, "s⁺ s"+name, Product(inverse, n, n, s, n), identity(n))

		positive := Product(a, n, n, Transpose(a, n, n), n)
		subtract(positive, identity(n), -1)
		l, ok := Cholesky(positive, n)
		if !ok {
			t.Fatalf("a matrix%s is not positive definite", name)
		}
		close(t, "l lᵀ"+name, Product(l, n, n, Transpose(l, n, n), n), positive)

		e, inv := Exp(copied(a), n), make([]float64, n*n)
		subtract(inv, a, 1)
		close(t, "exp(a) exp(-a)"+name, Product(e, n, n, Exp(inv, n), n), identity(n))
	}
}

func TestRefusals(t *testing.T) {
	if f := LU([]float64{1, 2, 2, 4}, 2); !f.Singular() || f.Det() != 0 {
		t.Error("a matrix of rank 1 is not singular")
	}
	if _, ok := Cholesky([]float64{1, 2, 2, 1}, 2); ok {
		t.Error("a matrix with a negative eigenvalue is positive definite")
	}
	for _, x := range []float64{math.NaN(), math.Inf(1)} {
		if _, _, ok := Eigh([]float64{1, 0, x, 1}, 2); ok {
			t.Errorf("a matrix with %v has eigenvalues", x)
		}
	}
	if p := PseudoInverse([]float64{1, 2, 2, 4}, 2, 2, func(largest float64) float64 { return 1e-10 * largest }); p.Rank != 1 {
		t.Errorf("got rank %d, want 1", p.Rank)
	}
	defer func() {
		if v, ok := recover().(NoRoom); !ok || v.Why == nil {
			t.Errorf("got %v, want NoRoom", v)
		}
	}()
	const m = 1 << 10
	QR(make([]float64, m), m, 1).Q(math.MaxInt / m)
}

// TestInterrupts checks that a poll can end every function that has more than a few steps.
func TestInterrupts(t *testing.T) {
	stop := errors.New("interrupted")
	a, s := matrix(40, 40), symmetric(40)
	for name, f := range functions(a, s, 40) {
		driver.SetHost(driver.Host{Poll: func() { panic(stop) }})
		func() {
			defer func() {
				if v := recover(); v != stop {
					t.Errorf("%s: got %v, want an interrupt", name, v)
				}
			}()
			f()
		}()
		driver.SetHost(driver.Host{})
	}
}

// functions returns the package's functions of a and of the symmetric s, both (n, n).
func functions(a, s []float64, n int) map[string]func() []float64 {
	return map[string]func() []float64{
		"Product":   func() []float64 { return Product(a, n, n, s, n) },
		"Transpose": func() []float64 { return Transpose(a, n, n) },
		"LU":        func() []float64 { return LU(copied(a), n).LU },
		"Solve":     func() []float64 { return LU(copied(a), n).Solve(s, n) },
		"LogDet":    func() []float64 { return LU(copied(a), n).LogDet() },
		"Substitute": func() []float64 {
			x := copied(s)
			Substitute(a, n, x, n, true, false)
			return x
		},
		"Cholesky": func() []float64 {
			p := Product(a, n, n, Transpose(a, n, n), n)
			l, _ := Cholesky(p, n)
			return l
		},
		"QR": func() []float64 { f := QR(copied(a), n, n); return append(f.Q(n), f.R(n)...) },
		"SVD": func() []float64 {
			u, d, v := SVD(copied(a), n, n)
			return append(append(u, d...), v...)
		},
		"Eigh":          func() []float64 { w, v, _ := Eigh(copied(s), n); return append(w, v...) },
		"PseudoInverse": func() []float64 { return PseudoInverse(copied(a), n, n, func(float64) float64 { return 0 }).P },
		"PseudoInverseSymmetric": func() []float64 {
			p, _ := PseudoInverseSymmetric(copied(s), n, func(float64) float64 { return 0 })
			return p
		},
		"Exp": func() []float64 { return Exp(copied(a), n) },
	}
}

// TestBits compares the bits of results with those recorded on amd64: all processors give the same.
func TestBits(t *testing.T) {
	want := map[string]uint64{
		"Cholesky":               0xfad9dd01a0518668,
		"Eigh":                   0xacb2ccc0855d14f9,
		"Exp":                    0xeeac37098f423877,
		"LU":                     0x9e03ca37037e41e9,
		"LogDet":                 0x64114812fc50c21f,
		"Product":                0x43ff3f167af7f9f3,
		"PseudoInverse":          0xfe8a0c2dba50505c,
		"PseudoInverseSymmetric": 0xb2b1e97f8f718d52,
		"QR":                     0x3de201fe24feeffa,
		"SVD":                    0x68356f4f6af31b6c,
		"Solve":                  0xe96bf2ce82af0f35,
		"Substitute":             0xc0f0d9e67106efe3,
		"Transpose":              0x803c2e276ff26946,
	}
	const n = 24
	for name, f := range functions(matrix(n, n), symmetric(n), n) {
		h := fnv.New64a()
		if err := binary.Write(h, binary.LittleEndian, f()); err != nil {
			t.Fatal(err)
		}
		if got := h.Sum64(); got != want[name] {
			t.Errorf("%q: %#x, want %#x", name, got, want[name])
		}
	}
}
