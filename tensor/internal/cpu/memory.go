package cpu

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"halfnote/internal/text"
	"halfnote/tensor/driver"
)

// memory allocates buffers and counts their bytes. Released memory is reused, because fresh pages
// cost more than a pass over them:
//
//	Alloc ── collectHot, which paces Go's garbage collector so that small results lie in a cache
//	  │   ── freeList (4 KiB and more)  ── else collectShort, which paces it so that memory does not
//	  │                                    grow, and the freeList again
//	  │                                 ── else fresh: Go's heap, or pages of the system (vast)
//	  ▼
//	buffer ─ Release, or unreachable: a cleanup each, or one for a bufferGroup of small ones
//	  │
//	  ▼
//	give ─── freeList, trimmed to the gcPace's budget after each period
//
// Working memory of kernels does not come from here: chunks are in sync.Pools (withScratch), and
// memory for packed matrices is in an objectPool, which garbage collections do not empty.
type memory struct {
	limit int64 // bytes that may be live, 0 if unknown

	mu         sync.Mutex
	live, peak int64
	free       freeList
	helpers    *workerPool  // clears large memory
	group      *bufferGroup // group that the next small buffers join
	pace       gcPace
}

// buffer is memory of the Go heap, aligned for every dtype.
type buffer struct {
	allocation
	cleanup runtime.Cleanup // for a buffer without a group
	group   *bufferGroup
}

// allocation is the memory that a buffer returns when it is released.
type allocation struct {
	size  int
	words []uint64 // nil once released
}

func (b *buffer) Bytes() int { return b.size }

// Alloc returns a zeroed buffer of n bytes.
func (m *memory) Alloc(n int) (driver.Buffer, error) { return m.alloc(n, true) }

// AllocUnset returns a buffer of n bytes with undefined contents.
func (m *memory) AllocUnset(n int) (driver.Buffer, error) { return m.alloc(n, false) }

func (m *memory) alloc(n int, zero bool) (driver.Buffer, error) {
	if n < 0 {
		return nil, fmt.Errorf("cpu: alloc: %d bytes requested; want 0 or more", n)
	}
	if n >= keepMin {
		m.collectHot(n)
	}
	words := m.again(n, false)
	if words == nil && n >= keepMin && m.collectShort(n) {
		words = m.again(n, false)
	}
	if words == nil {
		words = m.again(n, true)
	}
	switch {
	case words == nil:
		var err error
		if words, err = m.fresh(n); err != nil {
			return nil, err
		}
	case zero:
		m.inParts(n, words, func(part []uint64) { clear(part) })
	}
	b := &buffer{allocation: allocation{n, words}}
	if n < keepMin {
		b.group = m.join(n)
		return b, nil
	}
	b.cleanup = runtime.AddCleanup(b, m.give, b.allocation)
	return b, nil
}

// again returns free memory for n bytes. It returns nil if there is none, or if live memory would
// exceed its recent maximum and higher is false.
func (m *memory) again(n int, higher bool) []uint64 {
	if n < keepMin {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !higher && m.live+int64(n) > m.pace.recent() {
		return nil
	}
	words := m.free.take((n + 7) / 8)
	if words != nil {
		m.count(int64(n))
	}
	return words
}

// fresh returns zeroed memory for n bytes, or an error if there is not enough.
func (m *memory) fresh(n int) ([]uint64, error) {
	if !m.reserve(int64(n)) && !m.reserveAfterGC(int64(n)) {
		live := m.Memory().Live
		return nil, fmt.Errorf("cpu: alloc: %w", driver.NoRoom(int64(n), m.limit-live))
	}
	if err := m.room(n); err != nil {
		m.give(allocation{size: n})
		return nil, fmt.Errorf("cpu: alloc: %w", err)
	}
	words := newWords((n + 7) / 8)
	if words == nil {
		m.give(allocation{size: n})
		return nil, fmt.Errorf("cpu: alloc: %s requested; the system has no more memory", text.Bytes(int64(n)))
	}
	if n >= large { // touch the pages now, so that a shortage fails here and memory figures are accurate
		m.inParts(n, words, func(part []uint64) {
			for i := 0; i < len(part); i += 512 {
				part[i] = 0
			}
		})
	}
	return words, nil
}

// room is [driver.Room], which counts other memory than tensors too. It drops free memory if needed.
func (m *memory) room(n int) error {
	if driver.Room(n, 1) == nil {
		return nil
	}
	m.trimAll()
	return driver.Room(n, 1)
}

// trimAll drops all free memory.
func (m *memory) trimAll() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.free.trim(0)
}

// inParts calls f concurrently for parts of the memory of a future buffer of n bytes, and polls
// between them. If the poll panics, it returns the memory to the free list.
func (m *memory) inParts(n int, words []uint64, f func(part []uint64)) {
	whole := false
	defer func() {
		if !whole {
			m.give(allocation{n, words})
		}
	}()
	m.helpers.ranges(len(words), huge/8, func(lo, hi int) { f(words[lo:hi]) })
	whole = true
}

// large is the size in bytes from which the pages of a buffer are touched at once.
const large = 1 << 20

