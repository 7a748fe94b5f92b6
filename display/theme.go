package display

// Themes are the names of the colours that values can be drawn in: for light pages,
// for dark ones, and for those that the reader's system asks for.
var Themes = [...]string{"auto", "dark", "light"}

// Themed is a value that can be drawn in several themes.
type Themed interface {
	// InTheme returns the value in one of [Themes]. A value whose colours were chosen
	// returns itself.
	InTheme(name string) any
}

// SetTheme sets the theme of what is shown from now on. Without one, values have the
// colours that they were made with.
func (s *Screen) SetTheme(name string) { s.theme.Store(&name) }

// Theme returns the theme that was set, "" for none.
func (s *Screen) Theme() string {
	if name := s.theme.Load(); name != nil {
		return *name
	}
	return ""
}

// Of renders a value as the function [Of] does, in the screen's theme.
func (s *Screen) Of(v any) Bundle {
	if t, ok := v.(Themed); ok && s.Theme() != "" {
		v = t.InTheme(s.Theme())
	}
	if s.Before != nil {
		s.Before(v)
	}
	return Of(v)
}
