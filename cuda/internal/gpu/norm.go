//go:build cuda && linux && cgo

package gpu

import "halfnote/tensor/driver"

func init() {
	offer(family{func(_ driver.Code, dst driver.DType, src []driver.DType) bool {
		return isReal(dst) && (len(src) == 3 || len(src) == 5) && src[0] == dst && driver.AllDTypes(src[1:], len(src)-1, dst.Wide())
	}, normalize}, driver.Normalize)
	offer(family{func(_ driver.Code, dst driver.DType, src []driver.DType) bool {
		return isReal(dst) && (len(src) == 6 || len(src) == 7) && src[0] == dst && src[1] == dst && driver.AllDTypes(src[2:], len(src)-2, dst.Wide())
	}, normalize}, driver.NormalizeGrad)
}

// isReal reports whether d is a floating-point compute dtype.
func isReal(d driver.DType) bool { return d.IsFloat() && !d.IsStorage() }

const maxSpots = 8

// spots is Spots of norm.cu.
type spots struct {
	rank   uint32
	size   [maxRank]divider
	_      uint32
	stride [maxSpots][maxRank]int64
}

// normalize sets dst from one or two operands of its dtype and broadcast factors.
func normalize(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
	if dst.Len() == 0 {
		return
	}
	views := append([]driver.View{dst}, src...)
	w := walkOf(views...)
	if w.n > maxItems || len(w.shape) > maxRank { // one half after the other
		axis := largest(dst.Shape)
		n := dst.Shape[axis]
		for _, part := range [][2]int{{0, n / 2}, {n / 2, n}} {
			parts := make([]driver.View, len(views))
			for i, v := range views {
				parts[i] = cut(v, axis, part[0], part[1])
			}
			normalize(b, k, parts[0], parts[1:])
		}
		return
	}
	given, most, name := 2, 6, k.Code.String()+"_"+dst.DType.String() // views that are not factors, and all views
	if k.Code == driver.NormalizeGrad {
		given, most = 3, 8
	}
	pack, beside := perPack(dst.DType), uint32(0)
	for i, v := range views {
		last := len(w.shape) - 1
		if last < 0 || w.shape[last]%pack != 0 || w.stride[i][last] != 1 && (i < given || w.stride[i][last] != 0) {
			pack = 1
			break
		}
		if w.stride[i][last] == 0 {
			continue
		}
		beside |= 1 << i
		aligned := int(pointer(v))%16 == 0
		for _, s := range w.stride[i][:last] {
			aligned = aligned && s*v.DType.Size()%16 == 0
		}
		if !aligned {
			pack = 1
			break
		}
	}
	var p spots
	p.rank = uint32(max(1, len(w.shape)))
	p.size[0] = dividerOf(1)
	for axis, n := range w.shape {
		step := 1
		if axis == len(w.shape)-1 {
			n, step = n/pack, pack
		}
		p.size[axis] = dividerOf(n)
		for i := range views {
			p.stride[i][axis] = int64(step * w.stride[i][axis])
		}
	}
	if pack > 1 {
		name += "_packs"
	}
	a := newArgs()
	a.I32(int32(w.n / pack))
	a.I32(int32(beside))
	for i := range most {
		if i < len(views) {
			a.Ptr(pointer(views[i]))
		} else {
			a.Ptr(0)
		}
	}
	a.Bytes(bytesOf(&p))
	b.launchItems(kernel{"norm", name}, w.n/pack, a)
}
