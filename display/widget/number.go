package widget

import (
	"fmt"
	"math"
)

// Int is a widget with a whole number.
type Int struct{ *control }

// NewIntSlider returns a slider from min to max. A value outside becomes the nearest
// one inside. It panics if min is greater than max. It is ipywidgets' IntSlider.
func NewIntSlider(value, min, max int, options ...Option) *Int {
	return newInt("IntSlider", value, min, max, options)
}

// NewIntProgress returns a bar that is full at max. It panics if min is greater than
// max. It is ipywidgets' IntProgress.
func NewIntProgress(value, min, max int, options ...Option) *Int {
	return newInt("IntProgress", value, min, max, options)
}

// NewIntText returns a field for a number. It is ipywidgets' IntText.
func NewIntText(value int, options ...Option) *Int {
	return &Int{newControl("IntText", options, traits{"value": value})}
}

func newInt(name string, value, min, max int, options []Option) *Int {
	if min > max {
		panic(fmt.Sprintf("widget: %s: min is %d and max is %d, expected min <= max", name, min, max))
	}
	c := newControl(name, options, traits{"min": min, "max": max})
	c.model.fit = func(s traits) {
		s["value"] = clamp(s["value"].(int), s["min"].(int), s["max"].(int))
	}
	c.model.change(traits{"value": value})
	return &Int{c}
}

// Value returns the number.
func (w *Int) Value() int { return w.model.get("value").(int) }

// SetValue changes the number.
func (w *Int) SetValue(v int) { w.model.set(traits{"value": v}) }

// OnChange has f called with the number whenever it has changed, whoever changed it.
func (w *Int) OnChange(f func(int)) {
	w.model.observe(changes(w.Value, f))
}

// Float is a widget with a number.
type Float struct{ *control }

// NewFloatSlider returns a slider from min to max. A value outside becomes the nearest
// one inside. It panics unless min <= max. It is ipywidgets' FloatSlider.
func NewFloatSlider(value, min, max float64, options ...Option) *Float {
	return newFloat("FloatSlider", value, min, max, options)
}

// NewFloatLogSlider returns a slider from 10 to the power of min to 10 to the power of
// max, or that of another [Base]. A value outside becomes the nearest one inside. It
// panics unless min <= max. It is ipywidgets' FloatLogSlider.
func NewFloatLogSlider(value, min, max float64, options ...Option) *Float {
	return newFloat("FloatLogSlider", value, min, max, options)
}

// NewFloatProgress returns a bar that is full at max. It panics unless min <= max. It
// is ipywidgets' FloatProgress.
func NewFloatProgress(value, min, max float64, options ...Option) *Float {
	return newFloat("FloatProgress", value, min, max, options)
}

// NewFloatText returns a field for a number. It is ipywidgets' FloatText.
func NewFloatText(value float64, options ...Option) *Float {
	return &Float{newControl("FloatText", options, traits{"value": value})}
}

func newFloat(name string, value, min, max float64, options []Option) *Float {
	if !(min <= max) {
		panic(fmt.Sprintf("widget: %s: min is %g and max is %g, expected min <= max", name, min, max))
	}
	c := newControl(name, options, traits{"min": min, "max": max})
	c.model.fit = func(s traits) {
		min, max := s["min"].(float64), s["max"].(float64)
		if base, ok := s["base"].(float64); ok {
			min, max = math.Pow(base, min), math.Pow(base, max)
		}
		s["value"] = clamp(s["value"].(float64), min, max)
	}
	c.model.change(traits{"value": value})
	return &Float{c}
}

// Value returns the number.
func (w *Float) Value() float64 { return w.model.get("value").(float64) }

// SetValue changes the number. Numbers that are not finite show as nothing.
func (w *Float) SetValue(v float64) { w.model.set(traits{"value": v}) }

// OnChange has f called with the number whenever it has changed, whoever changed it.
func (w *Float) OnChange(f func(float64)) {
	w.model.observe(changes(w.Value, f))
}

func clamp[T int | float64](v, lo, hi T) T { return max(lo, min(hi, v)) }

// changes returns what calls f with the value if that has changed since the last time:
// observers are called for every part of a widget's state.
func changes[T comparable](value func() T, f func(T)) func() {
	var last guarded[T]
	last.swap(value())
	return func() {
		if v := value(); last.swap(v) {
			f(v)
		}
	}
}
