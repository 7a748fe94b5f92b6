//go:build cuda && linux && cgo

package gpu

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"

	"halfnote/cuda/internal/drv"
	"halfnote/tensor/driver"
)

// Backend is one GPU. It also implements [driver.MemoryReporter], [driver.Releaser],
// [driver.Recycler], [driver.Batcher] and [driver.Capturer].
type Backend struct {
	name    string
	device  *drv.Device
	stream  queue
	tf32    atomic.Bool
	routes  route // allowed routes of products
	busy    int   // number of blocks that keep the GPU busy
	library cublas
	modules
	memory
}

// Open returns the backend of a device: "cuda" and "cuda:0" name the first GPU, "cuda:1" the
// second.
func Open(name string) (driver.Backend, error) {
	ordinal := 0
	if _, number, ok := strings.Cut(name, ":"); ok {
		n, err := strconv.Atoi(number)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%q is not a GPU number; want 0 or more", number)
		}
		ordinal = n
	}
	if err := drv.Load(); err != nil {
		return nil, err
	}
	count, err := drv.Count()
	if err != nil {
		return nil, err
	}
	if ordinal >= count {
		return nil, fmt.Errorf("no GPU %d; the driver reports %d", ordinal, count)
	}
	if ordinal == 0 && name != "cuda" {
		return driver.Open("cuda")
	}
	device, err := drv.Open(ordinal)
	if err != nil {
		return nil, err
	}
	stream, err := device.NewStream()
	if err != nil {
		return nil, err
	}
	b := &Backend{name: name, device: device, routes: allRoutes, busy: busyBlocks}
	b.stream.Stream, b.stream.backend = stream, b
	b.memory.open(b)
	return b, nil
}

// Name returns the device's name, for example "cuda".
func (b *Backend) Name() string { return b.name }

// Product returns the name of the GPU, for example "NVIDIA H200".
func (b *Backend) Product() string { return b.device.Name() }

// Capability returns the compute capability of the GPU, for example 9 and 0 for an H200.
func (b *Backend) Capability() (major, minor int) { return b.device.Capability() }

// Driver returns the newest CUDA that the driver supports, 13000 for CUDA 13.0.
func (b *Backend) Driver() int { return drv.Version() }

// Devices returns the number of GPUs.
func (b *Backend) Devices() int {
	n, err := drv.Count()
	b.must(err)
	return n
}

// AllowTF32 sets whether float32 products may round their operands to TF32. The default is false.
func (b *Backend) AllowTF32(on bool) { b.tf32.Store(on) }

// Synchronize waits until all enqueued work is done, and panics with its error if it failed. It
// polls while it waits.
func (b *Backend) Synchronize() {
	if c := b.capture(); c != nil {
		c.refuse("Synchronize is not allowed during capture; move it, and any trace recorder, outside the captured step")
	}
	b.wait()
}

// Run enqueues the computation of dst from src. It panics if the combination is not offered.
func (b *Backend) Run(k driver.Kernel, dst driver.View, src ...driver.View) {
	driver.Poll()
	var room [8]driver.DType
	list := driver.DTypesOf(room[:0], src)
	family := b.familyOf(k.Code, dst.DType, list)
	if family == nil {
		panic(fmt.Sprintf("%s: %v: not offered for %v from %v", b.name, k.Code, dst.DType, driver.DTypesOf(nil, src)))
	}
	b.begin(dst, src)
	family.run(b, k, dst, src)
	runtime.KeepAlive(dst.Buffer)
	runtime.KeepAlive(src)
}

// begin starts a call that enqueues work on views: it fails if the GPU is dead, and makes a graph
// being captured keep the views' memory.
func (b *Backend) begin(dst driver.View, src []driver.View) {
	if err := b.device.Err(); err != nil {
		failed(err)
	}
	if c := b.capture(); c != nil {
		c.hold(dst.Buffer)
		for _, v := range src {
			c.hold(v.Buffer)
		}
	}
}

// Offers reports whether Run accepts c with these dtypes.
func (b *Backend) Offers(c driver.Code, dst driver.DType, src ...driver.DType) bool {
	return b.familyOf(c, dst, src) != nil
}

// family computes codes of one kind.
type family struct {
	offers func(c driver.Code, dst driver.DType, src []driver.DType) bool
	run    func(b *Backend, k driver.Kernel, dst driver.View, src []driver.View)
}

// families holds the families of each code, which offer it for different dtypes. The files of
// families fill it in their init functions.
var families [256][]*family

// offer registers a family for codes.
func offer(f family, codes ...driver.Code) {
	for _, c := range codes {
		families[c] = append(families[c], &f)
	}
}

// familyOf returns the family that computes c with these dtypes, or nil.
func (b *Backend) familyOf(c driver.Code, dst driver.DType, src []driver.DType) *family {
	if major, _ := b.Capability(); dst.Size() == 0 || onTensorCores(c) && major < 8 {
		return nil
	}
	for _, f := range families[c] {
		if f.offers(c, dst, src) {
			return f
		}
	}
	return nil
}
