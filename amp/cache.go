package amp

import "halfnote/tensor"

// cache holds the casts of weights while the outermost region is open, so that a
// weight used twice is cast once. All uses then share one cast node, and their
// gradients are summed in the low dtype before they are cast back.
//
// The rule is torch's since PR 165068, with two improvements: an entry belongs to
// a dtype, so that nested regions of two dtypes do not mix, and one whose weight
// has been changed in place is cast again.
type cache struct {
	entries map[key]entry
}

type key struct {
	weight *tensor.Tensor
	to     tensor.DType
}

type entry struct {
	cast    *tensor.Tensor
	version int
}

func newCache() *cache { return &cache{entries: map[key]entry{}} }

// cacheable reports whether t is a weight: a float32 leaf that requires grad and
// is no view.
func cacheable(t *tensor.Tensor) bool {
	return t.DType() == tensor.Float32 && t.RequiresGrad() && t.IsLeaf() && !t.IsView()
}

func (c *cache) cast(t *tensor.Tensor, to tensor.DType) *tensor.Tensor {
	k := key{t, to}
	if e, ok := c.entries[k]; ok && e.version == t.Version() {
		return e.cast
	}
	var y *tensor.Tensor
	// With gradient recording on, even under NoGrad: the entry serves later uses
	// that need its history.
	tensor.EnableGrad(func() { y = t.To(to) })
	c.entries[k] = entry{y, t.Version()}
	return y
}

// clear forgets all casts.
func (c *cache) clear() { clear(c.entries) }
