//go:build cuda && linux && cgo

package gpu

import (
	"fmt"
	"runtime"
	"sync"
	"time"

	"halfnote/cuda/internal/drv"
	"halfnote/tensor/driver"
)

// staging is a ring of pinned host memory for asynchronous copies. Small copies are adjacent in a
// slot, so that a step with many of them does not wait for the GPU.
type staging struct {
	mu     sync.Mutex
	slots  [4]slot
	now    int // slot in use
	taken  int // bytes of it in use
	opened bool
}

// slot is a part of the ring. It is free once its event, recorded after each copy, is complete.
type slot struct {
	memory *drv.Pinned
	event  *drv.Event
	used   bool
}

// slotBytes is the maximum number of bytes per copy.
const slotBytes = 4 << 20

// room returns a slot and the offset of its next n bytes, at most slotBytes. It waits until the
// GPU has finished with their earlier content. The ring must be locked.
func (b *Backend) room(n int) (at *slot, off int) {
	s := &b.staging
	if !s.opened {
		for i := range s.slots {
			memory, err := b.device.Pinned(slotBytes)
			if err != nil {
				failed(fmt.Errorf("%s: memory for copies: %w", b.name, err))
			}
			event, err := b.device.NewEvent()
			if err != nil {
				failed(fmt.Errorf("%s: %w", b.name, err))
			}
			s.slots[i] = slot{memory: memory, event: event}
		}
		s.opened = true
	}
	if s.taken+n > slotBytes {
		next := (s.now + 1) % len(s.slots)
		if at = &s.slots[next]; at.used {
			b.await(at.event.Query) // may panic: nothing has changed yet
			at.used = false
		}
		s.now, s.taken = next, 0
	}
	off = s.taken
	s.taken += rounded(n)
	return &s.slots[s.now], off
}

// Write copies p to a buffer at offset off. It returns before the GPU has copied the data; the caller
// may then change p.
func (b *Backend) Write(db driver.Buffer, off int, p []byte) {
	at := b.bytesAt(db, off, len(p))
	if c := b.capture(); c != nil {
		c.write(db, at, p)
	} else {
		b.write(at, p)
	}
	runtime.KeepAlive(db)
}

// write is Write to an address.
func (b *Backend) write(at drv.Ptr, p []byte) {
	b.staging.mu.Lock()
	defer b.staging.mu.Unlock()
	for len(p) > 0 {
		n := min(len(p), slotBytes)
		s, from := b.room(n)
		copy(s.memory.Bytes()[from:], p[:n])
		b.must(b.stream.CopyIn(at, s.memory, from, n))
		b.must(b.stream.Record(s.event))
		s.used = true
		p, at = p[n:], at+drv.Ptr(n)
	}
}

// Read copies bytes of a buffer at offset off to p after all enqueued work is done.
func (b *Backend) Read(p []byte, db driver.Buffer, off int) {
	if c := b.capture(); c != nil {
		c.refuse("reading values (Item, Float64s, printing, a scaler's Step) is not allowed during capture; read them after a Replay")
	}
	at := b.bytesAt(db, off, len(p))
	b.staging.mu.Lock()
	defer b.staging.mu.Unlock()
	type part struct {
		*slot
		off int
		to  []byte
	}
	var ahead []part // pending copies, in order
	finish := func() {
		b.await(ahead[0].event.Query)
		copy(ahead[0].to, ahead[0].memory.Bytes()[ahead[0].off:])
		ahead = ahead[1:]
	}
	for len(p) > 0 {
		if len(ahead) == len(b.staging.slots) {
			finish()
		}
		n := min(len(p), slotBytes)
		s, to := b.room(n)
		b.must(b.stream.CopyOut(s.memory, to, at, n))
		b.must(b.stream.Record(s.event))
		s.used = true
		ahead = append(ahead, part{s, to, p[:n]})
		p, at = p[n:], at+drv.Ptr(n)
	}
	for len(ahead) > 0 {
		finish()
	}
	runtime.KeepAlive(db)
}

func (b *Backend) bytesAt(db driver.Buffer, off, n int) drv.Ptr {
	own := bufferOf(db)
	if off < 0 || n > own.size-off {
		panic(fmt.Sprintf("%s: bytes %d to %d are out of range of a buffer of %d", b.name, off, off+n, own.size))
	}
	return own.at() + drv.Ptr(off)
}

// wait waits until all enqueued work is done.
func (b *Backend) wait() { b.await(b.stream.Query) }

// await polls until a query is done. It does not block an OS thread, and it can be interrupted.
func (b *Backend) await(query func() (done bool, err error)) {
	start := time.Now()
	for {
		done, err := query()
		b.must(err)
		if done {
			return
		}
		driver.Poll()
		if waited := time.Since(start); waited > 100*time.Microsecond {
			time.Sleep(min(waited/8, time.Millisecond))
		} else {
			runtime.Gosched()
		}
	}
}

// failed panics with a driver error.
func failed(err error) { panic(&driver.Failure{Err: err}) }

// must panics if err is a driver error.
func (b *Backend) must(err error) {
	if err != nil {
		failed(fmt.Errorf("%s: %w", b.name, err))
	}
}
