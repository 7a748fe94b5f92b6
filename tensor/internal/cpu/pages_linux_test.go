package cpu

import (
	"fmt"
	"os"
	"testing"

	"halfnote/tensor/driver"
)

// TestMappedMemoryIsReturned checks that large released buffers are returned to the operating system,
// and that new ones hold zeros.
func TestMappedMemoryIsReturned(t *testing.T) {
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
	others := driver.Mapped()
	for range 2 {
		x := allocated(t, b, n-100)
		for i, w := range x.words {
			if w != 0 {
				t.Fatalf("word %d of new memory: got %d, want 0", i, w)
			}
			x.words[i] = uint64(i) + 1
		}
		before := resident()
		b.Release(x)
		if got := driver.Mapped() - others; got < n || got > n+n/8 {
			t.Errorf("after a release: got %d mapped bytes, want %d to %d", got, n, n+n/8)
		}
		b.free.trim(0)
		if got := driver.Mapped() - others; got != 0 {
			t.Errorf("after trim: got %d mapped bytes, want 0", got)
		}
		if freed := before - resident(); freed < n/4*3 {
			t.Errorf("after trim: the resident memory shrank by %d bytes, want at least %d", freed, n/4*3)
		}
	}
}
