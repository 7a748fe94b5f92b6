package interp

// Source returns the line of the cell that the calling goroutine runs, such as "In[3],
// line 5", in the innermost function of a cell, or "" in goroutines that do not run a
// cell. It requires [Session.Watch].
func (s *Session) Source() string { return s.places.Line(s.live.Where) }

// Watch turns the recording of lines for Source on or off.
func (s *Session) Watch(on bool) { s.live.Watch(on) }
