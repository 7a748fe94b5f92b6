package bench

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"halfnote/display"
	"halfnote/display/chart"
)

// Bundle returns the table for front ends.
func (r Rows) Bundle() display.Bundle { return r.table() }

// String returns the table as text.
func (r Rows) String() string { return r.table().Data["text/plain"].(string) }

// HTML returns the table.
func (r Rows) HTML() string { return r.table().Data["text/html"].(string) }

func (r Rows) table() display.Bundle {
	medians := slices.ContainsFunc(r, func(row Row) bool { return row.OursMedian != 0 }) // rows decoded from JSON have no medians
	head := []string{"work", "dtype", "threads", "unit", "ours"}
	if medians {
		head = append(head, "median")
	}
	head = append(head, "peer", "its")
	if medians {
		head = append(head, "median")
	}
	head = append(head, "ratio", "spread %")
	var rows [][]any
	for _, row := range r {
		line := []any{row.Work, row.DType, row.Threads, row.Unit, short(row.Ours)}
		if medians {
			line = append(line, short(row.OursMedian))
		}
		peer := []any{nil, nil, nil, nil}
		if row.PeerName != "" {
			peer = []any{row.PeerName, short(row.Peer), short(row.PeerMedian), short(row.Ratio)}
		}
		line = append(line, peer[0], peer[1])
		if medians {
			line = append(line, peer[2])
		}
		rows = append(rows, append(line, peer[3], math.Round(100*row.Spread)))
	}
	return display.Table(head, rows)
}

// Autocast returns a sentence for each training step and number of threads that was measured in float32
// and in bfloat16: what autocast gains, and why, with the line about products of [tensor.CPUProducts].
// It returns "" if no step was measured in both.
func (r Rows) Autocast(products string) (text string) {
	for i, full := range r {
		step := strings.HasSuffix(full.Work, " step") && full.DType == "float32" && full.Unit == "ms"
		known := func(row Row) bool {
			return row.Work == full.Work && row.Threads == full.Threads && row.Unit == full.Unit
		}
		if !step || slices.ContainsFunc(r[:i], func(row Row) bool { return known(row) && row.DType == "float32" }) {
			continue
		}
		j := slices.IndexFunc(r, func(row Row) bool { return known(row) && row.DType == "bfloat16" })
		if j < 0 {
			continue
		}
		verdict := "does not pay"
		if r[j].Ours < full.Ours {
			verdict = "pays"
		}
		text += fmt.Sprintf("%s, %d T: autocast in bfloat16 %s here, %.2f times float32's speed, because products use %s.\n", full.Work, full.Threads, verdict, full.Ours/r[j].Ours, products)
	}
	return text
}

// short rounds to three significant digits.
func short(x float64) float64 {
	if x == 0 || x-x != 0 {
		return x
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(x)))-2)
	return math.Round(x/unit) * unit
}

// Chart returns a chart of the ratios with one bar per row that has a peer. Without peers it
// returns Throughput.
func (r Rows) Chart() *chart.Figure {
	peers := r.PeerNames()
	if len(peers) == 0 {
		return r.Throughput()
	}
	what := "halfnote against " + strings.Join(peers, ", ")
	var ratios []chart.Ratio
	for _, row := range r {
		if row.PeerName == "" {
			continue
		}
		name := strings.TrimSpace(row.Work+" "+row.DType) + fmt.Sprintf(" %d T", row.Threads)
		if len(peers) > 1 {
			name += ", " + row.PeerName
		}
		ratios = append(ratios, chart.Ratio{Name: name, DType: row.DType, Value: row.Ratio, Spread: row.Spread})
	}
	return chart.Ratios(what, ratios)
}

// Throughput returns a chart of the speeds of halfnote and its peers, for the rows with the unit
// of the first row. Times are converted to repetitions per second.
func (r Rows) Throughput() *chart.Figure {
	var rates []chart.Rate
	unit := ""
	add := func(who string, row Row, value float64) {
		name := fmt.Sprintf("%s, %s, %s, %d T", who, row.Work, row.DType, row.Threads)
		if less(row.Unit) {
			value = map[string]float64{"ms": 1e3, "us": 1e6, "us/op": 1e6, "MB": 1}[row.Unit] / value
		}
		if !slices.ContainsFunc(rates, func(known chart.Rate) bool { return known.Name == name }) {
			rates = append(rates, chart.Rate{Name: name, DType: row.DType, Values: []float64{value}})
		}
	}
	for _, row := range r {
		if row.Unit != r[0].Unit {
			continue
		}
		unit = row.Unit
		if less(unit) {
			unit = "runs/s"
		}
		other := row
		if own, ok := strings.CutPrefix(row.PeerName, "own "); ok {
			other.DType = own
			add("halfnote", other, row.Peer)
		} else if row.PeerName != "" {
			add(row.PeerName, row, row.Peer)
		}
		add("halfnote", row, row.Ours)
	}
	return chart.Throughput(unit, rates)
}
