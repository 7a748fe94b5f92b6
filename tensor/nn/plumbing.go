package nn

import (
	"halfnote/internal/plumbing"
	"halfnote/tensor"
)

var (
	marks   = plumbing.Of[plumbing.Marks[*tensor.Tensor]]()
	modules = plumbing.Of[plumbing.Modules]()
)

func init() {
	plumbing.Provide(plumbing.Norms[*tensor.Tensor]{Synchronize: synchronize})
	plumbing.Provide(plumbing.Places[*tensor.Tensor]{Of: placesOf})
}
