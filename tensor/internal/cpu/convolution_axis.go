package cpu

import "halfnote/tensor/internal/asm"

// windowAxis is an axis of places.
type windowAxis struct {
	size, kernel             int    // elements of an image and of the kernel
	meets                    []span // the kernel elements that meet the image, for each place
	stride, dilation, before int    // those of a [driver.Window]
}

// span is the numbers first … end-1.
type span struct{ first, end int }

func (s span) len() int { return s.end - s.first }

// axisOf returns the index of axis i of dims in [convolution].axes: the last axis is the last one there, and of several
// axes the first is the first one there.
func axisOf(i, dims int) int {
	if i == 0 && dims > 1 {
		return 0
	}
	return i + windowAxes - dims
}

// meet sets the kernel elements that meet the image at a number of places, and returns their sum. ok is false if a
// place has none.
func (a *windowAxis) meet(places int) (sum int, ok bool) {
	a.meets = make([]span, places)
	for p := range a.meets {
		m := span{a.kernel, 0}
		for k := range a.kernel {
			if at := a.at(p, k); at >= 0 && at < a.size {
				m.first, m.end = min(m.first, k), k+1
			}
		}
		if m.first >= m.end {
			return 0, false
		}
		a.meets[p] = m
		sum += m.len()
	}
	return sum, true
}

// at returns the element of an image that a kernel element meets at a place. It may be outside the image.
func (a *windowAxis) at(place, k int) int { return place*a.stride + k*a.dilation - a.before }

// elements returns the elements of an image that places meet.
func (a *windowAxis) elements(places span) span {
	s := span{a.size, 0}
	for p := places.first; p < places.end; p++ {
		m := a.meets[p]
		for _, at := range []int{a.at(p, m.first), a.at(p, m.end-1)} {
			s.first, s.end = min(s.first, at), max(s.end, at+1)
		}
	}
	return s
}

// windowTile is a tile of one place, or of two places that meet the same kernel elements.
type windowTile struct {
	meets         [windowAxes]span
	columns       int // number of places
	place         int // the first place, counted from the first one of the band
	element       int // element of the copy that the first kernel element meets there, if it meets one
	apart, apartC int // bytes from the first place to the second one, in the copy and in the results
	taps          []asm.Tap
	zero          uint32
}

// tiles sets the tiles of a band, with these places of the first axis, for a copy that starts at element first of that axis.
func (c *convolution) tiles(room *windowRoom, rows span, first int) {
	ax := &c.axes
	room.tiles, room.single = room.tiles[:0], room.single[:0]
	place := 0
	for p0 := rows.first; p0 < rows.end; p0++ {
		for p1 := range ax[1].meets {
			for p2 := range ax[2].meets {
				room.add(c, windowTile{
					meets: [windowAxes]span{ax[0].meets[p0], ax[1].meets[p1], ax[2].meets[p2]}, columns: 1, place: place,
					element: ((ax[0].at(p0, 0)-first)*ax[1].size+ax[1].at(p1, 0))*ax[2].size + ax[2].at(p2, 0),
				})
				place++
			}
		}
	}
	room.taps = room.taps[:0]
	for i := range room.tiles {
		t := &room.tiles[i]
		start := len(room.taps)
		room.taps, t.zero = c.appendTaps(room.taps, t)
		t.taps = room.taps[start:]
	}
}

// add adds a tile of one place, to another one that meets the same kernel elements if there is one.
func (r *windowRoom) add(c *convolution, t windowTile) {
	for i := len(r.single) - 1; i >= 0; i-- {
		other := &r.tiles[r.single[i]]
		if other.meets == t.meets {
			other.columns, other.apart, other.apartC = 2, (t.element-other.element)*c.pixel, (t.place-other.place)*windowLine
			r.single = append(r.single[:i], r.single[i+1:]...)
			return
		}
	}
	r.single = append(r.single, len(r.tiles))
	r.tiles = append(r.tiles, t)
}

// appendTaps appends the taps of a tile, and returns its [asm.Window].Zero.
func (c *convolution) appendTaps(taps []asm.Tap, t *windowTile) (_ []asm.Tap, zero uint32) {
	ax, m := &c.axes, &t.meets
	next := 0
	for k0 := m[0].first; k0 < m[0].end; k0++ {
		for k1 := m[1].first; k1 < m[1].end; k1++ {
			for k2 := m[2].first; k2 < m[2].end; k2++ {
				k := (k0*ax[1].kernel+k1)*ax[2].kernel + k2
				at := t.element + (k0*ax[0].dilation*ax[1].size+k1*ax[1].dilation)*ax[2].size + k2*ax[2].dilation
				tap := asm.Tap{A: k * c.weight.tap, B: at * c.pixel}
				if k > next {
					tap.Gap = 1
				}
				taps, next = append(taps, tap), k+1
			}
		}
	}
	if next < c.taps {
		return taps, 0
	}
	return taps, asm.MinusZero
}
