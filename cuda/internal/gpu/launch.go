//go:build cuda && linux && cgo

package gpu

import (
	"fmt"
	"sync"

	"halfnote/cuda/internal/drv"
	"halfnote/cuda/kernels"
	"halfnote/tensor/driver"
)

// modules holds the loaded kernels of a GPU. A module is loaded, and so compiled, when its first
// kernel is requested.
type modules struct {
	mu        sync.RWMutex
	loaded    map[string]*drv.Module
	functions map[kernel]*drv.Function
}

// kernel names a kernel and its module, for example {"arithmetic", "unary_float32"}.
type kernel struct{ module, name string }

func (b *Backend) function(k kernel) *drv.Function {
	b.modules.mu.RLock()
	f := b.functions[k]
	b.modules.mu.RUnlock()
	if f != nil {
		return f
	}
	b.modules.mu.Lock()
	defer b.modules.mu.Unlock()
	m := b.loaded[k.module]
	if m == nil {
		var err error
		if m, err = b.device.Load(kernels.PTX(k.module)); err != nil {
			failed(fmt.Errorf("%s: module %s: %w", b.name, k.module, err))
		}
		if b.loaded == nil {
			b.loaded, b.functions = map[string]*drv.Module{}, map[kernel]*drv.Function{}
		}
		b.loaded[k.module] = m
	}
	f, err := m.Function(k.name)
	if err != nil {
		failed(fmt.Errorf("%s: kernel %s of module %s: %w", b.name, k.name, k.module, err))
	}
	b.functions[k] = f
	return f
}

// threads is the default block size.
const threads = 256

// blocks returns the number of blocks for n items. Threads loop if there are more items than keep
// the GPU busy.
func (b *Backend) blocks(n int) uint32 {
	return uint32(max(1, min((n+threads-1)/threads, 16*b.device.Multiprocessors())))
}

// launch enqueues a kernel.
func (b *Backend) launch(k kernel, grid, block [3]uint32, shared uint32, args *drv.Args) {
	f := b.function(k)
	if shared > 48<<10 {
		b.must(f.MaxDynamicShared(int(shared)))
	}
	if err := b.stream.Launch(f, grid, block, shared, args); err != nil {
		failed(fmt.Errorf("%s: kernel %s: %w", b.name, k.name, err))
	}
	arguments.Put(args)
}

// launchItems enqueues a kernel whose threads loop over n items.
func (b *Backend) launchItems(k kernel, n int, args *drv.Args) {
	b.launch(k, [3]uint32{b.blocks(n), 1, 1}, [3]uint32{threads, 1, 1}, 0, args)
}

var arguments = sync.Pool{New: func() any { return new(drv.Args) }}

// newArgs returns an empty list of arguments, which launch consumes.
func newArgs() *drv.Args {
	a := arguments.Get().(*drv.Args)
	a.Reset()
	return a
}

// number adds a parameter of d's compute type.
func number(a *drv.Args, d driver.DType, x float64) {
	switch d.Wide() {
	case driver.Float32:
		a.F32(float32(x))
	case driver.Float64:
		a.F64(x)
	default:
		a.I64(int64(x))
	}
}
