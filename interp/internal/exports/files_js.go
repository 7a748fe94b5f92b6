package exports

import (
	"cmp"
	"os"
)

// docs are the files with the texts of declarations, which the program of a page reads from its site.
var docs = os.DirFS(cmp.Or(os.Getenv("HALFNOTE_DATA"), "/site"))

// packedDocs ends the names of the compressed ones: a server of the site would unpack a file whose name ends with .gz.
const packedDocs = ".docs"
