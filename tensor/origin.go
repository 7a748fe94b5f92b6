package tensor

// origin is what integers on a device were copied from: class numbers, token ids, masks.
// While neither has changed they are read there, and nobody waits for the device.
type origin struct {
	of             *Tensor // without gaps, of the copy's shape, on the CPU
	version, copys int64   // of both when the copy was made
}

// remember notes that y is a copy of x on another device.
func (y *Tensor) remember(x *Tensor) {
	if x.Device() == CPU && !x.dtype.IsFloat() {
		y.mem.origin = &origin{x, x.mem.version.Load(), y.mem.version.Load()}
	}
}

// nearest returns t, or what it was copied from if that is on the CPU and has t's elements
// still.
func (t *Tensor) nearest() *Tensor {
	o := t.mem.origin
	if o == nil || t.replayed() || o.of.mem.version.Load() != o.version || t.mem.version.Load() != o.copys || o.of.dtype != t.dtype {
		return t
	}
	return o.of.alias(o.of.offset+t.offset, t.shape, t.stride)
}

// brought returns new integers of the CPU on the default device.
func (t *Tensor) brought() *Tensor {
	if b := here(); b != t.mem.backend {
		return clone{from: CPU, to: Device(b.Name())}.Forward([]*Tensor{t})
	}
	return t
}
