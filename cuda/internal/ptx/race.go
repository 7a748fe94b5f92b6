package ptx

// cell records the last accesses to a byte of shared memory. Two accesses are ordered if a barrier
// of the block separates them or, within a warp, bar.warp.sync.
type cell struct {
	wrote, read       uint32 // epochs of the block
	wroteWarp         uint32 // epochs of the warp
	readWarp          uint32
	writer, reader    int16 // threads; reader may be several
	readers           int16 // warp of the readers; may be several
	wasAtomic, wasSet bool
}

const several = -1

// check reports a fault if another access is not ordered with this one, or if a byte is read that
// the block has not written.
func (w *warp) check(a, n, lane int, how access) {
	b := w.block
	me, mine := int16(w.number*32+lane), int16(w.number)
	for i := a; i < a+n; i++ {
		c := &b.cells[i]
		if c.wrote < b.begin {
			c.wasSet = false
		}
		if how != writes && !c.wasSet {
			w.faultAt(lane, "byte %#x of shared memory is read before any thread has written it", i)
			return
		}
		if c.wasSet && c.wrote == b.epoch && c.writer != me && !(how == updates && c.wasAtomic) &&
			!(c.writer>>5 == mine && c.wroteWarp != w.epoch) {
			w.faultAt(lane, "race: byte %#x of shared memory was written by thread %d without a barrier in between", i, c.writer)
			return
		}
		if how == reads {
			switch {
			case c.read != b.epoch || c.read < b.begin || c.readers == mine && c.readWarp != w.epoch:
				c.reader, c.readers = me, mine
			case c.readers != mine:
				c.reader, c.readers = several, several
			case c.reader != me:
				c.reader = several
			}
			c.read, c.readWarp = b.epoch, w.epoch
			continue
		}
		if c.read == b.epoch && c.read >= b.begin && c.reader != me && !(c.readers == mine && c.readWarp != w.epoch) {
			w.faultAt(lane, "race: byte %#x of shared memory was read by other threads without a barrier in between", i)
			return
		}
		c.wrote, c.wroteWarp, c.writer, c.wasAtomic, c.wasSet = b.epoch, w.epoch, me, how == updates, true
	}
}
