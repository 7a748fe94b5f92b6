package widget

import (
	"fmt"
	"slices"
)

// Choice is a widget with a choice among several words.
type Choice struct{ *control }

// NewDropdown returns a drop-down list in which value is chosen, or nothing if value is "". It panics
// if value is not among choices. It is ipywidgets' Dropdown.
func NewDropdown(value string, choices []string, options ...Option) *Choice {
	return newChoice("Dropdown", value, choices, options)
}

// NewToggleButtons returns a row of buttons, one of which is pressed. It is ipywidgets'
// ToggleButtons; see [NewDropdown].
func NewToggleButtons(value string, choices []string, options ...Option) *Choice {
	return newChoice("ToggleButtons", value, choices, options)
}

// NewRadioButtons returns a list of radio buttons. It is ipywidgets' RadioButtons; see
// [NewDropdown].
func NewRadioButtons(value string, choices []string, options ...Option) *Choice {
	return newChoice("RadioButtons", value, choices, options)
}

// NewSelect returns a list of several lines. It is ipywidgets' Select; see [NewDropdown].
func NewSelect(value string, choices []string, options ...Option) *Choice {
	return newChoice("Select", value, choices, options)
}

func newChoice(name, value string, choices []string, options []Option) *Choice {
	w := &Choice{newControl(name, options, traits{"_options_labels": slices.Clone(choices)})}
	w.model.fit = func(s traits) {
		if i := s["index"].(index); i < 0 || int(i) >= len(s["_options_labels"].([]string)) {
			s["index"] = null
		}
	}
	w.SetValue(value)
	return w
}

// Value returns the chosen word, "" if nothing is chosen.
func (w *Choice) Value() string {
	w.model.mu.Lock()
	defer w.model.mu.Unlock()
	if i := w.model.state["index"].(index); i >= 0 {
		return w.model.state["_options_labels"].([]string)[i]
	}
	return ""
}

// Index returns the index of the chosen word, -1 if nothing is chosen.
func (w *Choice) Index() int { return int(w.model.get("index").(index)) }

// Choices returns the words. The slice must not be changed.
func (w *Choice) Choices() []string { return w.model.get("_options_labels").([]string) }

// SetChoices replaces the words. The chosen word stays chosen if it is among them.
func (w *Choice) SetChoices(choices []string) {
	i := slices.Index(choices, w.Value())
	w.model.set(traits{"_options_labels": slices.Clone(choices), "index": index(i)})
}

// SetValue chooses a word, or nothing if v is "". It panics if v is not among the choices.
func (w *Choice) SetValue(v string) {
	i := slices.Index(w.Choices(), v)
	if i < 0 && v != "" {
		panic(fmt.Sprintf("widget: %s: %q is not a choice; want one of %q", w.model.kind.name, v, w.Choices()))
	}
	w.model.set(traits{"index": index(i)})
}

// OnChange registers f, which is called with the new word whenever the choice changes, by the
// reader or by the program.
func (w *Choice) OnChange(f func(string)) { w.model.observe(changes(w.Value, f)) }
