//go:build cuda && linux && cgo

package drv

import "halfnote/cuda/internal/link"

// Graph is work that was recorded once and is enqueued by one call, with the recorded addresses
// and parameters.
type Graph struct {
	dev  *Device
	exec uintptr
}

// BeginCapture makes s record work instead of running it, until [Stream.EndCapture]. Waiting for
// s or querying it meanwhile is not allowed.
func (s *Stream) BeginCapture() error {
	if e := s.dev.dead.Load(); e != nil {
		return e
	}
	if r := link.BeginCapture(s.dev.handle, s.handle); r != 0 {
		return s.dev.failed("cuStreamBeginCapture", r)
	}
	return nil
}

// EndCapture returns the recorded graph. The error [CaptureInvalidated] means that a call on s
// could not be captured; s is usable again.
func (s *Stream) EndCapture() (*Graph, error) {
	if e := s.dev.dead.Load(); e != nil {
		return nil, e
	}
	exec, r := link.EndCapture(s.dev.handle, s.handle)
	if r != 0 {
		return nil, s.dev.failed("cuStreamEndCapture", r)
	}
	return &Graph{s.dev, exec}, nil
}

// LaunchGraph enqueues g.
func (s *Stream) LaunchGraph(g *Graph) error {
	if e := s.dev.dead.Load(); e != nil {
		return e
	}
	if r := link.LaunchGraph(s.dev.handle, g.exec, s.handle); r != 0 {
		return s.dev.failed("cuGraphLaunch", r)
	}
	return nil
}

// Free frees the graph; the driver does so when its runs are done.
func (g *Graph) Free() error {
	if e := g.dev.dead.Load(); e != nil {
		return e
	}
	if r := link.FreeGraph(g.dev.handle, g.exec); r != 0 {
		return g.dev.failed("cuGraphExecDestroy", r)
	}
	return nil
}
