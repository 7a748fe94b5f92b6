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
