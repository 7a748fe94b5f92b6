package tensor

import "slices"

// Repeat returns t repeated repeats[i] times along dimension i. More repeats than dimensions add
// dimensions in front. It is torch.Tensor.repeat.
func (t *Tensor) Repeat(repeats ...int) *Tensor {
	t.given("repeat")
	shift := len(repeats) - len(t.shape)
	if shift < 0 {
		fail("repeat", []*Tensor{t}, "repeats has length %d; want at least %d, one for each dimension", len(repeats), len(t.shape))
	}
	checkShape("repeat", repeats)
	// The sizes are pairs (n, s): n is the number of repeats and s is t's size.
	apart, spread, joined := make([]int, 2*len(repeats)), make([]int, 2*len(repeats)), make([]int, len(repeats))
	for i, n := range repeats {
		s := 1
		if i >= shift {
			s = t.shape[i-shift]
		}
		apart[2*i], apart[2*i+1] = 1, s
		spread[2*i], spread[2*i+1] = n, s
		joined[i] = n * s
	}
	return t.Reshape(apart...).expandTo(spread).Reshape(joined...)
}

// Tile is Repeat with repeats extended by ones in front where t has more dimensions. It is
// torch.tile.
func (t *Tensor) Tile(repeats ...int) *Tensor {
	t.given("tile")
	all := slices.Clone(repeats)
	for len(all) < len(t.shape) {
		all = slices.Insert(all, 0, 1)
	}
	return t.Repeat(all...)
}

// RepeatInterleave returns t with each slice along dim repeated repeats times in a row. It is
// torch.repeat_interleave.
func (t *Tensor) RepeatInterleave(repeats, dim int) *Tensor {
	t.given("repeat_interleave")
	d := axis("repeat_interleave", t, dim, len(t.shape))
	if repeats < 0 {
		fail("repeat_interleave", []*Tensor{t}, "repeats is %d; want at least 0", repeats)
	}
	spread := slices.Insert(t.Shape(), d+1, repeats)
	joined := t.Shape()
	joined[d] *= repeats
	return t.Unsqueeze(d + 1).expandTo(spread).Reshape(joined...)
}

// RepeatInterleaveEach is RepeatInterleave with a count for each slice: repeats is a vector of
// integers.
func (t *Tensor) RepeatInterleaveEach(repeats *Tensor, dim int) *Tensor {
	given("repeat_interleave", t, repeats)
	d := axis("repeat_interleave", t, dim, len(t.shape))
	if len(repeats.shape) != 1 || repeats.shape[0] != t.shape[d] || repeats.dtype.IsFloat() {
		fail("repeat_interleave", []*Tensor{t, repeats}, "repeats has dtype %v; want %d integers, one for each slice along dimension %d", repeats.dtype, t.shape[d], d)
	}
	each, total := repeats.Int64s(), int64(0)
	for i, n := range each {
		if n < 0 || n > 1<<40 {
			fail("repeat_interleave", []*Tensor{t, repeats}, "%d repeats of slice %d; want at least 0, and a result that fits into memory", n, i)
		}
		total += n
	}
	list := hostSlice[int64]("repeat_interleave", int(total))[:0]
	for i, n := range each {
		for range n {
			pollAt(len(list))
			list = append(list, int64(i))
		}
	}
	return t.IndexSelect(d, FromInt64s(list).ToDevice(t.Device()))
}
