package install

import _ "embed"

// The logo is a white half note on a tile in the colours of float32 and float16 in charts.
var (
	//go:embed logo/logo-svg.svg
	logoSVG []byte
	//go:embed logo/logo-32x32.png
	logo32 []byte
	//go:embed logo/logo-64x64.png
	logo64 []byte
)
