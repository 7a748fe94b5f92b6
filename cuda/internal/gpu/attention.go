//go:build cuda && linux && cgo

package gpu

import (
	"fmt"
	"math"
	"slices"

	"halfnote/cuda/internal/drv"
	"halfnote/cuda/kernels"
	"halfnote/internal/text"
	"halfnote/tensor/driver"
)

func init() {
	offer(family{
		func(_ driver.Code, dst driver.DType, src []driver.DType) bool {
			return len(src) >= 4 && src[0] == driver.Float32 && isHalf(dst) && driver.AllDTypes(src[1:4], 3, dst) && areMasks(src[4:], dst)
		}, attention}, driver.Attention)
	offer(family{
		func(_ driver.Code, dst driver.DType, src []driver.DType) bool {
			if len(src) < 8 || !isHalf(src[5]) || dst != src[5] && dst != driver.Float32 {
				return false
			}
			d := src[5]
			return driver.AllDTypes(src[:2], 2, dst) && driver.AllDTypes(src[2:4], 2, d) && src[4] == driver.Float32 && driver.AllDTypes(src[5:8], 3, d) && areMasks(src[8:], d)
		}, attentionGrad}, driver.AttentionGrad)
}

// onTensorCores reports whether c has kernels for tensor cores only.
func onTensorCores(c driver.Code) bool { return c == driver.Attention || c == driver.AttentionGrad }

func isHalf(d driver.DType) bool { return d == driver.Float16 || d == driver.BFloat16 }

// areMasks reports whether list holds the dtypes of at most a mask and the bits of dropout.
func areMasks(list []driver.DType, d driver.DType) bool {
	if n := len(list); n > 0 && list[n-1] == driver.Int32 {
		list = list[:n-1]
	}
	return len(list) == 0 || len(list) == 1 && (list[0] == driver.Bool || list[0] == driver.Float32 || list[0] == d)
}

// matrix is Matrix of attention.cuh.
type matrix struct {
	at          drv.Ptr
	row, column int64
	lead        [leadAxes]int64
}

const leadAxes = 4

// Indices of Attend's matrices, in its order.
const (
	matrixQ = iota
	matrixK
	matrixV
	matrixY
	matrixSums
	matrixMask
	matrixKeep
	matrixDY
	matrixDelta
	matrixDQ
	matrixDK
	matrixDV
	matrices
)

// attend is Attend of attention.cuh.
type attend struct {
	queries, keys, depth, width uint32
	tiles, first                uint32
	flags, mask                 uint32
	scale, kept, powers         float32
	rank                        uint32
	size                        [leadAxes]divider
	matrices                    [matrices]matrix
}

const (
	attendCausal = 1
	attendWide   = 2
)

// packs holds the flags of matrices that can be read or written in units of 16 bytes.
var packs = [matrices]uint32{matrixQ: 4, matrixK: 8, matrixV: 16, matrixY: 32, matrixDY: 64, matrixDQ: 128, matrixDK: 256, matrixDV: 512}

// attending holds the launch parameters of an attention or its gradients.
type attending struct {
	attend
	b      *Backend
	dtype  driver.DType
	views  [matrices]driver.View // matrices; those without a buffer are missing
	lead   walk                  // walk through the matrices of the batch
	head   int                   // head size that kernels exist for
	masked string                // suffix of a kernel's name
}

// attendingOf returns the parameters for a code's operands: q, k, v, an optional mask and
// optional bits of dropout.
func (b *Backend) attendingOf(k driver.Kernel, src []driver.View) *attending {
	t := &attending{b: b, dtype: src[0].DType}
	copy(t.views[:], src[:3])
	n := len(src[0].Shape)
	t.queries, t.keys = uint32(src[0].Shape[n-2]), uint32(src[1].Shape[n-2])
	t.depth, t.width = uint32(src[0].Shape[n-1]), uint32(src[2].Shape[n-1])
	p := driver.ParamsOf[driver.AttentionParams](k)
	t.scale, t.kept, t.powers = float32(p.Scale), 1, float32(p.Scale*math.Log2E)
	if p.Causal {
		t.flags |= attendCausal
	}
	src = src[3:]
	if p.Masked {
		t.views[matrixMask], t.mask, src = src[0], uint32(src[0].DType), src[1:]
	}
	if p.Dropout {
		t.views[matrixKeep], t.kept = src[0], float32(p.Kept)
	}
	if p.Masked || p.Dropout || !(p.Scale > 0) { // the other kernels compare before they scale
		t.masked = "masked_"
	}
	t.head = max(32, pow2(int(max(t.depth, t.width))))
	if t.head > driver.MaxHead {
		panic(fmt.Sprintf("%s: %v: head sizes are %d and %d; want at most %d", b.name, k.Code, t.depth, t.width, driver.MaxHead))
	}
	return t
}

