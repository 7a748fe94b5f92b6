package cpu

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"halfnote/tensor/driver"
)

func allocated(t *testing.T, b *Backend, n int) *buffer {
	t.Helper()
	buf, err := b.AllocUnset(n)
	if err != nil {
		t.Fatal(err)
	}
	return bufferOf(buf)
}

// TestCapacity checks the rounding of buffer sizes.
func TestCapacity(t *testing.T) {
	last := 0
	for n := keepMin / 8; n < 1<<20; n += 1 + n/1000 {
		c := capacity(n)
		if c < n || c > n+n/16 || c < last || capacity(c) != c {
			t.Errorf("%d words: got %d, of which %d; want at least the request, at most %d, at least the previous capacity %d, and a fixed point", n, c, capacity(c), n+n/16, last)
		}
		last = c
	}
}

// TestReleasedMemoryIsReused checks that released memory is reused, also for smaller sizes unless most
// of it would be wasted, and that Alloc zeroes it.
func TestReleasedMemoryIsReused(t *testing.T) {
	for _, n := range []int{2 * keepMin, 16 << 10, 100 << 10} {
		t.Run(fmt.Sprint(n), func(t *testing.T) { testReuse(t, n) })
	}
}

func testReuse(t *testing.T, n int) {
	b := New(1)
	x := allocated(t, b, n)
	at := unsafe.Pointer(&x.words[0])
	b.Write(x, 0, bytes.Repeat([]byte{7}, n))
	b.Release(x)
	if got, want := b.Memory(), (driver.MemoryStats{Peak: int64(n), Reserved: int64(capacity(n/8)) * 8, Limit: b.limit}); got != want {
		t.Errorf("after a release: got %+v, want %+v", got, want)
	}
	y := allocated(t, b, n-n/1000)
	if unsafe.Pointer(&y.words[0]) != at {
		t.Errorf("slightly smaller buffer: got other memory, want the released one")
	}
	b.Release(y)
	z, err := b.Alloc(n)
	if err != nil {
		t.Fatal(err)
	}
	if got := elements[byte](bufferOf(z)); unsafe.Pointer(&got[0]) != at || !bytes.Equal(got, make([]byte, n)) {
		t.Errorf("Alloc of the same size: got other memory or other content, want the released memory with zeros")
	}
	b.Release(z)
	if y := allocated(t, b, n/2); unsafe.Pointer(&y.words[0]) == at {
		t.Errorf("half the size: got the released memory, want other memory")
	}
}

// TestRunKeepsItsOperands checks that a running kernel's operands are not released, even if
// they are otherwise unreachable.
func TestRunKeepsItsOperands(t *testing.T) {
	defer driver.SetHost(driver.Host{})
	const n = 8 * copyItem
	b := New(1)
	var taken []*buffer
	inside := false // allocations poll too
	driver.SetHost(driver.Host{Poll: func() {
		if inside {
			return
		}
		inside = true
		defer func() { inside = false }()
		driver.CollectGarbage()
		p := allocated(t, b, 4*n)
		for i := range p.words {
			p.words[i] = ^uint64(0)
		}
		taken = append(taken, p)
	}})
	vector := func() driver.View {
		return driver.View{Buffer: allocated(t, b, 4*n), DType: driver.Float32, Shape: []int{n}, Stride: []int{1}}
	}
	dst := vector()
	func() {
		src := []driver.View{vector()}
		for i := range n {
			elements[float32](bufferOf(src[0].Buffer))[i] = 3
		}
		b.Run(driver.Kernel{Code: driver.Affine, Alpha: 2}, dst, src...)
	}()
	for i, x := range elements[float32](bufferOf(dst.Buffer)) {
		if x != 6 {
			t.Fatalf("element %d: got %v, want 6", i, x)
		}
	}
	if len(taken) < 2 {
		t.Errorf("got %d polls, want 2 or more", len(taken))
	}
}

// TestCachedMemoryIsReleased checks that memory in the free list is released if it is unused for a
// period, or if memory is short.
func TestCachedMemoryIsReleased(t *testing.T) {
	const n = 1 << 20
	b := New(1)
	b.Release(allocated(t, b, n))
	b.trim()
	if got := b.Memory().Reserved; got != n {
		t.Errorf("after a period with a use: got %d reserved bytes, want %d", got, n)
	}
	b.trim()
	if got := b.Memory().Reserved; got != 0 {
		t.Errorf("after a period without a use: got %d reserved bytes, want 0", got)
	}
	b.limit = 3 * n
	b.Release(allocated(t, b, 2*n))
	x := allocated(t, b, n)
	if got := b.Memory(); got.Reserved != n && got.Reserved != 3*n {
		t.Errorf("a third of the limit after the release of two thirds: got %+v, want %d or %d reserved bytes", got, n, 3*n)
	}
	y := allocated(t, b, 3*n/2)
	if got := b.Memory().Reserved; got > b.limit {
		t.Errorf("half of the limit in addition: got %d reserved bytes, want at most %d", got, b.limit)
	}
	if _, err := b.Alloc(n); err == nil {
		t.Errorf("more than is left: got no error")
	}
	runtime.KeepAlive(x)
	runtime.KeepAlive(y)
}

