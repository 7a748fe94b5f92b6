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
	for _, room := range []vg.Length{Width, 560, 480, 400, 340, 280, 0} {
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

// narrowest is the width of a chart before it is in a page.
const narrowest = 100

// room returns the parameters that make the chart as wide as the output it stands in, at most as wide as the picture. The
// container of a chart is as wide as the texts of its controls where the page is wide enough. A page that gives them
// no fixed width, or does not show the chart yet, leaves the container at about the narrowest width; then the window counts.
func (t twin) room() []object {
	page := fmt.Sprintf("windowSize()[0] > 0 ? clamp(windowSize()[0] - 160, %d, %d) : %[2]d", max(t.least, 220), Width) // a notebook has prompts and side bars
	return []object{
		{"name": "room", "expr": fmt.Sprintf("containerSize()[0] > %d ? clamp(containerSize()[0], %d, %d) : %s", narrowest+2*margin+20, t.least, Width, page)},
		{"name": "width", "expr": "room"},
	}
}

// reach is an x axis from lo to hi that zooms.
type reach struct{ lo, hi float64 }

// domain returns the part of the axis that the controls show. A logarithmic axis has the logarithms of its ends.
func (r reach) domain(log bool) []any {
	end := func(side string) object {
		e := fmt.Sprintf("%v + (%v) * (clamp(place / 100 - .5 / max(magnify, 1), 0, 1 - 1 / max(magnify, 1))%s)", r.lo, r.hi-r.lo, side)
		if log {
			e = "exp(" + e + ")"
		}
		return object{"expr": e}
	}
	return []any{end(""), end(" + 1 / max(magnify, 1)")}
}

// controls returns parameters that inputs below the chart set. They can be reached and set with the keyboard, which a legend
// and the wheel cannot. They are inputs of text and numbers, because a notebook keeps the keys of others for itself.
func (t twin) controls() []object {
	only := object{"name": "only", "value": ""}
	if len(t.choices) > 1 {
		only["bind"] = object{"input": "text", "name": words.controlShow}
	}
	params := []object{only}
	if t.reach != nil {
		params = append(params,
			object{"name": "magnify", "value": 1, "bind": object{"input": "number", "name": words.controlZoom}},
			object{"name": "place", "value": 50, "bind": object{"input": "number", "name": words.controlPlace}})
	}
	if len(params) == 1 && params[0]["bind"] == nil { // its text makes the container wide
		params = append(params, object{"name": "hint", "value": "", "bind": object{"input": "hidden", "name": words.controlHint}})
	}
	return params
}
