package drivertest

import (
	"bytes"
	"testing"

	"halfnote/tensor/driver"
)

// Same checks that two backends compute the same bits with every kernel, at a size that keeps several
// workers busy, and that b does so when it runs again. Backends that differ only in their number of workers
// must pass. If a has a method Brief, each kernel runs with one dtype.
func Same(t *testing.T, a, b driver.Backend) {
	elementwise := []int{140, 1001}
	for _, d := range dtypes {
		for code := driver.Code(0); code < driver.Optional; code++ {
			if code == driver.Matmul || code >= driver.Gather && code <= driver.ArgSort { // compared with loops, bit for bit
				continue
			}
			if (int(code)+int(d))%brief(a, 6) != 0 {
				continue
			}
			src := make([][]int, operands(code))
			for i := range src {
				src[i] = elementwise
			}
			dst := [][]int{elementwise}
			if code >= driver.Sum && code <= driver.ReduceMin {
				dst = [][]int{{1, 1}, {140, 1}, {1, 1001}}
			}
			for _, dst := range dst {
				sameBits(t, a, b, driver.Kernel{Code: code, Alpha: 1.5, Beta: 0.5}, d, dst, src...)
			}
		}
		for _, s := range [][3]int{{150, 130, 1100}, {9, 500, 1500}, {1000, 3, 600}} {
			m, n, k := s[0], s[1], s[2]
			sameBits(t, a, b, driver.Kernel{Code: driver.Matmul}, d, []int{m, n}, []int{m, k}, []int{k, n}, []int{m, n})
		}
		contract := driver.Kernel{Code: driver.Contract, Params: driver.ContractParams{Rows: 1, Columns: 3, Sum: 3}}
		sameBits(t, a, b, contract, d, []int{70, 2, 40, 40}, []int{70, 20, 3, 3}, []int{20, 3, 3, 2, 40, 40})
		sameBits(t, a, b, contract, d, []int{30, 20, 3, 3}, []int{30, 2, 40, 40}, []int{2, 40, 40, 20, 3, 3})
		for _, list := range [][][]int{{elementwise}, {elementwise, elementwise}} {
			k := driver.Kernel{Code: driver.SGD, Params: driver.SGDParams{Rate: 0.1, Momentum: 0.9}}
			sameBits(t, a, b, k, d, elementwise, list...)
		}
	}
}

// sameBits runs k once on a and twice on b. The second run on b uses warm buffers and workers.
func sameBits(t *testing.T, a, b driver.Backend, k driver.Kernel, d driver.DType, shape []int, srcShapes ...[]int) {
	t.Helper()
	list := make([]driver.DType, len(srcShapes))
	for i := range list {
		list[i] = d
	}
	numbers := make([]byte, 4099*d.Size())
	for i, x := range random(4099) {
		encode(numbers[i*d.Size():], d, x)
	}
	filled := func(b driver.Backend, shape []int, first int) driver.View {
		v := newView(t, b, d, shape, dense)
		p := make([]byte, v.Len()*d.Size())
		for i := 0; i < len(p); {
			i += copy(p[i:], numbers[first*d.Size():])
			first = 0
		}
		b.Write(v.Buffer, 0, p)
		return v
	}
	var first []byte
	for i, backend := range []driver.Backend{a, b, b} {
		if !backend.Offers(k.Code, d, list...) {
			return
		}
		dst := filled(backend, shape, 0)
		src := make([]driver.View, len(srcShapes))
		for j, s := range srcShapes {
			src[j] = filled(backend, s, j+1)
		}
		backend.Run(k, dst, src...)
		got := make([]byte, dst.Buffer.Bytes())
		backend.Read(got, dst.Buffer, 0)
		if i == 0 {
			first = got
			continue
		}
		if !bytes.Equal(got, first) {
			t.Errorf("%s: run %d: the bits differ from the first run's", name(k.Code, d, srcShapes), i)
		}
	}
}
