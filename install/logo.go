package install

import _ "embed"

// The logo is a half note, white on a tile in the two colours that charts give to float32 and
// float16.
var (
	//go:embed logo/logo-svg.svg
	logoSVG []byte
	//go:embed logo/logo-32x32.png
	logo32 []byte
	//go:embed logo/logo-64x64.png
	logo64 []byte
)
