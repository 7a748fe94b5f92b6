//go:build cuda && linux && cgo

package drv

import (
	"time"

	"gorgonia.org/cu"
)

// Event is a place in a stream's queue. It may be recorded again and again; who
// waits for it waits for the last record before.
type Event struct {
	dev   *Device
	event cu.Event
}

// NewEvent returns an event that says when, but not how long.
func (d *Device) NewEvent() (*Event, error) { return d.newEvent(cu.DisableTiming) }

// NewTimer returns an event for [Event.Elapsed], which costs the device a little
// more.
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

// Free gives the event up.
func (e *Event) Free() error {
	return e.dev.do("cuEventDestroy", func() error { return cu.DestroyEvent(&e.event) })
}

// Record puts e behind all that was enqueued on s.
func (s *Stream) Record(e *Event) error {
	return s.dev.do("cuEventRecord", func() error { return e.event.Record(s.stream) })
}

// Wait makes what is enqueued on s from now on wait for e, which may be another
// device's. It does not wait itself.
func (s *Stream) Wait(e *Event) error {
	return s.dev.do("cuStreamWaitEvent", func() error { return s.stream.Wait(e.event, 0) })
}

// Query reports whether the event has been reached, or was never recorded.
func (e *Event) Query() (done bool, err error) {
	err = e.dev.do("cuEventQuery", func() error { return ready(&done, e.event.Query()) })
	return done, err
}

// Synchronize waits until the event has been reached, holding a thread.
func (e *Event) Synchronize() error {
	return e.dev.do("cuEventSynchronize", func() error { return e.event.Synchronize() })
}

// Elapsed returns the time from e to end, both of [Device.NewTimer] and reached, to about
// half a microsecond.
func (e *Event) Elapsed(end *Event) (time.Duration, error) {
	var ms float64
	err := e.dev.do("cuEventElapsedTime", func() (err error) {
		ms, err = e.event.Elapsed(end.event)
		return err
	})
	return time.Duration(ms * float64(time.Millisecond)), err
}
