//go:build !js

package exports

import (
	"embed"
	"io/fs"
)

//go:embed z
var files embed.FS

// docs are the files with the texts of declarations.
var docs fs.FS = files

// packedDocs ends the names of the compressed ones.
const packedDocs = ".docs.gz"
