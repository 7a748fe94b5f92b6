package cpu

import (
	"unsafe"

	"halfnote/tensor/driver"
)

// result is where a gemm's sums go, with the bias that is added to them.
type result struct {
	base    unsafe.Pointer // of the buffer
	batch   layout
	dtype   driver.DType
	size    int              // bytes of an element
	row     int              // bytes from row to row
	m, n    int              // of a matrix
	strided *writer[float32] // where columns do not lie side by side
	bias    *reader[float32]
	repeats bool // the bias is the same in all rows of a matrix
}

func resultOf(dst driver.View, bias []driver.View) result {
	r := len(dst.Shape)
	d := result{
		base: baseOf(dst), batch: batchOf(dst), dtype: dst.DType, size: dst.DType.Size(),
		m: dst.Shape[r-2], n: dst.Shape[r-1],
	}
	d.row = dst.Stride[r-2] * d.size
	if dst.Stride[r-1] != 1 && dst.Shape[r-1] != 1 {
		w := write[float32](dst)
		d.strided = &w
	}
	if len(bias) == 1 {
		b := read[float32](bias[0])
		d.bias, d.repeats = &b, bias[0].Stride[r-2] == 0
	}
	return d
}

// at returns where an element lies.
func (d *result) at(batch, i, j int) unsafe.Pointer {
	return unsafe.Add(d.base, (d.batch.index(batch)+j)*d.size+i*d.row)
}

// place returns where sums may be put at once, and the bytes from row to row, if they
// may.
func (d *result) place(batch, i, j int) (c unsafe.Pointer, ldc int, ok bool) {
	if d.dtype != driver.Float32 || d.bias != nil || d.strided != nil {
		return nil, 0, false
	}
	return d.at(batch, i, j), d.row, true
}

// put adds the bias to rows of sums, ld apart, rounds them and sets the elements from
// row i and column j on.
func (d *result) put(batch, i, j int, sums []float32, ld, cols int) {
	var room [stripCols]float32
	var bias []float32
	for first := i; len(sums) > 0; sums, i = sums[min(ld, len(sums)):], i+1 {
		row, lo := sums[:cols], (batch*d.m+i)*d.n+j
		if d.bias != nil {
			if i == first || !d.repeats {
				bias = d.bias.at(lo, room[:cols])
			}
			add(row, row, bias, nil, 0, 0)
		}
		switch {
		case d.strided != nil:
			out := d.strided.room(lo, row)
			copy(out, row)
			d.strided.put(lo, out)
		case d.dtype == driver.Float32:
			copy(unsafe.Slice((*float32)(d.at(batch, i, j)), cols), row)
		default:
			narrow(unsafe.Slice((*uint16)(d.at(batch, i, j)), cols), row, d.dtype)
		}
	}
}
