//go:build cuda && linux && cgo

package gpu

import "testing"

// TestTilings checks the tilings of the products of ResNet-18's convolutions, for 512 and 128 images
// of 32 by 32. They occupy the whole GPU, and sums of slices take little time.
func TestTilings(t *testing.T) {
	for _, test := range []struct {
		name    string
		m, n, k int
		tile    tile
		slices  int
	}{
		{"3 to 64 channels", 64, 512 << 10, 72, longTile, 1},
		{"64 channels", 64, 512 << 10, 576, longTile, 1},
		{"128 channels", 128, 512 << 8, 1152, largeTile, 1},
		{"256 channels", 256, 512 << 6, 2304, largeTile, 1},
		{"512 channels", 512, 512 << 4, 4608, largeTile, 1},
		{"512 channels, 128 images", 512, 128 << 4, 4608, largeTile, 2},
		{"weights of 3 channels", 64, 72, 512 << 10, smallTile, 128},
		{"weights of 64 channels", 64, 576, 512 << 10, longTile, 85},
		{"weights of 128 channels", 128, 1152, 512 << 8, largeTile, 28},
		{"weights of 256 channels", 256, 2304, 512 << 6, largeTile, 7},
		{"weights of 512 channels", 512, 4608, 512 << 4, largeTile, 2},
		{"weights of 512 channels, 128 images", 512, 4608, 128 << 4, largeTile, 1},
		{"weights of 64 to 128 channels, 1x1", 128, 64, 512 << 8, smallTile, 128},
	} {
		p := product{m: test.m, n: test.n, k: test.k, batches: 1}
		if got := p.tilingOf(busyBlocks, largeTile, longTile, smallTile); got.tile != test.tile || got.slices != test.slices {
			t.Errorf("%s: got tiles of %v and %d slices, want %v and %d", test.name, got.tile, got.slices, test.tile, test.slices)
		}
	}
}
