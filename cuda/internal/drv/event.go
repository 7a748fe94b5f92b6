//go:build cuda && linux && cgo

package drv

import (
	"time"

	"gorgonia.org/cu"
)

// Event is a position in a stream's queue. It may be recorded repeatedly; a wait refers to the
// latest record before it.
type Event struct {
	dev   *Device
	event cu.Event
}

// NewEvent returns an event without timing.
func (d *Device) NewEvent() (*Event, error) { return d.newEvent(cu.DisableTiming) }

// NewTimer returns an event for [Event.Elapsed], at a small cost on the device.
func (d *Device) NewTimer() (*Event, error) { return d.newEvent(cu.DefaultEvent) }

func (d *Device) newEvent(flags cu.EventFlags) (*Event, error) {
	e := &Event{dev: d}
	err := d.do("cuEventCreate", func() (err error) {
		e.event, err = cu.MakeEvent(flags)
		return err
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Free releases the event.
func (e *Event) Free() error {
	return e.dev.do("cuEventDestroy", func() error { return cu.DestroyEvent(&e.event) })
}

// Record records e after all work enqueued on s.
func (s *Stream) Record(e *Event) error {
	return s.dev.do("cuEventRecord", func() error { return e.event.Record(s.stream) })
}

// Wait makes work enqueued on s from now on wait for e, which may belong to another device. It
// does not block.
func (s *Stream) Wait(e *Event) error {
	return s.dev.do("cuStreamWaitEvent", func() error { return s.stream.Wait(e.event, 0) })
}

// Query reports whether the event has been reached, or was never recorded.
func (e *Event) Query() (done bool, err error) {
	err = e.dev.do("cuEventQuery", func() error { return ready(&done, e.event.Query()) })
	return done, err
}

// Synchronize waits until the event has been reached, blocking a thread.
func (e *Event) Synchronize() error {
	return e.dev.do("cuEventSynchronize", func() error { return e.event.Synchronize() })
}

// Elapsed returns the time from e to end, to about half a microsecond. Both must come from
// [Device.NewTimer] and have been reached.
func (e *Event) Elapsed(end *Event) (time.Duration, error) {
	var ms float64
	err := e.dev.do("cuEventElapsedTime", func() (err error) {
		ms, err = e.event.Elapsed(end.event)
		return err
	})
	return time.Duration(ms * float64(time.Millisecond)), err
}
