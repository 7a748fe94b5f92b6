package tensor

// Split returns t split along dim into views of size elements; the last may have fewer. It is
// torch.split.
func (t *Tensor) Split(size, dim int) []*Tensor {
	t.given("split")
	d := axis("split", t, dim, len(t.shape))
	n := t.shape[d]
	if size < 0 || size == 0 && n > 0 {
		fail("split", []*Tensor{t}, "size is %d; want at least 1", size)
	}
	if n == 0 {
		return []*Tensor{t}
	}
	var out []*Tensor
	for from := 0; from < n; from += size {
		out = append(out, t.Narrow(d, from, min(size, n-from)))
	}
	return out
}

// SplitSizes returns t split along dim into views of the given sizes, which must add up to the
// size of dim. It is torch.split with a list.
func (t *Tensor) SplitSizes(sizes []int, dim int) []*Tensor {
	t.given("split")
	d := axis("split", t, dim, len(t.shape))
	total := 0
	for _, s := range checkShape("split", sizes) {
		total += s
	}
	if total != t.shape[d] {
		fail("split", []*Tensor{t}, "sizes %v add up to %d; want %d, the size of dimension %d", sizes, total, t.shape[d], d)
	}
	out := hostViews("split", len(sizes))
	from := 0
	for i, s := range sizes {
		pollAt(i)
		out[i] = t.Narrow(d, from, s)
		from += s
	}
	return out
}

// Chunk returns t split along dim into views of equal size, as many as chunks; the last may
// be smaller, and there may be fewer. It is torch.chunk.
func (t *Tensor) Chunk(chunks, dim int) []*Tensor {
	t.given("chunk")
	d := axis("chunk", t, dim, len(t.shape))
	if chunks < 1 {
		fail("chunk", []*Tensor{t}, "chunks is %d; want at least 1", chunks)
	}
	if t.shape[d] == 0 {
		return t.TensorSplit(chunks, d)
	}
	return t.Split((t.shape[d]+chunks-1)/chunks, d)
}

// TensorSplit returns t split along dim into n views whose sizes differ by at most 1, the
// larger ones first. It is torch.tensor_split.
func (t *Tensor) TensorSplit(n, dim int) []*Tensor {
	t.given("tensor_split")
	d := axis("tensor_split", t, dim, len(t.shape))
	if n < 1 {
		fail("tensor_split", []*Tensor{t}, "n is %d; want at least 1", n)
	}
	sizes := hostSlice[int]("split", n)
	for i := range sizes {
		pollAt(i)
		sizes[i] = t.shape[d] / n
		if i < t.shape[d]%n {
			sizes[i]++
		}
	}
	return t.SplitSizes(sizes, d)
}

// Unbind returns views of the elements along dim, which is removed. It is
// torch.unbind.
func (t *Tensor) Unbind(dim int) []*Tensor {
	t.given("unbind")
	d := axis("unbind", t, dim, len(t.shape))
	out := hostViews("unbind", t.shape[d])
	for i := range out {
		pollAt(i)
		out[i] = t.Select(d, i)
	}
	return out
}
