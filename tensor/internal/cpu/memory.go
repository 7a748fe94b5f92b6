package cpu

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"sync"
	"time"
	"unsafe"

	"halfnote/tensor/driver"
)

// memory allocates and counts.
type memory struct {
	limit int64 // bytes that may be live; 0: not known

	mu         sync.Mutex
	live, peak int64
	fresh      int64  // bytes allocated since the collection that was counted last
	cycles     uint64 // which one that was
}

// buffer is memory of the Go heap, aligned for every dtype.
type buffer struct {
	size    int
	words   []uint64 // nil once released
	cleanup runtime.Cleanup
}

func (b *buffer) Bytes() int { return b.size }

// Alloc returns a zeroed buffer of n bytes.
func (m *memory) Alloc(n int) (driver.Buffer, error) {
	if n < 0 {
		return nil, fmt.Errorf("cpu: alloc: %d bytes asked for, expected 0 or more", n)
	}
	if n >= large {
		m.collect(int64(n))
	}
	if !m.reserve(int64(n)) && !m.reserveAfterGC(int64(n)) {
		live := m.Memory().Live
		return nil, fmt.Errorf("cpu: alloc: %s asked for, %s of %s are free", size(int64(n)), size(max(0, m.limit-live)), size(m.limit))
	}
	words := newWords((n + 7) / 8)
	if words == nil {
		m.give(int64(n))
		return nil, fmt.Errorf("cpu: alloc: %s asked for, more than can be addressed", size(int64(n)))
	}
	if n >= large { // take the pages now: what is not there should fail here, and memory figures should be true
		for i := 0; i < len(words); i += 512 {
			words[i] = 0
		}
	}
	b := &buffer{size: n, words: words}
	b.cleanup = runtime.AddCleanup(b, m.give, int64(n))
	return b, nil
}

// large is the size of buffers, in bytes, that are worth a look at the garbage.
const large = 1 << 20

// garbage is how many bytes of large buffers may be allocated between two
// collections however little is live.
const garbage = 48 << 20

// collect runs the garbage collector if n more bytes would make what was allocated
// since its last run more than half of what is live. Its own pace would let tensors
// that are used no more take as much memory as those that are.
func (m *memory) collect(n int64) {
	sample := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(sample)
	cycles := sample[0].Value.Uint64()
	m.mu.Lock()
	if cycles != m.cycles {
		m.cycles, m.fresh = cycles, 0
	}
	due := m.fresh+n > max(garbage, m.live/2)
	m.fresh += n
	if due {
		m.cycles, m.fresh = cycles+1, n
	}
	m.mu.Unlock()
	if due {
		runtime.GC()
	}
}

// newWords returns n zeros, or nil if a slice cannot be that long.
func newWords(n int) (words []uint64) {
	defer func() { _ = recover() }()
	return make([]uint64, n)
}

// Release frees b before it is unreachable.
func (m *memory) Release(db driver.Buffer) {
	b := bufferOf(db)
	if b.words == nil || b.size == 0 {
		return
	}
	b.cleanup.Stop()
	b.words = nil
	m.give(int64(b.size))
}

// reserve counts n bytes as live, unless they are beyond the limit.
func (m *memory) reserve(n int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.limit > 0 && n > m.limit-m.live {
		return false
	}
	m.live += n
	m.peak = max(m.peak, m.live)
	return true
}

// reserveAfterGC is reserve when what is unreachable by now has been given back,
// which cleanups do soon after a collection.
func (m *memory) reserveAfterGC(n int64) bool {
	if n > m.limit {
		return false
	}
	runtime.GC()
	for range 10 {
		if m.reserve(n) {
			return true
		}
		time.Sleep(time.Millisecond)
	}
	return false
}

func (m *memory) give(n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.live -= n
}

// Memory returns the bytes that are live, and their peak. A buffer that became
// unreachable is live until a garbage collection has found it.
func (m *memory) Memory() driver.MemoryStats {
	m.mu.Lock()
	defer m.mu.Unlock()
	return driver.MemoryStats{Live: m.live, Peak: m.peak, Limit: m.limit}
}

// ResetPeak sets the peak to what is live.
func (m *memory) ResetPeak() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.peak = m.live
}

// Read copies bytes of a buffer, from off on, to p.
func (*memory) Read(p []byte, b driver.Buffer, off int) { copy(p, bytesOf(b, off, len(p))) }

// Write copies p to a buffer, from off on.
func (*memory) Write(b driver.Buffer, off int, p []byte) { copy(bytesOf(b, off, len(p)), p) }

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

// elements returns all of a buffer as elements of type E.
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

// size formats a number of bytes.
func size(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d bytes", n)
}
