//go:build !js

package exports

import "embed"

//go:embed z
var files embed.FS
