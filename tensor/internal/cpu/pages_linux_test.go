package cpu

import (
	"fmt"
	"os"
	"testing"
)

// Pages that are returned are resident no more, and hold zeros.
func TestReturnPages(t *testing.T) {
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
	words := newWords(32 << 20 / 8)
	for i := range words {
		words[i] = uint64(i) + 1
	}
	before := resident()
	inside := words[3 : len(words)-5] // in the middle of pages
	returnPages(inside)
	if freed := before - resident(); freed < 24<<20 {
		t.Errorf("of 32 MiB %d bytes were freed", freed)
	}
	for i, want := range map[int]uint64{0: 1, 2: 3, len(words) / 2: 0, len(words) - 1: uint64(len(words))} {
		if words[i] != want {
			t.Errorf("word %d is %d; expected %d", i, words[i], want)
		}
	}
}
