package interp

import "halfnote/interp/internal/front"

// commit makes the cell's environment the session's.
func (s *Session) commit(c *front.Bound, l *front.Lowered) {
	s.checking.Lock()
	s.mu.Lock()
	unused := s.front.Accept(c, l)
	s.env, s.snap = c.Env, nil
	s.mu.Unlock()
	s.checking.Unlock()
	for _, b := range unused {
		s.engine.Remove(b.Slot)
	}
}

// take makes an environment the session's.
func (s *Session) take(e *front.Env) {
	e.Freeze()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.env, s.snap = e, nil
}
