package interp

import "fmt"

// Source returns the line of a cell that the calling goroutine runs, as "In[3], line
// 5", that of the innermost function of a cell; "" in goroutines that run no cell. It
// knows it while [Session.Watch] is on.
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

// lineText says which line it is, what it has said before from memory: it is asked for
// by every operation.
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

// Watch tells cells to note which lines they run, for Source, or to cease to.
func (s *Session) Watch(on bool) { s.live.Watch(on) }
