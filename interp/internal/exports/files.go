//go:build !js

package exports

import "embed"

//go:embed z
var files embed.FS

// docs are the files with the texts of declarations.
var docs = files

// packedDocs ends the names of the compressed ones.
const packedDocs = ".docs.gz"
