package drivertest

import (
	"math/bits"
	"testing"

	"halfnote/tensor/driver"
)

// philox is Philox4x32-10 as defined by its authors.
func philox(c [4]uint32, key [2]uint32) [4]uint32 {
	for range 10 {
		a1, a0 := bits.Mul32(0xD2511F53, c[0])
		b1, b0 := bits.Mul32(0xCD9E8D57, c[2])
		c = [4]uint32{b1 ^ c[1] ^ key[0], b0, a1 ^ c[3] ^ key[1], a0}
		key[0] += 0x9E3779B9
		key[1] += 0xBB67AE85
	}
	return c
}

// Bernoullis checks [driver.Bernoulli] if the backend offers it.
func Bernoullis(t *testing.T, b driver.Backend) {
	// The authors' known answers, from the files distributed with Random123.
	if got := philox([4]uint32{}, [2]uint32{}); got != [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8} {
		t.Fatalf("philox of zeros: got %x", got)
	}
	if !b.Offers(driver.Bernoulli, driver.Bool) {
		return
	}
	for _, c := range []struct {
		n         int
		p         float64
		low, high uint32
	}{{0, .5, 1, 2}, {1, .5, 1, 2}, {5, .9, 0xffffffff, 0}, {4099, .9, 3, 0x80000001}, {4100, 0, 1, 2}, {1023, 1, 1, 2}} {
		dst := newView(t, b, driver.Bool, []int{c.n}, dense)
		b.Run(driver.Kernel{Code: driver.Bernoulli, Params: driver.BernoulliParams{P: c.p, Key: [2]uint32{c.low, c.high}}}, dst)
		got := make([]byte, c.n)
		b.Read(got, dst.Buffer, dst.Offset)
		for i, x := range got {
			number := philox([4]uint32{uint32(i / 4)}, [2]uint32{c.low, c.high})[i%4]
			if want := float64(number) < c.p*(1<<32); (x == 1) != want || x > 1 {
				t.Errorf("bernoulli of %v, key %x %x: element %d of %d: got %d, want %v", c.p, c.low, c.high, i, c.n, x, want)
				break
			}
		}
	}
	for _, shape := range [][]int{{3, 1}, {5, 2, 3}, {1, 1}, {0, 2}, {700, 4}} {
		if !b.Offers(driver.BernoulliBits, driver.Int32) {
			return
		}
		for _, short := range []int{0, 1, 6, 31} {
			dst := newView(t, b, driver.Int32, shape, dense)
			words := shape[len(shape)-1]
			n := 32*words - short
			b.Run(driver.Kernel{Code: driver.BernoulliBits, Params: driver.BernoulliParams{P: 0.7, Key: [2]uint32{9, 0xfffffff7}, Row: n}}, dst)
			for w, x := range values(b, dst) {
				want := uint32(0)
				for bit := range min(32, n-w%words*32) {
					i := w/words*n + w%words*32 + bit
					if number := philox([4]uint32{uint32(i / 4)}, [2]uint32{9, 0xfffffff7})[i%4]; float64(number) < 0.7*(1<<32) {
						want |= 1 << bit
					}
				}
				if got := uint32(int32(x)); got != want {
					t.Errorf("bits of rows of %d: word %d: got %#x, want %#x", n, w, got, want)
					break
				}
			}
			checkHoles(t, b, dst)
		}
	}
}
