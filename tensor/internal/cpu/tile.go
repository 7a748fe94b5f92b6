package cpu

// tile sets c[i*ld + j], i < tileRows, j < tileCols, to the sum s[i*tileCols + j].
func tile[T number](c []T, ld int, s [tileRows * tileCols]T) {
	for i := range tileRows {
		row := c[i*ld:][:tileCols]
		row[0], row[1] = s[2*i], s[2*i+1]
	}
}

// addTile is tile, but adds to c.
func addTile[T number](c []T, ld int, s [tileRows * tileCols]T) {
	for i := range tileRows {
		row := c[i*ld:][:tileCols]
		row[0], row[1] = row[0]+s[2*i], row[1]+s[2*i+1]
	}
}

// tiled returns a function that sets c to the result of sums or, unless first is set,
// adds it to c.
func tiled[T number](sums func(x, y []T) [tileRows * tileCols]T) func(c []T, ld int, first bool, x, y []T) {
	return func(c []T, ld int, first bool, x, y []T) {
		if first {
			tile(c, ld, sums(x, y))
		} else {
			addTile(c, ld, sums(x, y))
		}
	}
}

// sums returns, for i < tileRows and j < tileCols, the sum over k of x[k*tileRows + i]
// * y[k*tileCols + j], k ascending from a sum of 0, as element i*tileCols + j. Eight sums and their factors fit in the registers. T(a*b) + c keeps the compiler from fusing multiplication and addition.
func sums[T number](x, y []T) [tileRows * tileCols]T {
	var s00, s01, s10, s11, s20, s21, s30, s31 T
	for len(y) >= 4*tileCols && len(x) >= 4*tileRows {
		a, b := (*[4 * tileRows]T)(x), (*[4 * tileCols]T)(y)
		{
			b0, b1 := b[0], b[1]
			s00, s01 = T(a[0]*b0)+s00, T(a[0]*b1)+s01
			s10, s11 = T(a[1]*b0)+s10, T(a[1]*b1)+s11
			s20, s21 = T(a[2]*b0)+s20, T(a[2]*b1)+s21
			s30, s31 = T(a[3]*b0)+s30, T(a[3]*b1)+s31
		}
		{
			b0, b1 := b[2], b[3]
			s00, s01 = T(a[4]*b0)+s00, T(a[4]*b1)+s01
			s10, s11 = T(a[5]*b0)+s10, T(a[5]*b1)+s11
			s20, s21 = T(a[6]*b0)+s20, T(a[6]*b1)+s21
			s30, s31 = T(a[7]*b0)+s30, T(a[7]*b1)+s31
		}
		{
			b0, b1 := b[4], b[5]
			s00, s01 = T(a[8]*b0)+s00, T(a[8]*b1)+s01
			s10, s11 = T(a[9]*b0)+s10, T(a[9]*b1)+s11
			s20, s21 = T(a[10]*b0)+s20, T(a[10]*b1)+s21
			s30, s31 = T(a[11]*b0)+s30, T(a[11]*b1)+s31
		}
		{
			b0, b1 := b[6], b[7]
			s00, s01 = T(a[12]*b0)+s00, T(a[12]*b1)+s01
			s10, s11 = T(a[13]*b0)+s10, T(a[13]*b1)+s11
			s20, s21 = T(a[14]*b0)+s20, T(a[14]*b1)+s21
			s30, s31 = T(a[15]*b0)+s30, T(a[15]*b1)+s31
		}
		x, y = x[4*tileRows:], y[4*tileCols:]
	}
	for len(y) >= tileCols && len(x) >= tileRows {
		a, b := (*[tileRows]T)(x), (*[tileCols]T)(y)
		s00, s01 = T(a[0]*b[0])+s00, T(a[0]*b[1])+s01
		s10, s11 = T(a[1]*b[0])+s10, T(a[1]*b[1])+s11
		s20, s21 = T(a[2]*b[0])+s20, T(a[2]*b[1])+s21
		s30, s31 = T(a[3]*b[0])+s30, T(a[3]*b[1])+s31
		x, y = x[tileRows:], y[tileCols:]
	}
	return [...]T{s00, s01, s10, s11, s20, s21, s30, s31}
}
