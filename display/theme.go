package display

import "sync/atomic"

// Themes lists the themes that values can be drawn in; "auto" follows the reader's system.
var Themes = [...]string{"auto", "dark", "light"}

// Themed is a value that can be drawn in several themes.
type Themed interface {
	// InTheme returns the value in one of [Themes]. A value with explicitly chosen colours returns
	// itself.
	InTheme(name string) any
}

// Forms lists the forms that charts can be shown in. JupyterLab and VS Code draw interactive ones.
var Forms = [...]string{"interactive", "picture"}

// Formed is a value that can be shown in several forms.
type Formed interface {
	// InForm returns the value in one of [Forms]. A value with an explicitly chosen form returns
	// itself.
	InForm(name string) any
}

// SetTheme sets the theme of values shown later. Without a theme, values keep the colours that
// they were made with.
func (s *Screen) SetTheme(name string) { s.theme.Store(&name) }

// Theme returns the current theme, "" for none.
func (s *Screen) Theme() string { return setting(&s.theme) }

// SetForm sets the form of values shown later. Without a form, values keep that which they were
// made with.
func (s *Screen) SetForm(name string) { s.form.Store(&name) }

// Form returns the current form, "" for none.
func (s *Screen) Form() string { return setting(&s.form) }

func setting(p *atomic.Pointer[string]) string {
	if name := p.Load(); name != nil {
		return *name
	}
	return ""
}

// Of renders a value as the function [Of] does, in the screen's theme and form.
func (s *Screen) Of(v any) Bundle {
	v = s.styled(v)
	if s.Before != nil {
		s.Before(v)
	}
	if s.Present != nil {
		v = s.Present(v)
	}
	return Of(v)
}

// styled returns v in the screen's theme and form.
func (s *Screen) styled(v any) any {
	if t, ok := v.(Themed); ok && s.Theme() != "" && !isNil(v) {
		v = t.InTheme(s.Theme())
	}
	if f, ok := v.(Formed); ok && s.Form() != "" && !isNil(v) {
		v = f.InForm(s.Form())
	}
	return v
}
