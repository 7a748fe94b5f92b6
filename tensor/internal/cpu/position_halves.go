package cpu

import (
	"halfnote/tensor/driver"
	"halfnote/tensor/internal/half"
)

// scatterAddHalves is [driver.ScatterAdd] of halves. The sum of each element of dst and of what is
// added to it is computed in float32, in the order of x, and rounded once.
func (b *Backend) scatterAddHalves(axis int, dst, x, index driver.View) {
	lanes := iterOf(x.Shape, axis, dst, x, index)
	inner := lanes.inner()
	switch {
	case x.Len() == 0:
	case x.Shape[axis] == 1:
		b.addOnce(lanes, axis, dst, x, index)
	case inner[0] == 1 && inner[1] == 1 && lanes.len() >= 4*fast && onePosition(lanes):
		b.addRowsOfHalves(lanes, axis, dst, x, index)
	default:
		wide, from := b.widened(dst), b.widened(x)
		scatterAt(b, axis, wide, from, index, scatterOpOf[float32](driver.ScatterAdd))
		b.copy(dst, wide)
		b.Release(wide.Buffer)
		b.Release(from.Buffer)
	}
}

// onePosition reports whether all lanes have the positions of the first, which the third view holds.
func onePosition(lanes multiIter) bool {
	for _, s := range lanes.stride {
		if s[2] != 0 {
			return false
		}
	}
	return true
}

// widened returns a copy of v in float32.
func (b *Backend) widened(v driver.View) driver.View {
	n := v.Len()
	buffer, err := b.AllocUnset(4 * n)
	if err != nil {
		panic(err)
	}
	w := driver.View{Buffer: buffer, DType: driver.Float32, Shape: v.Shape, Stride: make([]int, len(v.Shape))}
	for i, step := len(v.Shape)-1, 1; i >= 0; i-- {
		w.Stride[i], step = step, step*v.Shape[i]
	}
	b.copy(w, v)
	return w
}

// addOnce adds one element to each element of dst that is added to at all.
func (b *Backend) addOnce(lanes multiIter, axis int, dst, x, index driver.View) {
	to, from, positions := elements[uint16](bufferOf(dst.Buffer)), elements[uint16](bufferOf(x.Buffer)), elements[int64](bufferOf(index.Buffer))
	widen, narrow := half.FromFloat16, half.ToFloat16
	if dst.DType == driver.BFloat16 {
		widen, narrow = half.FromBFloat16, half.ToBFloat16
	}
	inner := lanes.inner()
	step := dst.Stride[axis]
	b.ranges(lanes.len(), copyItem, func(lo, hi int) {
		const most = 64 // elements that are converted together
		var places [most]int
		var sums, terms [most]uint16
		var wide, add [most]float32
		lanes.runs(lo, hi, func(at viewOffsets, count int) {
			for ; count > 0; count -= most {
				n := min(count, most)
				for i := range n {
					places[i] = at[0] + int(positions[at[2]])*step
					sums[i], terms[i] = to[places[i]], from[at[1]]
					for v := range at {
						at[v] += inner[v]
					}
				}
				widen(wide[:], sums[:n])
				widen(add[:], terms[:n])
				for i := range n {
					wide[i] += add[i]
				}
				narrow(sums[:], wide[:n])
				for i := range n {
					to[places[i]] = sums[i]
				}
			}
		})
	})
}

// addRowsOfHalves adds rows of x, which all lanes share the positions of. It takes all rows that go
// to one position together, so that only the rows of dst that are added to are read.
func (b *Backend) addRowsOfHalves(lanes multiIter, axis int, dst, x, index driver.View) {
	to, from, positions := elements[uint16](bufferOf(dst.Buffer)), elements[uint16](bufferOf(x.Buffer)), elements[int64](bufferOf(index.Buffer))
	n := x.Shape[axis]
	position := func(i int) int { return int(positions[index.Offset+i*index.Stride[axis]]) }
	next := make([]int32, n)                     // the next row with the position of row i, 0 for none
	last := make([]int32, dst.Shape[axis])       // 1 + the last row so far with a position, 0 for none
	first := make([]int32, 0, min(n, len(last))) // the first row of each position
	for i := range n {
		p := position(i)
		if last[p] == 0 {
			first = append(first, int32(i))
		} else {
			next[last[p]-1] = int32(i)
		}
		last[p] = int32(i + 1)
	}
	each := max(1, copyItem/4/lanes.len())
	b.eachPolling((len(first)+each-1)/each, func(item int, poll func()) {
		withScratch(func(s *scratch[float32]) {
			done := 0
			for _, i := range first[item*each : min(len(first), (item+1)*each)] {
				base := position(int(i)) * dst.Stride[axis]
				lanes.runs(0, lanes.len(), func(at viewOffsets, count int) {
					for lo := 0; lo < count; lo += chunk {
						m := min(chunk, count-lo)
						sum, row, d := s.out[:m], s.in[0][:m], to[base+at[0]+lo:][:m]
						widen(sum, d, dst.DType)
						for j := i; ; j = next[j] {
							widen(row, from[at[1]+lo+int(j)*x.Stride[axis]:][:m], x.DType)
							add(sum, sum, row, nil, 0, 0)
							if done += m; done > copyItem {
								done = 0
								poll()
							}
							if next[j] == 0 {
								break
							}
						}
						narrow(d, sum, dst.DType)
					}
				})
			}
		})
	})
}
