package widget

import (
	"fmt"

	"halfnote/display"
)

// Widget is what boxes and [Interact] take: the types of this package.
type Widget interface {
	// Bundle returns what a cell shows: the widget itself for front ends that can,
	// else what it shows at this moment.
	Bundle() display.Bundle
	// ID returns the name by which front ends know the widget, "" before it was shown.
	ID() string
}

// control is what all widgets have.
type control struct{ model *model }

func newControl(name string, options []Option, values traits) *control {
	c := &control{newModel(name)}
	for trait, v := range values {
		c.model.state[trait] = v
	}
	for i, o := range options {
		if o == nil {
			panic(fmt.Sprintf("widget: %s: option %d is nil, expected an Option", name, i+1))
		}
		o(c)
	}
	return c
}

func (c *control) inner() *control { return c }

// controlOf returns nil for what is no widget of this package.
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

// String returns what the widget shows, as text.
func (c *control) String() string { return c.model.text() }

// Set changes a part of the widget's state by ipywidgets' name, such as "description",
// "disabled" or "max". It panics if the widget has no such part or that takes no such
// value.
func (c *control) Set(name string, v any) {
	c.model.mu.Lock()
	v = c.model.check(name, v)
	c.model.mu.Unlock()
	c.model.set(traits{name: v})
}

// SetLayout changes how the widget is laid out: the CSS property, such as "width", gets
// a value such as "50%". It panics if layouts have no such property.
func (c *control) SetLayout(property, value string) {
	layout := c.model.get("layout").(*model)
	layout.mu.Lock()
	layout.check(property, value)
	layout.mu.Unlock()
	layout.set(traits{property: value})
}

// Close takes the widget away from the front ends. Shown again, it is a new one.
func (c *control) Close() { c.model.close() }

// Option is a choice that constructors of widgets take.
type Option func(*control)

// Trait sets a part of the widget's state by ipywidgets' name, as Set does.
func Trait(name string, v any) Option { return func(c *control) { c.Set(name, v) } }

// Layout sets a CSS property, such as "width", to a value such as "50%".
func Layout(property, value string) Option {
	return func(c *control) { c.SetLayout(property, value) }
}

// Description sets the words beside a widget, or on a button.
func Description(text string) Option { return Trait("description", text) }

// Tooltip sets the words that appear when the pointer rests on a widget.
func Tooltip(text string) Option { return Trait("tooltip", text) }

// Disabled shows a widget that cannot be changed.
func Disabled() Option { return Trait("disabled", true) }

// Step sets by how much a slider moves; default 1, of floats 0.1.
func Step(by float64) Option { return Trait("step", by) }

// Base sets the base of a [NewFloatLogSlider]; default 10.
func Base(b float64) Option { return Trait("base", b) }

// Format sets how a slider writes its value, in d3's form; default "d", of floats ".2f",
// of logarithmic ones ".3g".
func Format(f string) Option { return Trait("readout_format", f) }

// Lazy has a slider or a field of text tell its value when the reader has let it go,
// not on the way.
func Lazy() Option { return Trait("continuous_update", false) }

// Vertical turns a slider or a bar.
func Vertical() Option { return Trait("orientation", "vertical") }

// Placeholder sets what an empty field of text shows.
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
		panic(fmt.Sprintf("widget: a %s has no look, expected a button, a bar or a box", c.model.kind.name))
	}
}

// Icon sets the name of a Font Awesome icon, such as "check", for a button.
func Icon(name string) Option { return Trait("icon", name) }
