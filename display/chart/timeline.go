package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Span is an operation on the time axis of [Timeline].
type Span struct {
	Name     string  // operation, for example "linear", or the dtypes of a cast
	Module   string  // path of the calling module; may be empty
	Lane     string  // "forward", "backward", "optimizer", "casts" or any other word
	Device   string  // device that computed it, for example "cpu" or "cuda:0"; may be empty
	DType    string  // dtype that selects the colour
	Start    float64 // in seconds
	Duration float64 // in seconds
}

// Timeline shows the operations of a step on a time axis, one lane for each phase and for the casts, and
// for each device if one of them is not the CPU. The title states the share of the time in each lane, and the
// share outside of all operations. Of more than 5000 operations, those next to each other are drawn as one.
func Timeline(spans []Span) *Figure {
	t := timeline{busy: map[string]float64{}}
	for _, s := range spans {
		if finite(s.Start) && finite(s.Duration) && s.Duration >= 0 && finite(s.Start+s.Duration) {
			t.spans = append(t.spans, s)
			t.named = t.named || s.Device != "" && s.Device != "cpu"
		}
	}
	slices.SortStableFunc(t.spans, func(a, b Span) int { return cmp.Compare(a.Start, b.Start) })
	if t.measure(); !(t.end > t.begin) || !finite(t.end-t.begin) {
		return blank(words.timeNone)
	}
	return t.figure()
}

type timeline struct {
	spans      []Span // in order of their starts
	named      bool   // lanes have the name of their device
	lanes      []string
	busy       map[string]float64 // seconds of each lane
	begin, end float64
	idle       float64 // seconds outside of operations
}

// Dimensions of a timeline.
const (
	laneMost = 16 // maximum number of lanes
	laneRow  = 30 // height of a lane
)

// laneOrder is the order of the lanes; others follow in the order in which they begin.
var laneOrder = []string{"forward", "backward", "optimizer", "casts"}

// lane returns the name of a span's lane.
func (t *timeline) lane(s Span) string {
	if t.named && s.Device != "" {
		return fmt.Sprintf(words.timeLane, s.Lane, s.Device)
	}
	return s.Lane
}

// measure sets the lanes, the time in each and the time outside of operations.
func (t *timeline) measure() {
	order := map[string]int{}
	t.begin, t.end = math.Inf(1), math.Inf(-1)
	for _, s := range t.spans {
		lane := t.lane(s)
		if _, ok := t.busy[lane]; !ok {
			t.lanes = append(t.lanes, lane)
			if order[lane] = slices.Index(laneOrder, s.Lane); order[lane] < 0 {
				order[lane] = len(laneOrder)
			}
		}
		t.busy[lane] += s.Duration
		if finite(t.end) && s.Start > t.end {
			t.idle += s.Start - t.end
		}
		t.begin, t.end = min(t.begin, s.Start), max(t.end, s.Start+s.Duration)
	}
	slices.SortStableFunc(t.lanes, func(a, b string) int { return cmp.Compare(order[a], order[b]) })
	t.lanes = t.lanes[:min(len(t.lanes), laneMost)]
}

func (t *timeline) figure() *Figure {
	unit, per := timeUnit(t.end - t.begin)
	v := view{x: scale{title: unit, lo: 0, hi: (t.end - t.begin) / per}, y: scale{names: t.lanes}, height: laneRow * len(t.lanes), zoom: []string{"x"}, right: 8,
		facts: []fact{{"op", words.headOp}, {"module", words.headModule}, {"lane", words.headLane}, {"dtype", words.headDType}, {"start", words.headStart + " (" + unit + ")"}, {"took", words.headTook + " (" + unit + ")"}}}
	shown := t.spans
	for gap := (t.end - t.begin) / 4096; len(shown) > mostPoints; gap *= 2 {
		shown = t.joined(gap)
	}
	var list []string
	for _, s := range shown {
		list = append(list, s.DType)
	}
	kinds, at := kindsOf(list)
	for i := range kinds {
		kinds[i].dashes = nil
	}
	v.kinds = kinds
	bars := layer{mark: rects{}}
	for i, s := range shown {
		y := float64(slices.Index(t.lanes, t.lane(s)))
		if y < 0 {
			continue
		}
		from, took := (s.Start-t.begin)/per, s.Duration/per
		end := from + took
		if crack := v.x.hi / 1000; took > 4*crack { // neighbours do not touch
			end -= crack
		}
		bars.rows = append(bars.rows, row{x: from, x2: end, y: y - .36, y2: y + .36, kind: at[i], facts: []any{s.Name, s.Module, t.lanes[int(y)], s.DType, from, took}})
	}
	v.layers = []layer{bars}
	var said []string
	var rows [][]any
	for _, lane := range t.lanes {
		share := t.busy[lane] / (t.end - t.begin)
		said = append(said, lane+" "+shareText(share))
		n := 0
		for _, s := range t.spans {
			if t.lane(s) == lane {
				n++
			}
		}
		rows = append(rows, []any{lane, n, short(t.busy[lane] / per), shareText(share)})
	}
	f := v.figure(fmt.Sprintf(words.timeShares, short((t.end-t.begin)/per), unit, strings.Join(said, words.listAnd), shareText(t.idle/(t.end-t.begin))))
	f.head, f.rows = []string{words.headLane, words.headOps, unit, words.headShare}, rows
	return f
}

// joined returns the spans with those of the same lane that are less than gap apart as one, in the dtype that most of their
// time went to.
func (t *timeline) joined(gap float64) (list []Span) {
	last := map[string]int{} // last span of each lane
	var count []int
	var spent []map[string]float64 // seconds in each dtype
	for _, s := range t.spans {
		lane := t.lane(s)
		i, ok := last[lane]
		if !ok || s.Start-(list[i].Start+list[i].Duration) > gap {
			last[lane], list = len(list), append(list, s)
			count, spent = append(count, 1), append(spent, map[string]float64{s.DType: s.Duration})
			continue
		}
		if count[i]++; s.Module != list[i].Module {
			list[i].Module = ""
		}
		if spent[i][s.DType] += s.Duration; spent[i][s.DType] > spent[i][list[i].DType] {
			list[i].DType = s.DType
		}
		list[i].Name = fmt.Sprintf(words.timeJoined, count[i])
		list[i].Duration = max(list[i].Duration, s.Start+s.Duration-list[i].Start)
	}
	return list
}

// timeUnit returns the unit for times up to seconds, and its size in seconds.
func timeUnit(seconds float64) (string, float64) {
	switch {
	case seconds >= 1:
		return "s", 1
	case seconds >= 1e-3:
		return "ms", 1e-3
	}
	return "µs", 1e-6
}