// place sets the addresses and strides of the matrices.
func (t *attending) place() {
	var lead []driver.View
	for _, v := range t.views {
		if n := len(v.Shape); v.Buffer != nil {
			v.Shape, v.Stride = v.Shape[:n-2], v.Stride[:n-2]
		} else {
			v.Shape = t.views[matrixQ].Shape[:len(t.views[matrixQ].Shape)-2]
			v.Stride = make([]int, len(v.Shape))
		}
		lead = append(lead, v)
	}
	t.lead = walkOf(lead...)
	for i, v := range t.views {
		if v.Buffer == nil {
			continue
		}
		n, m := len(v.Shape), &t.matrices[i]
		m.at, m.row, m.column = pointer(v), int64(v.Stride[n-2]), int64(v.Stride[n-1])
		if packs[i] == 0 && i != matrixKeep {
			continue
		}
		if m.column != 1 && v.Shape[n-1] > 1 {
			panic(text.Sprintf("%s: attention: a matrix has strides %v; want stride 1 along the last axis", t.b.name, v.Stride))
		}
		const bytes = 16
		step := bytes / v.DType.Size()
		if int(m.at)%bytes == 0 && v.Shape[n-1]%step == 0 && (v.Shape[n-2] == 1 || m.row%int64(step) == 0) && t.lead.aligned(i, step) {
			t.flags |= packs[i]
		}
	}
}

// run launches a kernel for all tiles of the batch; each block computes tile rows of a matrix.
func (t *attending) run(name string, rows uint32, tile, shared int) {
	t.tiles = (rows + uint32(tile) - 1) / uint32(tile)
	if t.tiles == 0 || t.lead.n == 0 {
		return
	}
	f := kernel{fmt.Sprintf("attention_%d_%v", t.head, t.dtype), fmt.Sprintf("%s_%s%d", name, t.masked, t.head)}
	// Axes beyond the kernel's limit are launched one after the other.
	outer := max(0, len(t.lead.shape)-leadAxes)
	inner := t.lead.shape[outer:]
	n := 1
	for i, size := range inner {
		n *= size
		t.size[i] = dividerOf(size)
		for v := range t.matrices {
			t.matrices[v].lead[i] = int64(t.lead.stride[v][outer+i])
		}
	}
	t.rank = uint32(len(inner))
	most := maxItems / int(t.tiles)
	for i := range t.lead.n / n {
		p := t.attend
		for axis := outer - 1; axis >= 0; axis-- {
			at := i % t.lead.shape[axis]
			i /= t.lead.shape[axis]
			for v := range p.matrices {
				p.matrices[v].at += drv.Ptr(at * t.lead.stride[v][axis] * t.views[v].DType.Size())
			}
		}
		for first := 0; first < n; first += most {
			p.first = uint32(first)
			a := newArgs()
			a.Bytes(bytesOf(&p))
			t.b.launch(f, [3]uint32{t.tiles * uint32(min(most, n-first)), 1, 1}, [3]uint32{128, 1, 1}, uint32(shared), a)
		}
	}
}

// attention computes results. src holds the destination of sums, then q, k, v and the optional
// operands.
func attention(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
	t := b.attendingOf(k, src[1:])
	t.views[matrixY], t.views[matrixSums] = dst, src[0]
	t.place()
	t.run("attend", t.queries, kernels.AttentionRows(t.head), kernels.AttentionShared(t.head))
}

// attentionGrad computes gradients. src holds dk, dv, dy, y, sums, q, k, v and the optional
// operands.
func attentionGrad(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
	t := b.attendingOf(k, src[5:])
	for i, m := range []int{matrixDK, matrixDV, matrixDY, matrixY, matrixSums} {
		t.views[m] = src[i]
	}
	t.views[matrixDQ] = dst
	n := len(dst.Shape)
	delta := b.temporary(driver.Float32, append(slices.Clone(dst.Shape[:n-1]), 1))
	defer b.Release(delta.Buffer)
	t.views[matrixDelta] = delta
	if dst.DType == driver.Float32 {
		t.flags |= attendWide
	}
	t.place()
	queries, keys := kernels.AttentionGradShared(t.head)
	t.run("queries", t.queries, kernels.AttentionGradRows, queries)
	t.run("keys", t.keys, kernels.AttentionGradRows, keys)
}
