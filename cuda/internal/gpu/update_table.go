//go:build cuda && linux && cgo

package gpu

import (
	"encoding/binary"
	"runtime"
	"slices"

	"halfnote/cuda/internal/drv"
	"halfnote/tensor/driver"
)

const (
	mostTensors = 111  // tensors that fit in the launch parameters if their entries are small
	tableStep   = 8192 // elements per block
)

// table is Table of update.cu and its update.
type table struct {
	update
	count uint32
	first [mostTensors + 1]uint32
	n     [mostTensors]int64
	at    [maxViews + 2][mostTensors]drv.Ptr
}

func newTable(u update) *table { return &table{update: u} }

// room returns the number of tensors that fit.
func (u update) room() int { return 4000 / (12 + 8*(u.views+2)) }

// bytes returns the table in the kernel's layout.
func (t *table) bytes() []byte {
	room, little := t.room(), binary.LittleEndian
	list := little.AppendUint32(make([]byte, 0, 4096), t.count)
	for _, x := range t.first[:room+1] {
		list = little.AppendUint32(list, x)
	}
	list = append(list, make([]byte, -len(list)&7)...)
	for _, x := range t.n[:room] {
		list = little.AppendUint64(list, uint64(x))
	}
	for _, at := range t.at[:t.views+2] {
		for _, x := range at[:room] {
			list = little.AppendUint64(list, uint64(x))
		}
	}
	return list
}

// takes reports whether changes of u can be added, and sets the dtype of their copies.
func (t *table) takes(u update) bool {
	joined := t.update
	if joined.half == driver.Invalid {
		joined.half = u.half
	} else if u.half == driver.Invalid {
		u.half = joined.half
	}
	if joined != u {
		return false
	}
	t.half = u.half
	return true
}

// RunAll batches updates of tensors of all sizes in few launches and runs other kernels one by
// one. It implements [driver.Batcher].
func (b *Backend) RunAll(list []driver.Launch) {
	driver.Poll()
	for _, l := range list {
		b.begin(l.Dst, l.Src)
	}
	var tables []*table
	for _, l := range list {
		var c change
		packed := slices.Contains(updateCodes, l.Kernel.Code) && offersUpdate(l.Kernel.Code, l.Dst.DType, driver.DTypesOf(nil, l.Src))
		if packed {
			c = changeOf(l.Kernel, l.Dst, l.Src)
			packed = c.gapless()
		}
		if !packed {
			b.Run(l.Kernel, l.Dst, l.Src...)
			continue
		}
		i := slices.IndexFunc(tables, func(t *table) bool { return t.takes(c.update) })
		if i < 0 {
			i = len(tables)
			tables = append(tables, newTable(c.update))
		}
		b.enter(tables[i], c)
	}
	for _, t := range tables {
		b.flush(t)
	}
	runtime.KeepAlive(list)
}

// enter adds a change to a table and launches the table when it is full.
func (b *Backend) enter(t *table, c change) {
	n := c.data[0].Len()
	if n == 0 {
		return
	}
	if int(t.count) == t.room() || uint64(t.first[t.count])+uint64(n/tableStep) >= maxItems {
		b.flush(t)
	}
	i := t.count
	t.count++
	t.n[i] = int64(n)
	t.first[i+1] = t.first[i] + uint32((n+tableStep-1)/tableStep)
	for v, s := range append(c.data, c.behind[:]...) {
		if t.at[v][i] = 0; s.Buffer != nil {
			t.at[v][i] = pointer(s)
		}
	}
}

// flush launches and empties a table.
func (b *Backend) flush(t *table) {
	if t.count == 0 {
		return
	}
	a := t.args()
	a.I32(int32(t.half))
	a.Bytes(t.bytes())
	b.launch(kernel{"update", t.name()}, [3]uint32{t.first[t.count], 1, 1}, [3]uint32{threads, 1, 1}, 0, a.Args)
	t.count = 0
}