// TestGarbageIsReusedFirst checks that garbage is collected before much new memory is allocated.
func TestGarbageIsReusedFirst(t *testing.T) {
	const n = 4 << 20
	b := New(1)
	live := allocated(t, b, n)
	for range 100 {
		allocated(t, b, n)
	}
	if got := b.Memory().Peak; got > gcEarly+8*n {
		t.Errorf("100 buffers of %d bytes, each dropped: got a peak of %d bytes, want at most %d", n, got, gcEarly+8*n)
	}
	runtime.KeepAlive(live)
}

// TestAllocPolls checks that a large allocation can be interrupted, and then takes no memory.
func TestAllocPolls(t *testing.T) {
	defer driver.SetHost(driver.Host{})
	b := New(1)
	alloc := func() (got any) {
		defer func() { got = recover() }()
		_, err := b.Alloc(64 << 20)
		return err
	}
	for _, how := range []string{"new memory", "reused memory"} {
		driver.SetHost(driver.Host{Poll: func() { panic("enough") }})
		if got := alloc(); got != "enough" || b.Memory().Live != 0 {
			t.Errorf("%s: got %v and %d bytes live, want the poll's panic and none", how, got, b.Memory().Live)
		}
		driver.SetHost(driver.Host{})
		b.Release(allocated(t, b, 64<<20))
	}
}

// TestDueHot checks that small results that are dropped at once reuse the memory that one
// collection frees, even after much more was live, and that results that are kept cause no
// collections.
func TestDueHot(t *testing.T) {
	const us = 1000
	for _, c := range []struct {
		name string
		pace gcPace
		n    int
		want bool
	}{
		{"all is garbage", gcPace{hot: 12 << 20, allocated: 20 << 20, found: 1, cost: 500 * us}, 512 << 10, true},
		{"a large result", gcPace{hot: 12 << 20, allocated: 20 << 20, found: 1, cost: 500 * us}, 4 << 20, false},
		{"little allocated", gcPace{hot: 12 << 20, allocated: 12 << 20, found: 1, cost: 200 * us}, 512 << 10, false},
		{"an expensive collection", gcPace{hot: 12 << 20, allocated: 20 << 20, found: 1, cost: 800 * us}, 512 << 10, false},
		{"much allocated before one", gcPace{hot: 12 << 20, allocated: 32 << 20, found: 1, cost: 800 * us}, 512 << 10, true},
		{"all is kept", gcPace{hot: 12 << 20, allocated: 128 << 20, found: 0, cost: 200 * us}, 512 << 10, false},
		{"half is kept", gcPace{hot: 12 << 20, allocated: 20 << 20, found: .5, cost: 300 * us}, 512 << 10, true},
	} {
		if got := c.pace.dueHot(c.n); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
	const n = 512 << 10
	b := New(1)
	var list [100]*buffer // live memory has been large
	for i := range list {
		list[i] = allocated(t, b, n)
	}
	for _, x := range list {
		b.Release(x)
	}
	b.pace.cost, b.pace.found = 0, 1
	b.ResetPeak()
	for range 200 {
		allocated(t, b, n)
		b.pace.cost = 0 // however busy the machine is
	}
	if got, most := b.Memory().Peak, b.pace.hot+gcMin; got > most {
		t.Errorf("results that were dropped: %d bytes are live, want at most %d", got, most)
	}
}

// TestHotBytes checks how many bytes are written in turn, given the size of the third cache.
func TestHotBytes(t *testing.T) {
	for _, c := range []struct{ cache, want int64 }{
		{0, 12 << 20}, {8 << 20, 12 << 20}, {32 << 20, 12 << 20}, {60 << 20, 20 << 20}, {96 << 20, 32 << 20}, {480 << 20, 32 << 20},
	} {
		if got := hotBytes(c.cache); got != c.want {
			t.Errorf("a third cache of %d bytes: got %d, want %d", c.cache, got, c.want)
		}
	}
}

// TestDueShort checks when a collection comes before memory is taken from the system: a small result
// waits until a third cache's share has been allocated, if collections take much of the time.
func TestDueShort(t *testing.T) {
	later := time.Now().Add(time.Hour)
	for _, c := range []struct {
		name      string
		allocated int64
		notBefore time.Time
		n         int
		live      int64
		want      bool
	}{
		{"a small result", 16 << 20, later, 512 << 10, 0, false},
		{"a small result, collections are rare", 16 << 20, time.Time{}, 512 << 10, 0, true},
		{"a small result after others", 24 << 20, later, 512 << 10, 0, true},
		{"a large result", 16 << 20, later, 4 << 20, 0, true},
		{"little allocated", 8 << 20, time.Time{}, 4 << 20, 0, false},
		{"little compared with live memory", 16 << 20, time.Time{}, 4 << 20, 1 << 30, false},
	} {
		p := gcPace{hot: 20 << 20, allocated: c.allocated, notBefore: c.notBefore, cost: 100_000}
		if got := p.dueShort(c.n, c.live); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}