// newWords returns n zeros, or nil if there is not enough memory. The capacity of memory that is
// kept for reuse is rounded up, so that it serves for other sizes too.
func newWords(n int) (words []uint64) {
	defer func() { _ = recover() }()
	switch c := capacity(n); {
	case n*8 < keepMin:
		return make([]uint64, n)
	case c*8 >= vast:
		return newPages(c)[:n]
	default:
		return make([]uint64, n, c)
	}
}

// Release frees b before it is unreachable.
func (m *memory) Release(db driver.Buffer) {
	b := bufferOf(db)
	if b.words == nil || b.size == 0 {
		return
	}
	if b.group != nil {
		b.group.bytes.Add(-int64(b.size))
	} else {
		b.cleanup.Stop()
	}
	give := b.allocation
	b.words = nil
	m.give(give)
	m.mu.Lock()
	m.pace.allocated = max(0, m.pace.allocated-int64(give.size))
	m.mu.Unlock()
}

// give takes back the memory of a buffer.
func (m *memory) give(h allocation) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.live -= int64(h.size)
	if h.size >= keepMin && h.words != nil {
		m.free.put(h.words)
		m.trimLater()
	}
}

// count adds n bytes to the live ones.
func (m *memory) count(n int64) {
	m.live += n
	m.peak = max(m.peak, m.live)
	m.pace.allocated += n
	m.pace.peak = max(m.pace.peak, m.live)
}

// reserve counts n bytes as live and reports true, or reports false if they exceed the limit. It
// drops free memory if needed.
func (m *memory) reserve(n int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.limit > 0 && n > m.limit-m.live {
		return false
	}
	m.count(n)
	budget := m.pace.budget()
	if m.limit > 0 {
		budget = min(budget, m.limit)
	}
	m.free.trim(budget - m.live)
	return true
}

// reserveAfterGC is reserve after a garbage collection.
func (m *memory) reserveAfterGC(n int64) bool {
	if n > m.limit {
		return false
	}
	driver.CollectGarbage()
	return m.reserve(n)
}

// Memory returns the memory statistics. An unreachable buffer counts as live until a garbage
// collection has found it.
func (m *memory) Memory() driver.MemoryStats {
	m.mu.Lock()
	defer m.mu.Unlock()
	return driver.MemoryStats{Live: m.live, Peak: m.peak, Reserved: m.live + m.free.bytes, Limit: m.limit}
}

// ResetPeak sets the peak to the live bytes.
func (m *memory) ResetPeak() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.peak = m.live
}

// Read copies bytes of a buffer, from off on, to p.
func (*memory) Read(p []byte, b driver.Buffer, off int) {
	copy(p, bytesOf(b, off, len(p)))
	runtime.KeepAlive(b)
}

// Write copies p to a buffer, from off on.
func (*memory) Write(b driver.Buffer, off int, p []byte) {
	copy(bytesOf(b, off, len(p)), p)
	runtime.KeepAlive(b)
}

// Load returns an element of a buffer. It implements [driver.Accessor].
func (*memory) Load(b driver.Buffer, off, bytes int) (bits uint64) {
	p := bytesOf(b, off, bytes)
	switch bytes {
	case 1:
		bits = uint64(p[0])
	case 2:
		bits = uint64(binary.NativeEndian.Uint16(p))
	case 4:
		bits = uint64(binary.NativeEndian.Uint32(p))
	default:
		bits = binary.NativeEndian.Uint64(p)
	}
	runtime.KeepAlive(b)
	return bits
}

// Store sets an element of a buffer. It implements [driver.Accessor].
func (*memory) Store(b driver.Buffer, off, bytes int, bits uint64) {
	p := bytesOf(b, off, bytes)
	switch bytes {
	case 1:
		p[0] = uint8(bits)
	case 2:
		binary.NativeEndian.PutUint16(p, uint16(bits))
	case 4:
		binary.NativeEndian.PutUint32(p, uint32(bits))
	default:
		binary.NativeEndian.PutUint64(p, bits)
	}
	runtime.KeepAlive(b)
}

// Map returns bytes of a buffer. It implements [driver.Mapper].
func (*memory) Map(b driver.Buffer, off, n int) []byte { return bytesOf(b, off, n) }

func bytesOf(db driver.Buffer, off, n int) []byte {
	b := bufferOf(db)
	if off < 0 || n > b.size-off {
		panic(fmt.Sprintf("cpu: bytes %d to %d requested of a buffer of %d", off, off+n, b.size))
	}
	return elements[byte](b)[off : off+n]
}

func bufferOf(b driver.Buffer) *buffer {
	own, ok := b.(*buffer)
	if !ok {
		panic(fmt.Sprintf("cpu: buffer has type %T; want one that this backend allocated", b))
	}
	return own
}

// elements returns all of a buffer as elements of type E. They are valid while the buffer is
// reachable, which [Backend.Run] ensures; then the memory is reused.
func elements[E any](b *buffer) []E {
	if b.size == 0 {
		return nil
	}
	if b.words == nil {
		panic(fmt.Sprintf("cpu: buffer of %d bytes used after its release", b.size))
	}
	var e E
	return unsafe.Slice((*E)(unsafe.Pointer(&b.words[0])), b.size/int(unsafe.Sizeof(e)))
}
