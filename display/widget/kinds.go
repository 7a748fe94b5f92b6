package widget

import (
	"maps"
	"slices"
	"strings"
)

// traits maps names of traits, the parts of a widget's state, to values. The dynamic type of a
// trait's default is the type that it accepts; nil accepts any JSON value.
type traits map[string]any

// kind describes a type of widget to front ends: ipywidgets' name of its model, the name of its
// view if that differs, and the traits with their defaults.
type kind struct {
	name, view string
	style      string // kind of the widget's style, "" without a style
	traits     traits
}

const (
	controlsModule = "@jupyter-widgets/controls"
	baseModule     = "@jupyter-widgets/base"
	outputModule   = "@jupyter-widgets/output"
)

// null is the index of a choice in which nothing is chosen.
const null = index(-1)

var (
	described = traits{"description": "", "description_allow_html": false}
	enabled   = traits{"disabled": false}
	slider    = traits{"behavior": "drag-tap", "continuous_update": true, "orientation": "horizontal", "readout": true}
	typed     = traits{"continuous_update": false, "step": nil}
	chosen    = traits{"_options_labels": []string{}, "index": null}
	written   = traits{"placeholder": "\u200b", "value": ""}
	shown     = traits{"_dom_classes": []string{}, "_view_count": nil, "layout": (*model)(nil), "tabbable": nil, "tooltip": nil}
	font      = traits{
		"font_family": nil, "font_size": nil, "font_style": nil, "font_variant": nil, "font_weight": nil,
		"text_color": nil, "text_decoration": nil,
	}
)

// kinds lists the supported widgets of ipywidgets 8, and their layouts and styles. The module
// versions are those of the protocol, "2.0.0" and for Output "1.0.0", not those of the npm
// packages.
var kinds = []kind{
	{"Button", "", "ButtonStyle", of(enabled, traits{"description": "", "button_style": "", "icon": ""})},
	{"ButtonStyle", "", "", of(font, traits{"button_color": nil})},
	{"Checkbox", "", "CheckboxStyle", of(described, enabled, traits{"indent": true, "value": false})},
	{"CheckboxStyle", "", "", traits{"background": nil, "description_width": ""}},
	{"DescriptionStyle", "", "", traits{"description_width": ""}},
	{"Dropdown", "", "DescriptionStyle", of(described, enabled, chosen)},
	{"FloatLogSlider", "", "SliderStyle", of(described, enabled, slider, traits{"base": 10.0, "max": 4.0, "min": 0.0, "readout_format": ".3g", "step": 0.1, "value": 1.0})},
	{"FloatProgress", "Progress", "ProgressStyle", of(described, traits{"bar_style": "", "max": 100.0, "min": 0.0, "orientation": "horizontal", "value": 0.0})},
	{"FloatSlider", "", "SliderStyle", of(described, enabled, slider, traits{"max": 100.0, "min": 0.0, "readout_format": ".2f", "step": 0.1, "value": 0.0})},
	{"FloatText", "", "DescriptionStyle", of(described, enabled, typed, traits{"value": 0.0})},
	{"HBox", "", "", traits{"box_style": "", "children": []*model{}}},
	{"HTML", "", "HTMLStyle", of(described, written)},
	{"HTMLStyle", "", "", traits{"background": nil, "description_width": "", "font_size": nil, "text_color": nil}},
	{"Image", "", "", traits{"format": "png", "height": "", "value": []byte{}, "width": ""}},
	{"IntProgress", "Progress", "ProgressStyle", of(described, traits{"bar_style": "", "max": 100, "min": 0, "orientation": "horizontal", "value": 0})},
	{"IntSlider", "", "SliderStyle", of(described, enabled, slider, traits{"max": 100, "min": 0, "readout_format": "d", "step": 1, "value": 0})},
	{"IntText", "", "DescriptionStyle", of(described, enabled, typed, traits{"step": 1, "value": 0})},
	{"Label", "", "LabelStyle", of(described, written)},
	{"LabelStyle", "", "", of(font, traits{"background": nil, "description_width": ""})},
	{"Layout", "", "", layout("align_content align_items align_self border_bottom border_left border_right border_top bottom display flex flex_flow " +
		"grid_area grid_auto_columns grid_auto_flow grid_auto_rows grid_column grid_gap grid_row grid_template_areas grid_template_columns " +
		"grid_template_rows height justify_content justify_items left margin max_height max_width min_height min_width object_fit " +
		"object_position order overflow padding right top visibility width")},
	{"Output", "", "", traits{"msg_id": "", "outputs": []output{}}},
	{"ProgressStyle", "", "", traits{"bar_color": nil, "description_width": ""}},
	{"RadioButtons", "", "DescriptionStyle", of(described, enabled, chosen, traits{"orientation": "vertical"})},
	{"Select", "", "DescriptionStyle", of(described, enabled, chosen, traits{"rows": 5})},
	{"SliderStyle", "", "", traits{"description_width": "", "handle_color": nil}},
	{"Text", "", "TextStyle", of(described, enabled, written, traits{"continuous_update": true})},
	{"TextStyle", "", "", traits{"background": nil, "description_width": "", "font_size": nil, "text_color": nil}},
	{"Textarea", "", "TextStyle", of(described, enabled, written, traits{"continuous_update": true, "rows": nil})},
	{"ToggleButton", "", "ToggleButtonStyle", of(described, enabled, traits{"button_style": "", "icon": "", "value": false})},
	{"ToggleButtonStyle", "", "", of(font, traits{"description_width": ""})},
	{"ToggleButtons", "", "ToggleButtonsStyle", of(described, enabled, chosen, traits{"button_style": "", "icons": []string{}, "tooltips": []string{}})},
	{"ToggleButtonsStyle", "", "", traits{"button_width": "", "description_width": "", "font_weight": ""}},
	{"VBox", "", "", traits{"box_style": "", "children": []*model{}}},
}

// of returns the union of traits.
func of(parts ...traits) traits {
	all := traits{}
	for _, p := range parts {
		maps.Copy(all, p)
	}
	return all
}

func layout(names string) traits {
	all := traits{}
	for _, name := range strings.Fields(names) {
		all[name] = nil
	}
	return all
}

func kindOf(name string) *kind {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	return &kinds[i]
}

// isPart reports whether a widget of the kind is part of another widget.
func (k *kind) isPart() bool { return k.name == "Layout" || strings.HasSuffix(k.name, "Style") }

// identity returns the traits that name the model and view.
func (k *kind) identity() traits {
	module, version, viewModule := controlsModule, "2.0.0", controlsModule
	view := k.view
	if view == "" {
		view = k.name
	}
	switch {
	case k.name == "Layout":
		module, viewModule = baseModule, baseModule
	case k.isPart():
		viewModule, view = baseModule, "Style"
	case k.name == "Output":
		module, viewModule, version = outputModule, outputModule, "1.0.0"
	}
	return traits{
		"_model_module": module, "_model_module_version": version, "_model_name": k.name + "Model",
		"_view_module": viewModule, "_view_module_version": version, "_view_name": view + "View",
	}
}

// state returns the traits of a new model, including models of its layout and style.
func (k *kind) state() traits {
	s := maps.Clone(k.traits)
	if k.isPart() {
		s["_view_count"] = nil
		return s
	}
	maps.Copy(s, shown)
	s["layout"] = newModel("Layout")
	if k.style != "" {
		s["style"] = newModel(k.style)
	}
	return s
}
