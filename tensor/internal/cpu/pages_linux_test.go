package cpu

import (
	"fmt"
	"os"
	"testing"
)

// Vast memory is the system's again as soon as it is kept no more, and what is taken
// afresh holds zeros.
func TestVastMemoryIsGivenBack(t *testing.T) {
	resident := func() (bytes int) {
		var all, here int
		text, err := os.ReadFile("/proc/self/statm")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscan(string(text), &all, &here); err != nil {
			t.Fatal(err)
		}
		return here * os.Getpagesize()
	}
	const n = 32 << 20
	b := New(2)
	for range 2 {
		x := allocated(t, b, n-100)
		for i, w := range x.words {
			if w != 0 {
				t.Fatalf("word %d of fresh memory is %d; want 0", i, w)
			}
			x.words[i] = uint64(i) + 1
		}
		before := resident()
		b.Release(x)
		if got := b.Memory().Mapped; got < n || got > n+n/8 {
			t.Errorf("%d bytes are beside Go's heap; want %d or somewhat more", got, n)
		}
		b.free.trim(0)
		if got := b.Memory().Mapped; got != 0 {
			t.Errorf("%d bytes are beside Go's heap after all were given back", got)
		}
		if freed := before - resident(); freed < n/4*3 {
			t.Errorf("of %d bytes %d were freed", n, freed)
		}
	}
}
