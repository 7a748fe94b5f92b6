//go:build cuda && linux && cgo

package gpu

import (
	"fmt"
	"unsafe"

	"halfnote/tensor/driver"
)

// Share implements [driver.Sharer].
func (b *Backend) Share(db driver.Buffer, off, n int) []byte {
	at := b.bytesAt(db, off, n)
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), n)
}

// Enqueue implements [driver.Sharer].
func (b *Backend) Enqueue(f func(stream uintptr) error) (done func() (bool, error), err error) {
	turn := b.stream.enter()
	defer b.stream.leave(turn)
	if turn != nil {
		return nil, fmt.Errorf("%s: collectives of other libraries are not allowed during capture; move them outside the captured step", b.name)
	}
	event, err := b.device.NewEvent() // makes the context current
	if err != nil {
		return nil, err
	}
	if err = f(b.stream.Handle()); err == nil {
		err = b.stream.Record(event)
	}
	if err != nil {
		event.Free()
		return nil, err
	}
	freed := false
	return func() (bool, error) {
		if freed {
			return true, nil
		}
		finished, err := event.Query()
		if finished {
			freed, err = true, event.Free()
		}
		return finished, err
	}, nil
}
