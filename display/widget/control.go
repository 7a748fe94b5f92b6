package widget

import (
	"fmt"

	"halfnote/display"
)

// Widget is implemented by the types of this package. Boxes and [Interact] accept it.
type Widget interface {
	// Bundle returns the widget's output in a cell: a reference to the widget for front ends that
	// support it, otherwise its current state as text.
	Bundle() display.Bundle
	// ID returns the widget's identifier in front ends, or "" if it has not been shown.
	ID() string
}

// control is embedded in all widgets.
type control struct{ model *model }

func newControl(name string, options []Option, values traits) *control {
	c := &control{newModel(name)}
	for trait, v := range values {
		c.model.state[trait] = v
	}
	for i, o := range options {
		if o == nil {
			panic(fmt.Sprintf("widget: %s: option %d is nil; want an Option", name, i+1))
		}
		o(c)
	}
	return c
}

func (c *control) inner() *control { return c }

// controlOf returns nil if w is not a widget of this package.
func controlOf(w Widget) *control {
	if c, ok := w.(interface{ inner() *control }); ok {
		return c.inner()
	}
	return nil
}

// Bundle implements [Widget].
func (c *control) Bundle() display.Bundle { return c.model.bundle() }

// ID implements [Widget].
func (c *control) ID() string {
	c.model.sending.Lock()
	defer c.model.sending.Unlock()
	if c.model.conn == nil {
		return ""
	}
	return c.model.conn.ID()
}

// String returns the widget's current state as text.
func (c *control) String() string { return c.model.text() }

// Set changes a trait of the widget by ipywidgets' name, such as "description", "disabled" or
// "max". It panics if the widget has no such trait or if v has the wrong type.
func (c *control) Set(name string, v any) {
	c.model.mu.Lock()
	v = c.model.check(name, v)
	c.model.mu.Unlock()
	c.model.set(traits{name: v})
}

// SetLayout sets a CSS property of the widget's layout, such as "width", to a value such as
// "50%". It panics if layouts have no such property.
func (c *control) SetLayout(property, value string) {
	layout := c.model.get("layout").(*model)
	layout.mu.Lock()
	layout.check(property, value)
	layout.mu.Unlock()
	layout.set(traits{property: value})
}

// Close removes the widget from the front ends. If it is shown again, it is a new widget.
func (c *control) Close() { c.model.close() }

// Option is an option of a widget's constructor.
type Option func(*control)

// Trait sets a trait of the widget by ipywidgets' name, as Set does.
func Trait(name string, v any) Option { return func(c *control) { c.Set(name, v) } }

// Layout sets a CSS property, such as "width", to a value such as "50%".
func Layout(property, value string) Option {
	return func(c *control) { c.SetLayout(property, value) }
}

// Description sets the label next to a widget, or on a button.
func Description(text string) Option { return Trait("description", text) }

// Tooltip sets the text that appears while the pointer rests on a widget.
func Tooltip(text string) Option { return Trait("tooltip", text) }

// Disabled disables a widget: the reader cannot change it.
func Disabled() Option { return Trait("disabled", true) }

// Step sets a slider's step; the default is 1, or 0.1 for floats. See [NewFloatSlider].
func Step(by float64) Option { return Trait("step", by) }

// Base sets the base of a [NewFloatLogSlider]; the default is 10.
func Base(b float64) Option { return Trait("base", b) }

// Format sets the format of a slider's value, in d3's syntax; the default is "d", or ".2f" for
// floats, or ".3g" for logarithmic sliders.
func Format(f string) Option { return Trait("readout_format", f) }

// Lazy makes a slider or text field report its value when the reader releases it, not while it
// changes.
func Lazy() Option { return Trait("continuous_update", false) }

// Vertical makes a slider or bar vertical.
func Vertical() Option { return Trait("orientation", "vertical") }

// Placeholder sets the text of an empty text field.
func Placeholder(text string) Option { return Trait("placeholder", text) }

// Look sets the colours of a button, bar or box: "primary", "success", "info",
// "warning" or "danger"; a bar has no "primary".
func Look(name string) Option {
	return func(c *control) {
		for _, trait := range []string{"button_style", "bar_style", "box_style"} {
			if _, ok := c.model.kind.traits[trait]; ok {
				c.Set(trait, name)
				return
			}
		}
		panic(fmt.Sprintf("widget: a %s has no look; want a button, a bar or a box", c.model.kind.name))
	}
}

// Icon sets the name of a Font Awesome icon, such as "check", for a button.
func Icon(name string) Option { return Trait("icon", name) }
