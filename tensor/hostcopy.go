package tensor

// origin is the CPU tensor that integers on a device were copied from: class numbers, token
// ids, masks. While neither has changed, they are read on the CPU, without synchronising with
// the device.
type origin struct {
	of             *Tensor // contiguous source on the CPU, of the copy's shape
	version, copys int64   // versions of both when the copy was made
}

// remember records that y is a copy of x on another device.
func (y *Tensor) remember(x *Tensor) {
	if x.Device() == CPU && !x.dtype.IsFloat() {
		x.share()
		y.mem.origin = &origin{x, x.mem.version.Load(), y.mem.version.Load()}
	}
}

// nearest returns the CPU tensor that t was copied from, if there is one that still has t's
// elements, otherwise t.
func (t *Tensor) nearest() *Tensor {
	o := t.mem.origin
	if o == nil || t.replayed() || o.of.mem.version.Load() != o.version || t.mem.version.Load() != o.copys || o.of.dtype != t.dtype {
		return t
	}
	return o.of.alias(o.of.offset+t.offset, t.shape, t.stride)
}

// brought returns new CPU integers on the default device.
func (t *Tensor) brought() *Tensor {
	if b := here(); b != t.mem.backend {
		return clone{from: CPU, to: Device(b.Name())}.Forward([]*Tensor{t})
	}
	return t
}
