package chart

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// marks holds each mark, in the order of their files, and more of one whose options change which rows are seen.
var marks = []mark{areas{}, arrows{}, curves{}, curves{steps: true}, images{}, points{}, rects{}, rules{}, texts{}}

// markName returns the name of the type of a mark.
func markName(m mark) string { return strings.TrimPrefix(fmt.Sprintf("%T", m), "chart.") }

// markView returns rows with a mark: of two kinds or with separate colours, dark and light, with and without a text. Some have no
// place.
func markView(m mark, own bool) view {
	v := view{x: scale{title: "x", lo: 0, hi: 10}, y: scale{title: "y", lo: 0, hi: 8}, height: 120, facts: []fact{{"x", "x"}, {"note", "note"}}}
	kinds, _ := kindsOf([]string{"float32", "float16"})
	l := layer{mark: m}
	for i, y := range []float64{1, 2, 5, 3, nan, 4, math.Inf(1), 2, 6, math.Inf(-1), 3, 1} {
		r := row{x: float64(i)*.7 + .3, y: y, x2: float64(i)*.7 + .8, y2: y + .5, kind: i % 2, faint: i == 5, facts: []any{float64(i), fmt.Sprint("row ", i)}}
		if finite(y) && (i%3 == 0 || markName(m) == "texts") {
			r.text = fmt.Sprint(i)
		}
		if own {
			r.color = []role{textInk, skipInk}[i%2]
		}
		l.rows = append(l.rows, r)
	}
	l.rows = append(l.rows, row{x: nan, x2: nan, y: 1, y2: 2, color: l.rows[0].color})
	if v.layers = []layer{l}; !own {
		v.kinds = kinds
	}
	return v
}

// markSamples returns a figure with each mark.
func markSamples() (list []sample) {
	for i, m := range marks {
		name := fmt.Sprint(markName(m), "-", i)
		list = append(list, sample{"mark-" + name, markView(m, false).figure("Rows as " + markName(m))}, sample{"mark-own-" + name, markView(m, true).figure("Rows as " + markName(m) + " in colours of their own")})
	}
	return list
}

// TestMarks checks that each row with a place is in the picture and in the interactive form, whatever the mark: both differ
// without the row.
func TestMarks(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(filepath.Dir(golden), "mark_*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var named, listed []string
	for _, file := range files {
		if name := strings.TrimSuffix(filepath.Base(file), ".go"); name != "mark_test" {
			named = append(named, strings.TrimPrefix(name, "mark_"))
		}
	}
	for _, m := range marks {
		listed = append(listed, markName(m))
	}
	if listed = slices.Compact(listed); !slices.Equal(named, listed) {
		t.Fatalf("the files mark_NAME.go are those of %v, and the list marks in mark_test.go has %v; want each mark in both, in the same order", named, listed)
	}
	for _, m := range marks {
		for _, own := range []bool{false, true} {
			form := func(v view) (picture, spec []byte) {
				f := v.figure("A sentence")
				form := f.VegaLite()
				delete(form, "title") // it holds the number of rows
				spec, err := json.Marshal(form)
				if err != nil {
					t.Fatalf("%s: %v", markName(m), err)
				}
				return f.SVG(), spec
			}
			v := markView(m, own)
			picture, spec := form(v)
			edges := v.layers[0].mark.traits(v.layers[0]).edges
			for i, r := range v.layers[0].rows {
				if !finite(r.x) || !finite(r.y) && !edges {
					continue
				}
				less := markView(m, own)
				less.layers[0].rows = slices.Delete(less.layers[0].rows, i, i+1)
				p, s := form(less)
				if bytes.Equal(p, picture) {
					t.Errorf("%s, own colours %t: the picture is the same without row %d", markName(m), own, i)
				}
				if bytes.Equal(s, spec) {
					t.Errorf("%s, own colours %t: the interactive form is the same without row %d", markName(m), own, i)
				}
			}
		}
	}
}
