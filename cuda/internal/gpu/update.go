//go:build cuda && linux && cgo

package gpu

import (
	"cmp"
	"runtime"
	"slices"

	"halfnote/cuda/internal/drv"
	"halfnote/tensor/driver"
)

func init() {
	floats := func(least, most int) func(driver.Code, driver.DType, []driver.DType) bool {
		return func(_ driver.Code, dst driver.DType, src []driver.DType) bool {
			return len(src) >= least && len(src) <= most && dst.IsFloat() && !dst.IsStorage() && all(src, len(src), dst)
		}
	}
	offer(family{floats(1, 2), runUpdate}, driver.SGD)
	adam := floats(3, 3)
	offer(family{func(c driver.Code, dst driver.DType, src []driver.DType) bool {
		return dst.Size() >= 4 && adam(c, dst, src)
	}, runUpdate}, driver.Adam)
	offer(family{func(_ driver.Code, dst driver.DType, src []driver.DType) bool {
		return dst.IsFloat() && !dst.IsStorage() && all(src, 1, driver.Float32)
	}, runUpdate}, driver.Unscale)
}

const (
	tableSize = 88   // tensors that the parameters of a launch have room for
	tableStep = 8192 // elements that a block takes
)

// table is Table of update.cu.
type table struct {
	count uint32
	first [tableSize + 1]uint32
	n     [tableSize]int64
	at    [4][tableSize]drv.Ptr
}

// factors are Factors of update.cu.
type factors[T float32 | float64] struct {
	c               [7]T
	nesterov, first uint32
}

func factorsOf[T float32 | float64](k driver.Kernel) (f factors[T]) {
	more := k.More
	switch k.Code {
	case driver.SGD:
		f.c = [7]T{T(k.Alpha), T(k.Beta), T(more[0]), T(1 - more[1])}
		f.nesterov, f.first = truth(more[2] != 0), truth(more[3] != 0)
	case driver.Adam:
		f.c = [7]T{T(more[0]), T(more[1]), T(more[2]), T(more[3]), T(more[4]), T(k.Alpha), T(k.Beta)}
	default:
		f.c[0] = T(k.Alpha)
	}
	return f
}

func truth(on bool) uint32 {
	if on {
		return 1
	}
	return 0
}

// updates are those of one kernel with the same scalars.
type updates struct {
	kernel driver.Kernel
	dtype  driver.DType
	views  int // of tensors with dst's elements
}

func updatesOf(k driver.Kernel, dst driver.View, src []driver.View) updates {
	views := 1 + len(src)
	if k.Code == driver.Unscale {
		views = 1
	}
	return updates{k, dst.DType, views}
}

func (u updates) name() string {
	name := u.kernel.Code.String()
	if u.kernel.Code == driver.SGD && u.views == 3 {
		name = "momentum"
	}
	return name + "_" + u.dtype.String()
}

// args begins the parameters of a launch.
func (u updates) args() *drv.Args {
	a := newArgs()
	if u.dtype == driver.Float64 {
		f := factorsOf[float64](u.kernel)
		a.Bytes(bytesOf(&f))
	} else {
		f := factorsOf[float32](u.kernel)
		a.Bytes(bytesOf(&f))
	}
	a.I32(int32(truth(u.kernel.Code != driver.Unscale || u.kernel.Alpha != 1)))
	return a
}

// RunAll runs updates of tensors of all sizes in few launches, and all else one by one.
// It implements [driver.Batcher].
func (b *Backend) RunAll(list []driver.Launch) {
	driver.Poll()
	if err := b.device.Err(); err != nil {
		failed(err)
	}
	if c := b.capture(); c != nil {
		for _, l := range list {
			c.holdViews(l.Dst, l.Src)
		}
	}
	type batch struct {
		updates
		table
	}
	var batches []*batch
	for _, l := range list {
		u := updatesOf(l.Kernel, l.Dst, l.Src)
		if code := l.Kernel.Code; code != driver.Unscale && code != driver.SGD && code != driver.Adam ||
			!b.Offers(code, l.Dst.DType, dtypesOf(nil, l.Src)...) || !gapless(u.data(l.Dst, l.Src)) {
			b.Run(l.Kernel, l.Dst, l.Src...)
			continue
		}
		i := slices.IndexFunc(batches, func(other *batch) bool { return other.updates == u })
		if i < 0 {
			i = len(batches)
			batches = append(batches, &batch{updates: u})
		}
		b.enter(u, &batches[i].table, l.Dst, l.Src)
	}
	for _, batch := range batches {
		b.update(batch.updates, &batch.table)
	}
	runtime.KeepAlive(list)
}

// data returns the views of tensors that an update goes through, with their axes in an
// order in which dst's elements lie one after the other, if there is one.
func (u updates) data(dst driver.View, src []driver.View) []driver.View {
	views := append([]driver.View{dst}, src[:u.views-1]...)
	if gapless(views) {
		return views
	}
	axes := make([]int, len(dst.Shape))
	for i := range axes {
		axes[i] = i
	}
	slices.SortStableFunc(axes, func(i, j int) int { return cmp.Compare(dst.Stride[j], dst.Stride[i]) })
	for i, v := range views {
		shape, stride := make([]int, len(axes)), make([]int, len(axes))
		for to, from := range axes {
			shape[to], stride[to] = v.Shape[from], v.Stride[from]
		}
		views[i].Shape, views[i].Stride = shape, stride
	}
	return views
}

// gapless reports whether the elements of all views lie one after the other.
func gapless(views []driver.View) bool {
	return !slices.ContainsFunc(views, func(v driver.View) bool { return !v.Contiguous() })
}

// enter adds a tensor to a table, which is launched when it is full.
func (b *Backend) enter(u updates, t *table, dst driver.View, src []driver.View) {
	n := dst.Len()
	if n == 0 {
		return
	}
	if t.count == tableSize || uint64(t.first[t.count])+uint64(n/tableStep) >= maxItems {
		b.update(u, t)
	}
	i := t.count
	t.count++
	t.n[i] = int64(n)
	t.first[i+1] = t.first[i] + uint32((n+tableStep-1)/tableStep)
	t.at[0][i] = pointer(dst)
	for v, s := range src {
		t.at[v+1][i] = pointer(s)
	}
}

// update launches what a table holds and empties it.
func (b *Backend) update(u updates, t *table) {
	if t.count == 0 {
		return
	}
	a := u.args()
	a.Bytes(bytesOf(t))
	b.launch(kernel{"update", u.name()}, [3]uint32{t.first[t.count], 1, 1}, [3]uint32{threads, 1, 1}, 0, a)
	*t = table{}
}

func runUpdate(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
	u := updatesOf(k, dst, src)
	views := u.data(dst, src)
	if gapless(views) {
		t := &table{}
		b.enter(u, t, dst, src)
		b.update(u, t)
		return
	}
	walkOf(views...).parts(func(axes *axes, n int, offset []int) {
		a := u.args()
		a.I32(int32(n))
		for i := range maxViews {
			if i >= len(views) {
				a.Ptr(0)
				continue
			}
			v := views[i]
			v.Offset += offset[i]
			a.Ptr(pointer(v))
		}
		if k.Code == driver.Unscale {
			a.Ptr(pointer(src[0]))
		} else {
			a.Ptr(0)
		}
		a.Bytes(bytesOf(axes))
		b.launchItems(kernel{"update", u.name() + "_strided"}, n, a)
	})
}
