package nn

import (
	"halfnote/internal/plumbing"
	"halfnote/tensor"
)

var (
	marks     = plumbing.Of[plumbing.Marks[*tensor.Tensor]]()
	modules   = plumbing.Of[plumbing.Modules]()
	gradients = plumbing.Of[plumbing.Gradients[*tensor.Tensor]]()
)

func init() {
	plumbing.Provide(plumbing.Norms[*tensor.Tensor]{Synchronize: synchronize})
	plumbing.Provide(plumbing.Places[*tensor.Tensor]{Of: placesOf})
}

// functional holds the functions of package tensor that take their settings as options here.
var functional = plumbing.Of[plumbing.Functional[*tensor.Tensor]]()
