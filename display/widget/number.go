package widget

import (
	"fmt"
	"math"
)

// Int is a widget with an integer value.
type Int struct{ *control }

// NewIntSlider returns a slider from min to max. Values outside that range are clamped. It panics
// if min > max. It is ipywidgets' IntSlider.
func NewIntSlider(value, min, max int, options ...Option) *Int {
	return newInt("IntSlider", value, min, max, options)
}

// NewIntProgress returns a progress bar that is full at max. It panics if min > max. It is
// ipywidgets' IntProgress.
func NewIntProgress(value, min, max int, options ...Option) *Int {
	return newInt("IntProgress", value, min, max, options)
}

// NewIntText returns a text field for an integer. It is ipywidgets' IntText.
func NewIntText(value int, options ...Option) *Int {
	return &Int{newControl("IntText", options, traits{"value": value})}
}

func newInt(name string, value, min, max int, options []Option) *Int {
	if min > max {
		panic(fmt.Sprintf("widget: %s: min is %d and max is %d; want min <= max", name, min, max))
	}
	c := newControl(name, options, traits{"min": min, "max": max})
	c.model.fit = func(s traits) {
		s["value"] = clamp(s["value"].(int), s["min"].(int), s["max"].(int))
	}
	c.model.change(traits{"value": value})
	return &Int{c}
}

// Value returns the integer.
func (w *Int) Value() int { return w.model.get("value").(int) }

// SetValue sets the integer.
func (w *Int) SetValue(v int) { w.model.set(traits{"value": v}) }

// OnChange registers f, which is called with the new value whenever it changes, by the reader or
// by the program.
func (w *Int) OnChange(f func(int)) {
	w.model.observe(changes(w.Value, f))
}

// Float is a widget with a floating-point value.
type Float struct{ *control }

// NewFloatSlider returns a slider from min to max. Values outside that range are clamped. Front ends
// show values at steps from min. The default step is 0.1, or the largest of 0.01, 0.001, … that shows value as it
// is. It panics unless min <= max. It is ipywidgets' FloatSlider, whose default step is 0.1 for every value.
func NewFloatSlider(value, min, max float64, options ...Option) *Float {
	return newFloat("FloatSlider", value, min, max, append(fineStep(value, min, max), options...))
}

// fineStep returns the options of a slider whose steps from min reach value, none if the default steps do.
func fineStep(value, min, max float64) []Option {
	for digits := 1; digits <= 6 && min < value && value < max; digits++ {
		scale := math.Pow10(digits)
		steps := (value - min) * scale
		if math.Abs(steps-math.Round(steps)) > 1e-6 {
			continue
		}
		if digits == 1 {
			break
		}
		return []Option{Step(1 / scale), Format(fmt.Sprintf(".%df", digits))}
	}
	return nil
}

// NewFloatLogSlider returns a logarithmic slider from 10^min to 10^max, or of another [Base].
// Values outside that range are clamped. It panics unless min <= max. It is ipywidgets'
// FloatLogSlider.
func NewFloatLogSlider(value, min, max float64, options ...Option) *Float {
	return newFloat("FloatLogSlider", value, min, max, options)
}

// NewFloatProgress returns a progress bar that is full at max. It panics unless min <= max. It is
// ipywidgets' FloatProgress.
func NewFloatProgress(value, min, max float64, options ...Option) *Float {
	return newFloat("FloatProgress", value, min, max, options)
}

// NewFloatText returns a text field for a number. It is ipywidgets' FloatText.
func NewFloatText(value float64, options ...Option) *Float {
	return &Float{newControl("FloatText", options, traits{"value": value})}
}

func newFloat(name string, value, min, max float64, options []Option) *Float {
	if !(min <= max) {
		panic(fmt.Sprintf("widget: %s: min is %g and max is %g; want min <= max", name, min, max))
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

// SetValue sets the number. Non-finite numbers are displayed as an empty value.
func (w *Float) SetValue(v float64) { w.model.set(traits{"value": v}) }

// OnChange registers f, which is called with the new value whenever it changes, by the reader or
// by the program.
func (w *Float) OnChange(f func(float64)) {
	w.model.observe(changes(w.Value, f))
}

func clamp[T int | float64](v, lo, hi T) T { return max(lo, min(hi, v)) }

// changes returns a function that calls f with the value if it has changed since the last call.
// Observers are called for every trait of a widget.
func changes[T comparable](value func() T, f func(T)) func() {
	var last guarded[T]
	last.swap(value())
	return func() {
		if v := value(); last.swap(v) {
			f(v)
		}
	}
}
