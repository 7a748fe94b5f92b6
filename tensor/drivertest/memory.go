package drivertest

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"halfnote/tensor/driver"
)

func testMemory(t *testing.T, b driver.Backend) {
	for _, n := range []int{0, 1, 7, 8, 4097, 1 << 20} {
		buf, err := b.Alloc(n)
		if err != nil {
			t.Fatalf("alloc of %d bytes: %v", n, err)
		}
		if buf.Bytes() != n {
			t.Errorf("alloc of %d bytes: got %d bytes", n, buf.Bytes())
		}
		got := bytes.Repeat([]byte{1}, n)
		b.Read(got, buf, 0)
		if !bytes.Equal(got, make([]byte, n)) {
			t.Errorf("alloc of %d bytes: memory is not zero", n)
		}
	}
	for _, n := range []int{-1, math.MaxInt / 2} {
		if buf, err := b.Alloc(n); err == nil {
			t.Errorf("alloc of %d bytes: got %v, want an error", n, buf)
		}
	}
	buf, err := b.Alloc(10)
	if err != nil {
		t.Fatal(err)
	}
	b.Write(buf, 3, []byte("half"))
	b.Synchronize()
	got := make([]byte, 6)
	b.Read(got, buf, 2)
	if want := "\x00half\x00"; string(got) != want {
		t.Errorf("bytes 2 to 8 after a write at 3: got %q, want %q", got, want)
	}
	if a, ok := b.(driver.Accessor); ok {
		testAccessor(t, b, a)
	}
	if r, ok := b.(driver.MemoryReporter); ok {
		testReport(t, b, r)
	}
	if r, ok := b.(driver.Recycler); ok {
		testRecycler(t, b, r)
	}
}

// testAccessor checks [driver.Accessor] with Read and Write.
func testAccessor(t *testing.T, b driver.Backend, a driver.Accessor) {
	buf, err := b.Alloc(24)
	if err != nil {
		t.Fatal(err)
	}
	b.Write(buf, 8, []byte{1, 2, 3, 4, 5, 6, 7, 0xf8, 9})
	for bytes, want := range map[int]uint64{1: 1, 2: 0x201, 4: 0x4030201, 8: 0xf807060504030201} {
		if got := a.Load(buf, 8, bytes); got != want {
			t.Errorf("load of %d bytes: got %x, want %x", bytes, got, want)
		}
		a.Store(buf, 16, bytes, 0xaabbccdd11223344)
		got := make([]byte, 8)
		b.Read(got, buf, 16)
		if bits, kept := binary.NativeEndian.Uint64(got), ^uint64(0)<<(8*bytes-1)<<1; bits != 0xaabbccdd11223344&^kept|9&kept {
			t.Errorf("store of %d bytes: got %x", bytes, bits)
		}
		b.Write(buf, 16, []byte{9, 0, 0, 0, 0, 0, 0, 0})
	}
}

// testRecycler checks [driver.Recycler]: memory that is not cleared keeps what is written to it, and memory
// from Alloc is zero.
func testRecycler(t *testing.T, b driver.Backend, r driver.Recycler) {
	for _, n := range []int{0, 1, 1000, 40_000, 1 << 20} {
		unset, err := r.AllocUnset(n)
		if err != nil || unset.Bytes() != n {
			t.Fatalf("alloc of %d bytes without clearing: got %v, %v", n, unset, err)
		}
		want := bytes.Repeat([]byte{5}, n)
		b.Write(unset, 0, want)
		got := make([]byte, n)
		if b.Read(got, unset, 0); !bytes.Equal(got, want) {
			t.Errorf("%d bytes: the bytes read differ from those written", n)
		}
		if free, ok := b.(driver.Releaser); ok {
			free.Release(unset)
		}
		zero, err := b.Alloc(n)
		if err != nil {
			t.Fatal(err)
		}
		if b.Read(got, zero, 0); !bytes.Equal(got, make([]byte, n)) {
			t.Errorf("alloc of %d bytes after a release of that size: memory is not zero", n)
		}
	}
}

func testReport(t *testing.T, b driver.Backend, r driver.MemoryReporter) {
	const n = 1 << 20
	buf, err := b.Alloc(n)
	if err != nil {
		t.Fatal(err)
	}
	r.ResetPeak()
	before := r.Memory()
	more, err := b.Alloc(n)
	if err != nil {
		t.Fatal(err)
	}
	after := r.Memory()
	if after.Peak < n || after.Peak < after.Live || before.Live < n {
		t.Errorf("%+v, then %d bytes more: got %+v", before, n, after)
	}
	if free, ok := b.(driver.Releaser); ok {
		live := r.Memory().Live
		free.Release(buf)
		free.Release(buf)
		free.Release(more)
		if got := r.Memory().Live; got > live-2*n {
			t.Errorf("release of 2 * %d bytes: live went from %d to %d", n, live, got)
		}
		if got := r.Memory().Peak; got < live {
			t.Errorf("peak after a release: got %d, want at least %d", got, live)
		}
	}
}
