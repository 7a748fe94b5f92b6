//go:build cuda && linux && cgo

package gpu

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	_ "halfnote/tensor"
	"halfnote/tensor/driver"
)

// pair runs kernels on the CPU and on a GPU with the same operands.
type pair struct {
	*testing.T
	cpu, gpu driver.Backend
	random   *rand.Rand
}

func newPair(t *testing.T) *pair {
	return &pair{t, driver.Lookup("cpu"), open(t), rand.New(rand.NewPCG(1, 2))}
}

// twin is a view on each backend.
type twin struct{ cpu, gpu driver.View }

// view returns views of buffers of n elements with random bits. Bools are 0 or 1, and if limit is
// not 0, elements are integers below it.
func (p *pair) view(d driver.DType, n, limit, offset int, shape, stride []int) twin {
	p.Helper()
	bytes := make([]byte, n*d.Size()+8)
	for i := range n {
		bits := p.random.Uint64()
		switch {
		case limit > 0:
			bits %= uint64(limit)
		case d == driver.Bool:
			bits &= 1
		case d == driver.Float32 && i%2 == 0: // magnitudes from 0.5 to 8, so that sums round
			bits = bits&0x807fffff | 0x3f000000 + bits>>40&3<<23
		}
		binary.NativeEndian.PutUint64(bytes[i*d.Size():], bits)
	}
	bytes = bytes[:n*d.Size()]
	var t twin
	for b, v := range map[driver.Backend]*driver.View{p.cpu: &t.cpu, p.gpu: &t.gpu} {
		buffer, err := b.Alloc(len(bytes))
		if err != nil {
			p.Fatal(err)
		}
		b.Write(buffer, 0, bytes)
		*v = driver.View{Buffer: buffer, DType: d, Offset: offset, Shape: shape, Stride: stride}
	}
	return t
}

// run runs k on both backends.
func (p *pair) run(k driver.Kernel, dst twin, src ...twin) {
	var cpu, gpu []driver.View
	for _, t := range src {
		cpu, gpu = append(cpu, t.cpu), append(gpu, t.gpu)
	}
	p.cpu.Run(k, dst.cpu, cpu...)
	p.gpu.Run(k, dst.gpu, gpu...)
}

// same compares the bits of whole buffers. All NaN are equal.
func (p *pair) same(what string, t twin) {
	p.Helper()
	want, got := make([]byte, t.cpu.Buffer.Bytes()), make([]byte, t.cpu.Buffer.Bytes())
	p.cpu.Read(want, t.cpu.Buffer, 0)
	p.gpu.Read(got, t.gpu.Buffer, 0)
	d := t.cpu.DType
	size := d.Size()
	number := func(b []byte, i int) (x uint64) {
		for j := range size {
			x |= uint64(b[i*size+j]) << (8 * j)
		}
		return x
	}
	for i := range len(got) / size {
		w, g := number(want, i), number(got, i)
		if w != g && !(isNaN(d, w) && isNaN(d, g)) {
			p.Errorf("%s: element %d of the buffer: got %#x, want %#x", what, i, g, w)
			return
		}
	}
}

func isNaN(d driver.DType, bits uint64) bool {
	f, ok := formats[d]
	return ok && bits&f.magnitude >= f.nan
}
