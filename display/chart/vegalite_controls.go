package chart

import (
	"encoding/json"
	"fmt"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// wrapped returns a text in lines that depend on the room for them. It measures each word once, because it fills the lines
// of seven widths.
func wrapped(s text.Style, txt string) any {
	if s.Width(txt) < 200 {
		return txt
	}
	var words []string
	var widths []vg.Length
	for word, rest := "", txt; rest != ""; {
		word, rest = cutWord(rest)
		words, widths = append(words, word), append(widths, s.Width(word))
	}
	space := s.Width(" ")
	expr := ""
	for _, room := range []vg.Length{widest, 760, Width, 560, 480, 400, 340, 280, 0} {
		text, _ := json.Marshal(fill(s, words, widths, space, max(room, 230)-2*margin-4)) // strings can be encoded
		if room == 0 {
			expr += string(text)
		} else {
			expr += fmt.Sprintf("room >= %v ? %s : ", float64(room), text)
		}
	}
	return object{"expr": expr}
}

// fill returns words of known widths in lines of at most a width. A word that is wider is cut.
func fill(s text.Style, words []string, widths []vg.Length, space, width vg.Length) (lines []string) {
	used := vg.Length(0)
	for i, word := range words {
		if i > 0 && used+space+widths[i] <= width {
			used += space + widths[i]
			lines[len(lines)-1] += " " + word
			continue
		}
		if used = widths[i]; used > width {
			word = fit(s, word, width)
		}
		lines = append(lines, word)
	}
	return lines
}

// widest is the maximum width of a chart in a page.
const widest = 900

// narrowest is the width of a chart before it is in a page.
const narrowest = 100

// room returns the parameters that make the chart as wide as the output it stands in, up to a width at which lines are still easy to follow. The
// container of a chart is as wide as the texts of its controls where the page is wide enough. A page that gives them
// no fixed width, or does not show the chart yet, leaves the container at about the narrowest width; then the window counts.
func (t spec) room() []object {
	page := fmt.Sprintf("windowSize()[0] > 0 ? clamp(windowSize()[0] - 160, %d, %d) : %[2]d", max(t.least, 220), Width) // a notebook has prompts and side bars
	width := "room"
	if t.panels != nil {
		width = fmt.Sprintf("room - %d", t.aside+2*margin)
	}
	return []object{
		{"name": "room", "expr": fmt.Sprintf("containerSize()[0] > %d ? clamp(containerSize()[0], %d, %d) : %s", narrowest+2*margin+20, t.least, widest, page)},
		{"name": "width", "expr": width},
	}
}

// reach is an axis from lo to hi that zooms. Its name is what the names of its controls end in.
type reach struct {
	lo, hi float64
	name   string
	room   int     // width in CSS pixels for the axis up to hi; in another one it ends elsewhere; 0: it does not
	core   float64 // what it shows at least, from lo on
}

// extent returns the length of the axis as an expression.
func (r reach) extent() string {
	if r.room == 0 {
		return fmt.Sprint(r.hi - r.lo)
	}
	return fmt.Sprintf("max(%v, %v * width / %d)", r.core, r.hi-r.lo, r.room)
}

// domain returns the part of the axis that the controls show.
func (r reach) domain() []any {
	end := func(side string) object {
		return object{"expr": fmt.Sprintf("%v + (%s) * (clamp(place%s / 100 - .5 / max(magnify%[3]s, 1), 0, 1 - 1 / max(magnify%[3]s, 1))%[4]s)", r.lo, r.extent(), r.name, side)}
	}
	return []any{end(""), end(" + 1 / max(magnify" + r.name + ", 1)")}
}

// controls returns the parameters that inputs set.
func (r reach) controls(zoom string) []object {
	return []object{
		{"name": "magnify" + r.name, "value": 1, "bind": object{"input": "number", "name": zoom}},
		{"name": "place" + r.name, "value": 50, "bind": object{"input": "number", "name": words.controlPlace}},
	}
}

// controls returns parameters that inputs below the chart set. They can be reached and set with the keyboard, which a legend
// and the wheel cannot. They are inputs of text and numbers, because a notebook keeps the keys of others for itself. The last
// is a hint: its text makes the container as wide as the page allows.
func (t spec) controls() []object {
	only := object{"name": "only", "value": ""}
	hint := words.controlHint
	if len(t.choices) > 1 {
		only["bind"] = object{"input": "text", "name": words.controlShow, "placeholder": words.controlShowAll}
		hint += " " + words.controlHintLegend
	}
	params := []object{only}
	if t.reach != nil {
		params = append(params, t.reach.controls(words.controlZoom)...)
	}
	if t.tall != nil {
		params = append(params, t.tall.controls(words.controlZoomY)...)
	}
	if t.reach != nil || t.tall != nil {
		hint += " " + words.controlHintZoom
	} else {
		hint += " " + words.controlHintData
	}
	return append(params, object{"name": "hint", "value": "", "bind": object{"input": "hidden", "name": hint}})
}
