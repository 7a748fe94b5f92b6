package interp

import "fmt"

// Source returns the line of the cell that the calling goroutine runs, such as "In[3],
// line 5", in the innermost function of a cell, or "" in goroutines that do not run a
// cell. It requires [Session.Watch].
func (s *Session) Source() string {
	s.placing.Lock()
	defer s.placing.Unlock()
	for n := range s.live.Where {
		if n > len(s.marks) {
			continue
		}
		m := s.marks[n-1]
		if m.file != nil {
			return fmt.Sprintf("%s, line %d", m.file.name, m.line)
		}
		if cell, line, _ := m.place(); cell != 0 {
			return s.lineText(cell, line)
		}
	}
	return ""
}

// lineText returns the label of a line, cached because every operation asks for it.
func (s *Session) lineText(cell, line int) string {
	at := [2]int{cell, line}
	text, ok := s.sources[at]
	if !ok {
		text = fmt.Sprintf("%s, line %d", inLabel(cell), line)
		if s.sources == nil {
			s.sources = map[[2]int]string{}
		}
		s.sources[at] = text
	}
	return text
}

// Watch turns the recording of lines for Source on or off.
func (s *Session) Watch(on bool) { s.live.Watch(on) }
