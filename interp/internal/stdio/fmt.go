package stdio

import (
	"fmt"
	"io"

	"halfnote/interp/internal/dynamic"
)

// Printing returns the print and scan functions of package fmt, by name.
func (s *Streams) Printing() map[string]any {
	out := func() io.Writer {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.vars[1] != s.files[1] { // the cell has assigned another file
			return s.vars[1]
		}
		return s.live.Stdout()
	}
	in := func() io.Reader { return s.Standard(0)() }
	return map[string]any{
		"Print":   func(a ...any) (int, error) { return dynamic.Print(out(), a...) },
		"Printf":  func(format string, a ...any) (int, error) { return dynamic.Printf(out(), format, a...) },
		"Println": func(a ...any) (int, error) { return dynamic.Println(out(), a...) },
		"Scan":    func(a ...any) (int, error) { return fmt.Fscan(in(), a...) },
		"Scanf":   func(format string, a ...any) (int, error) { return fmt.Fscanf(in(), format, a...) },
		"Scanln":  func(a ...any) (int, error) { return fmt.Fscanln(in(), a...) },
	}
}
