package interp

import (
	"slices"
	"sync"

	"halfnote/tensor/driver"
)

// sessions holds the sessions of running tests. All share the observers of tensors, and
// each session reports only the lines of its own goroutines.
var sessions struct {
	sync.Mutex
	list []*Session
	on   bool
}

func init() {
	each := func(f func(*Session)) {
		sessions.Lock()
		list := slices.Clone(sessions.list)
		sessions.Unlock()
		for _, s := range list {
			f(s)
		}
	}
	source := func() (line string) {
		each(func(s *Session) {
			if line == "" {
				line = s.Source()
			}
		})
		return line
	}
	tracing := func(on bool) {
		sessions.Lock()
		sessions.on = on
		sessions.Unlock()
		each(func(s *Session) { s.Watch(on) })
	}
	driver.SetHost(driver.Host{Source: source, Tracing: tracing})
}

// observed makes a session provide the lines of its cells to observers of tensors.
func observed(s *Session) {
	sessions.Lock()
	sessions.list = append(sessions.list, s)
	on := sessions.on
	sessions.Unlock()
	s.Watch(on)
}

// unobserved undoes observed.
func unobserved(s *Session) {
	sessions.Lock()
	defer sessions.Unlock()
	sessions.list = slices.DeleteFunc(sessions.list, func(o *Session) bool { return o == s })
}
