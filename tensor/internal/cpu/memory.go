package cpu

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"halfnote/internal/text"
	"halfnote/tensor/driver"
)

// memory allocates and counts. Memory that is given back is kept and given out again:
// fresh pages cost more than a pass over them.
type memory struct {
	limit int64 // bytes that may be live; 0: not known

	mu         sync.Mutex
	live, peak int64
	kept       shelf
	crew       *pool  // that takes and clears large memory
	crowd      *crowd // that small buffers join
	pace       pace
}

// buffer is memory of the Go heap, aligned for every dtype.
type buffer struct {
	held
	cleanup runtime.Cleanup // without a crowd
	crowd   *crowd
}

// held is what a buffer gives back.
type held struct {
	size  int
	words []uint64 // nil once released
}

func (b *buffer) Bytes() int { return b.size }

// Alloc returns a zeroed buffer of n bytes.
func (m *memory) Alloc(n int) (driver.Buffer, error) { return m.alloc(n, true) }

// AllocUnset returns a buffer of n bytes that may be anything.
func (m *memory) AllocUnset(n int) (driver.Buffer, error) { return m.alloc(n, false) }

func (m *memory) alloc(n int, zero bool) (driver.Buffer, error) {
	if n < 0 {
		return nil, fmt.Errorf("cpu: alloc: %d bytes requested, expected 0 or more", n)
	}
	words := m.again(n, false)
	if words == nil && n >= worth && m.collect() {
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
	b := &buffer{held: held{n, words}}
	if n < small {
		b.crowd = m.join(n)
		return b, nil
	}
	give := b.held
	if n < worth {
		give.words = nil
	}
	b.cleanup = runtime.AddCleanup(b, m.give, give)
	return b, nil
}

// again returns kept memory for n bytes, or nil if there is none, or if live memory would
// exceed its recent maximum and higher is false.
func (m *memory) again(n int, higher bool) []uint64 {
	if n < worth {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !higher && m.live+int64(n) > m.pace.recent() {
		return nil
	}
	words := m.kept.take((n + 7) / 8)
	if words != nil {
		m.count(int64(n))
	}
	return words
}

// fresh returns zeroed memory for n bytes, or an error if there is not so much.
func (m *memory) fresh(n int) ([]uint64, error) {
	if !m.reserve(int64(n)) && !m.reserveAfterGC(int64(n)) {
		live := m.Memory().Live
		return nil, fmt.Errorf("cpu: alloc: %w", driver.NoRoom(int64(n), m.limit-live))
	}
	if err := m.room(n); err != nil {
		m.give(held{size: n})
		return nil, fmt.Errorf("cpu: alloc: %w", err)
	}
	words := newWords((n + 7) / 8)
	if words == nil {
		m.give(held{size: n})
		return nil, fmt.Errorf("cpu: alloc: %s requested, more than the system has", text.Bytes(int64(n)))
	}
	if cap(words)*8 >= vast {
		m.mu.Lock()
		m.kept.mapped += int64(cap(words)) * 8
		m.mu.Unlock()
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

// room is [driver.Room], which counts what is not tensors too. What is kept makes room.
func (m *memory) room(n int) error {
	if driver.Room(n, 1) == nil {
		return nil
	}
	m.mu.Lock()
	m.kept.trim(0)
	m.mu.Unlock()
	return driver.Room(n, 1)
}

// inParts calls f for parts of the memory of a buffer of n bytes to be, several at once
// and none of which takes long, and polls between them. When the poll panics there will be
// no buffer.
func (m *memory) inParts(n int, words []uint64, f func(part []uint64)) {
	whole := false
	defer func() {
		if !whole {
			m.give(held{n, words})
		}
	}()
	m.crew.ranges(len(words), huge/8, func(lo, hi int) { f(words[lo:hi]) })
	whole = true
}

// large is the size of buffers, in bytes, whose pages are taken at once.
const large = 1 << 20

// newWords returns n zeros, or nil if there is no slice that long. What is worth keeping
// is somewhat longer, so that it serves for other sizes too.
func newWords(n int) (words []uint64) {
	defer func() { _ = recover() }()
	switch c := capacity(n); {
	case n*8 < worth:
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
	if b.crowd != nil {
		b.crowd.bytes.Add(-int64(b.size))
	} else {
		b.cleanup.Stop()
	}
	give := b.held
	b.words = nil
	m.give(give)
	m.mu.Lock()
	m.pace.handed = max(0, m.pace.handed-int64(give.size))
	m.mu.Unlock()
}

// give takes back what a buffer held.
func (m *memory) give(h held) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.live -= int64(h.size)
	if h.size >= worth && h.words != nil {
		m.kept.put(h.words)
		m.trimLater()
	}
}

// count counts n bytes more as live.
func (m *memory) count(n int64) {
	m.live += n
	m.peak = max(m.peak, m.live)
	m.pace.handed += n
	m.pace.most = max(m.pace.most, m.live)
}

// reserve counts n bytes as live, unless they are beyond the limit. What is kept makes
// room for them.
func (m *memory) reserve(n int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.limit > 0 && n > m.limit-m.live {
		return false
	}
	m.count(n)
	most := m.pace.room()
	if m.limit > 0 {
		most = min(most, m.limit)
	}
	m.kept.trim(most - m.live)
	return true
}

// reserveAfterGC is reserve when what is unreachable by now has been given back.
func (m *memory) reserveAfterGC(n int64) bool {
	if n > m.limit {
		return false
	}
	driver.CollectGarbage()
	return m.reserve(n)
}

// Memory returns the bytes that are live, and their peak. A buffer that became
// unreachable is live until a garbage collection has found it.
func (m *memory) Memory() driver.MemoryStats {
	m.mu.Lock()
	defer m.mu.Unlock()
	return driver.MemoryStats{Live: m.live, Peak: m.peak, Reserved: m.live + m.kept.bytes, Mapped: m.kept.mapped, Limit: m.limit}
}

// ResetPeak sets the peak to what is live.
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

func bytesOf(db driver.Buffer, off, n int) []byte {
	b := bufferOf(db)
	if off < 0 || n > b.size-off {
		panic(fmt.Sprintf("cpu: bytes %d to %d of a buffer of %d", off, off+n, b.size))
	}
	return elements[byte](b)[off : off+n]
}

func bufferOf(b driver.Buffer) *buffer {
	own, ok := b.(*buffer)
	if !ok {
		panic(fmt.Sprintf("cpu: a buffer of type %T, expected one that this backend allocated", b))
	}
	return own
}

// elements returns all of a buffer as elements of type E. They are the buffer's as long
// as it is reachable; then others are given them: [Backend.Run] keeps it so.
func elements[E any](b *buffer) []E {
	if b.size == 0 {
		return nil
	}
	if b.words == nil {
		panic(fmt.Sprintf("cpu: a buffer of %d bytes is used after its release", b.size))
	}
	var e E
	return unsafe.Slice((*E)(unsafe.Pointer(&b.words[0])), b.size/int(unsafe.Sizeof(e)))
}
