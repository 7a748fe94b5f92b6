package exports

// Preloaded maps the names of packages that cells use without importing them to their
// paths. An unused package costs nothing, and a declaration in a cell hides the
// package.
var Preloaded = map[string]string{
	"amp":        "halfnote/amp",
	"apex":       "halfnote/amp/apex",
	"autograd":   "halfnote/tensor/autograd",
	"chart":      "halfnote/display/chart",
	"cuda":       "halfnote/cuda",
	"data":       "halfnote/tensor/data",
	"diagnose":   "halfnote/amp/diagnose",
	"display":    "halfnote/display",
	"dist":       "halfnote/dist",
	"exercise":   "halfnote/notebooks/exercise",
	"experiment": "halfnote/amp/experiment",
	"fmt":        "fmt",
	"fp8":        "halfnote/amp/fp8",
	"math":       "math",
	"nn":         "halfnote/tensor/nn",
	"optim":      "halfnote/tensor/optim",
	"quant":      "halfnote/tensor/quant",
	"rand":       "math/rand",
	"roofline":   "halfnote/amp/roofline",
	"sort":       "sort",
	"strings":    "strings",
	"tensor":     "halfnote/tensor",
	"time":       "time",
	"trace":      "halfnote/amp/trace",
	"widget":     "halfnote/display/widget",
}
