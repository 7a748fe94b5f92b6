package display

// Themes lists the themes that values can be drawn in; "auto" follows the reader's system.
var Themes = [...]string{"auto", "dark", "light"}

// Themed is a value that can be drawn in several themes.
type Themed interface {
	// InTheme returns the value in one of [Themes]. A value with explicitly chosen colours returns
	// itself.
	InTheme(name string) any
}

// SetTheme sets the theme of values shown later. Without a theme, values keep the colours that
// they were made with.
func (s *Screen) SetTheme(name string) { s.theme.Store(&name) }

// Theme returns the current theme, "" for none.
func (s *Screen) Theme() string {
	if name := s.theme.Load(); name != nil {
		return *name
	}
	return ""
}

// Of renders a value as the function [Of] does, in the screen's theme.
func (s *Screen) Of(v any) Bundle {
	v = s.themed(v)
	if s.Before != nil {
		s.Before(v)
	}
	return Of(v)
}

// themed returns v in the screen's theme.
func (s *Screen) themed(v any) any {
	if t, ok := v.(Themed); ok && s.Theme() != "" && !isNil(v) {
		return t.InTheme(s.Theme())
	}
	return v
}
