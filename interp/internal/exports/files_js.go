package exports

import (
	"cmp"
	"io/fs"
	"os"
)

// docs are the files with the texts of declarations, which the program of a page reads from its site.
var docs fs.FS = os.DirFS(cmp.Or(os.Getenv("HALFNOTE_DATA"), "/site"))

// packedDocs ends the names of the compressed ones: a server of the site would unpack a file whose name ends with .gz.
const packedDocs = ".docs"
