//go:build linux && (amd64 || arm64) && go1.26 && !go1.28

package loader

import "testing"

// TestRooms checks that memory for units takes at most a third of few addresses, and 512 MiB of data where there are many.
func TestRooms(t *testing.T) {
	for _, left := range []int{0, 64 << 20, 300 << 20, 1 << 30, 100 << 30} {
		text, data, table := rooms(left)
		total := 2*text + data + 5*table + text/textAlign*8 + text/bucketSize*20 + data/wordsPerMask
		if left > 0 && total > left/3 {
			t.Errorf("%d bytes left: takes %d", left, total)
		}
		if (left == 0 || left >= 100<<30) && data != 512<<20 || text%(1<<20) != 0 || left >= 64<<20 && text == 0 {
			t.Errorf("%d bytes left: got %d, %d, %d", left, text, data, table)
		}
	}
}
