package bench

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// Row is the speed of some work compared with a peer doing the same work, measured in turn.
type Row struct {
	Work     string  `json:"work"`
	Device   string  `json:"device,omitempty"` // "" for the CPU
	DType    string  `json:"dtype"`
	Threads  int     `json:"threads"`
	Unit     string  `json:"unit"`      // unit of Ours and Peer: "GFLOP/s", "GB/s", "samples/s", "ms", "us/op", "MB", "lines/s", "B/cell"
	Ours     float64 `json:"ours"`      // halfnote's best round
	PeerName string  `json:"peer_name"` // "" for none
	Peer     float64 `json:"peer"`      // the peer's best round; 0 for none
	Ratio    float64 `json:"ratio"`     // ratio of the best rounds; above 1 if halfnote is better; 0 without a peer
	// Spread is the variation between rounds: the distance between the quartiles of their
	// ratios, or of halfnote's numbers without a peer, divided by the median. 0.05 is 5 %.
	Spread float64 `json:"spread"`

	OursMedian float64 `json:"-"`
	PeerMedian float64 `json:"-"`
}

// Rows is a list of measurements, displayed as a table.
type Rows []Row

// less reports whether less is better in a unit, as for times and memory.
func less(unit string) bool {
	return slices.Contains([]string{"ms", "us/op", "us", "MB", "B/cell"}, unit)
}

// NewRow returns r with the results of rounds, in r's unit: ours and peer hold one number per
// round; peer is empty if there is no peer. It panics if there is no round.
func NewRow(r Row, ours, peer []float64) Row {
	if len(ours) == 0 || len(peer) != 0 && len(peer) != len(ours) {
		panic(fmt.Sprintf("bench: %s: %d rounds and %d of the peer; want equal numbers, at least 1", r.Work, len(ours), len(peer)))
	}
	best := slices.Max[[]float64]
	if less(r.Unit) {
		best = slices.Min[[]float64]
	}
	r.Ours, r.OursMedian = best(ours), quantile(ours, .5)
	compared := ours
	if len(peer) > 0 {
		r.Peer, r.PeerMedian = best(peer), quantile(peer, .5)
		r.Ratio = r.better(r.Ours, r.Peer)
		compared = make([]float64, len(ours))
		for i := range ours {
			compared[i] = r.better(ours[i], peer[i])
		}
	}
	r.Spread = (quantile(compared, .75) - quantile(compared, .25)) / quantile(compared, .5)
	return r
}

// better returns the factor by which ours is better than peer.
func (r Row) better(ours, peer float64) float64 {
	if less(r.Unit) {
		return peer / ours
	}
	return ours / peer
}

// quantile returns the q-quantile of values by linear interpolation.
func quantile(values []float64, q float64) float64 {
	v := slices.Sorted(slices.Values(values))
	at := q * float64(len(v)-1)
	i := int(at)
	return v[i] + (at-math.Floor(at))*(v[min(i+1, len(v)-1)]-v[i])
}

// JSON returns the rows as an array of objects, one per line.
func (r Rows) JSON() string {
	text := "["
	for i, row := range r {
		if i > 0 {
			text += ","
		}
		line, err := json.Marshal(row)
		if err != nil {
			panic(err) // numbers are finite
		}
		text += "\n" + string(line)
	}
	return text + "\n]"
}

// Against returns the rows with that peer.
func (r Rows) Against(peer string) (rows Rows) {
	for _, row := range r {
		if row.PeerName == peer {
			rows = append(rows, row)
		}
	}
	return rows
}

// PeerNames returns the peers' names, sorted.
func (r Rows) PeerNames() (names []string) {
	for _, row := range r {
		if row.PeerName != "" && !slices.Contains(names, row.PeerName) {
			names = append(names, row.PeerName)
		}
	}
	slices.Sort(names)
	return names
}

// Worst returns the row with the lowest ratio. It panics if no row has a peer.
func (r Rows) Worst() Row {
	var with []Row
	for _, row := range r {
		if row.PeerName != "" {
			with = append(with, row)
		}
	}
	if len(with) == 0 {
		panic("bench: worst: no row has a peer")
	}
	return slices.MinFunc(with, func(a, b Row) int { return cmp.Compare(a.Ratio, b.Ratio) })
}
