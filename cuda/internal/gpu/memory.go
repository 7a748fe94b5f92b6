//go:build cuda && linux && cgo

package gpu

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"halfnote/cuda/internal/drv"
	"halfnote/internal/text"
	"halfnote/tensor/driver"
)

// memory allocates and counts a GPU's memory. Released memory is reused at once: one stream runs
// all kernels, so earlier uses are complete by then. It asks the driver for more only if nothing
// fits, and returns memory to the driver only if the driver has none left.
type memory struct {
	backend *Backend

	mu         sync.Mutex
	cache      cache
	pools      map[*cache]bool // pools of graphs
	live, peak int64
	handed     int64 // bytes allocated since the last garbage collection here
	staging    staging
}

func (m *memory) open(b *Backend) { m.backend = b }

// buffer is a piece of GPU memory.
type buffer struct {
	size    int
	block   *block // nil once released, and for 0 bytes
	cleanup runtime.Cleanup
}

// Bytes returns the size in bytes.
func (b *buffer) Bytes() int { return b.size }

// at returns the buffer's address. It panics if the buffer was released.
func (b *buffer) at() drv.Ptr {
	switch {
	case b.block != nil:
		return b.block.at
	case b.size == 0:
		return 0
	}
	panic(fmt.Sprintf("cuda: buffer of %d bytes used after its release", b.size))
}

func bufferOf(b driver.Buffer) *buffer {
	own, ok := b.(*buffer)
	if !ok {
		panic(fmt.Sprintf("cuda: buffer has type %T; want a buffer of this backend", b))
	}
	return own
}

// Alloc returns a zeroed buffer of n bytes.
func (m *memory) Alloc(n int) (driver.Buffer, error) {
	b, err := m.AllocUnset(n)
	if err != nil || n == 0 {
		return b, err
	}
	if err := m.backend.stream.Set8(b.(*buffer).at(), 0, n); err != nil {
		return nil, err
	}
	return b, nil
}

// AllocUnset returns an uninitialised buffer of n bytes.
func (m *memory) AllocUnset(n int) (driver.Buffer, error) {
	if n < 0 {
		return nil, fmt.Errorf("%s: alloc: size is %d bytes; want 0 or more", m.backend.name, n)
	}
	if n == 0 {
		return &buffer{}, nil
	}
	turn := m.backend.stream.enter()
	defer m.backend.stream.leave(turn)
	cache := &m.cache
	if turn != nil {
		cache = turn.pool
	}
	block, err := m.take(n, cache, turn != nil)
	if err != nil {
		if turn != nil {
			turn.Refuse(err)
		}
		return nil, err
	}
	return m.bufferOf(n, block), nil
}

// bufferOf returns a buffer of n bytes that holds a block while it is reachable.
func (m *memory) bufferOf(n int, block *block) *buffer {
	b := &buffer{size: n, block: block}
	b.cleanup = runtime.AddCleanup(b, m.give, block)
	return b
}

// take returns a block of n bytes: a free one of the cache, or new memory from the driver. Before
// it asks the driver it collects garbage if enough may have accumulated. If the driver has no
// memory left it trims all caches, except during a capture, because trimming waits for the GPU.
func (m *memory) take(n int, cache *cache, capturing bool) (*block, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := cache.take(n)
	if b == nil && m.handed > max(garbage, m.live/2) {
		m.collect()
		b = cache.take(n)
	}
	for try := 0; b == nil; try++ {
		err := m.grow(cache, n)
		if err != nil {
			if !errors.Is(err, drv.OutOfMemory) || try == 2 {
				return nil, m.lacking(n, err)
			}
			if try == 1 {
				m.collect()
			}
			if !capturing {
				if err := m.trim(); err != nil {
					return nil, err
				}
			}
		}
		b = cache.take(n)
	}
	m.live += int64(b.size)
	m.peak = max(m.peak, m.live)
	m.handed += int64(b.size)
	return b, nil
}

// garbage is the minimum number of bytes allocated between garbage collections.
const garbage = 256 << 20

// collect runs the garbage collector and waits until the memory that it found has been released.
func (m *memory) collect() {
	m.handed = 0
	m.mu.Unlock()
	defer m.mu.Lock()
	driver.CollectGarbage()
}

// grow allocates n bytes or more from the driver for a cache.
func (m *memory) grow(cache *cache, n int) error {
	size := segmentFor(n)
	at, err := m.backend.device.Alloc(size)
	if err != nil && size > rounded(n) { // there may be room for n alone
		size = rounded(n)
		at, err = m.backend.device.Alloc(size)
	}
	if err != nil {
		return err
	}
	cache.add(at, size, n)
	return nil
}

// trim returns unused segments to the driver.
func (m *memory) trim() error {
	for _, at := range m.cache.trim() {
		if err := m.backend.device.Release(at); err != nil {
			return err
		}
	}
	return nil
}

// lacking returns an error with the requested and available memory.
func (m *memory) lacking(n int, err error) error {
	if !errors.Is(err, drv.OutOfMemory) {
		return fmt.Errorf("%s: alloc of %s: %w", m.backend.name, text.Bytes(int64(n)), err)
	}
	return fmt.Errorf("%s: alloc: out of memory: requested %s; %s of %s free on the GPU, %s held by tensors; use smaller batches or release tensors: %w", m.backend.name,
		text.Bytes(int64(n)), text.Bytes(m.backend.device.Free()), text.Bytes(m.backend.device.Total()), text.Bytes(m.live), err)
}

// Release frees b before it becomes unreachable.
func (m *memory) Release(db driver.Buffer) {
	b := bufferOf(db)
	if b.block == nil {
		return
	}
	b.cleanup.Stop()
	block := b.block
	b.block = nil
	m.give(block)
	m.mu.Lock()
	m.handed = max(0, m.handed-int64(block.size))
	m.mu.Unlock()
}

// give releases a block.
func (m *memory) give(b *block) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b.left = true; b.holds > 0 {
		return
	}
	m.free(b)
}

func (m *memory) free(b *block) {
	b.left = false
	m.live -= int64(b.size)
	b.cache().give(b)
}

// addPool returns a new cache for a graph.
func (m *memory) addPool() *cache {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pools == nil {
		m.pools = map[*cache]bool{}
	}
	c := &cache{}
	m.pools[c] = true
	return c
}

// freePools merges the memory of a graph into the common cache: memory that no tensor holds at
// once, the rest when its tensors are released.
func (m *memory) freePools(held map[*block]bool, pools ...*cache) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for b := range held {
		if b.holds--; b.holds == 0 && b.left {
			m.free(b)
		}
	}
	for _, pool := range pools {
		m.cache.absorb(pool)
		delete(m.pools, pool)
	}
}

// Memory returns the live and peak bytes, and the bytes reserved from the driver.
func (m *memory) Memory() driver.MemoryStats {
	m.mu.Lock()
	defer m.mu.Unlock()
	reserved := m.cache.reserved
	for pool := range m.pools {
		reserved += pool.reserved
	}
	return driver.MemoryStats{Live: m.live, Peak: m.peak, Reserved: reserved, Limit: m.backend.device.Total()}
}

// ResetPeak sets the peak to the live bytes.
func (m *memory) ResetPeak() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.peak = m.live
}

// EmptyCache returns unused memory to the driver. It is torch.cuda.empty_cache.
func (m *memory) EmptyCache() error {
	turn := m.backend.stream.enter()
	defer m.backend.stream.leave(turn)
	if turn != nil {
		return fmt.Errorf("%s: empty cache: not allowed during capture; move EmptyCache outside the captured step", m.backend.name)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.trim()
}
