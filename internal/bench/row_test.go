package bench

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestNewRow(t *testing.T) {
	for _, c := range []struct {
		name, unit    string
		ours, peer    []float64
		best, its     float64
		ratio, spread float64
	}{
		{"more is better", "GFLOP/s", []float64{100, 120, 110}, []float64{100, 100, 80}, 120, 100, 1.2, (1.2875 - 1.1) / 1.2},
		{"less is better", "ms", []float64{10, 20, 10}, []float64{20, 20, 30}, 10, 20, 2, (2.5 - 1.5) / 2},
		{"memory", "MB", []float64{50}, []float64{40}, 50, 40, .8, 0},
		{"alone", "ms", []float64{4, 8}, nil, 4, 0, 0, (7. - 5) / 6},
	} {
		r := NewRow(Row{Unit: c.unit}, c.ours, c.peer)
		if r.Ours != c.best || r.Peer != c.its || math.Abs(r.Ratio-c.ratio) > 1e-12 || math.Abs(r.Spread-c.spread) > 1e-12 {
			t.Errorf("%s: got %+v, want ours %v, peer %v, ratio %v, spread %v", c.name, r, c.best, c.its, c.ratio, c.spread)
		}
	}
}

func rows() Rows {
	return Rows{
		NewRow(Row{Work: "mlp step", DType: "float32", Threads: 1, Unit: "ms", PeerName: "torch"}, []float64{10, 11}, []float64{12, 14}),
		NewRow(Row{Work: "mlp step", DType: "bfloat16", Threads: 1, Unit: "ms", PeerName: "torch"}, []float64{8, 9}, []float64{6, 7}),
		NewRow(Row{Work: "mlp step", DType: "float16", Threads: 1, Unit: "ms"}, []float64{7}, nil),
	}
}

// TestAutocast checks the sentence about autocast on this processor.
func TestAutocast(t *testing.T) {
	const want = "mlp step, 1 T: autocast in bfloat16 pays here, 1.25 times float32's speed, because products use tier: reason.\n"
	if got := rows().Autocast("tier: reason"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	slow := rows()
	slow[1].Ours = 20
	if got := slow.Autocast("tier: reason"); !strings.Contains(got, "does not pay here, 0.50 times") {
		t.Errorf("a step that takes twice as long in bfloat16: got %q", got)
	}
	if got := rows()[:1].Autocast("tier: reason"); got != "" {
		t.Errorf("without bfloat16: got %q, want none", got)
	}
}

// TestRowsJSON checks the field names of the JSON, and decodes the rows again.
func TestRowsJSON(t *testing.T) {
	text := rows().JSON()
	var list []map[string]any
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatal(err)
	}
	want := []string{"dtype", "ours", "peer", "peer_name", "ratio", "spread", "threads", "unit", "work"}
	for _, row := range list {
		if got := slices.Sorted(maps.Keys(row)); !slices.Equal(got, want) {
			t.Errorf("got keys %v, want %v", got, want)
		}
	}
	var read Rows
	if err := json.Unmarshal([]byte(text), &read); err != nil {
		t.Fatal(err)
	}
	if read.JSON() != text {
		t.Errorf("decoded and encoded again: got %s, want %s", read.JSON(), text)
	}
}

func TestRowsShow(t *testing.T) {
	r := rows()
	if got := r.Worst(); got.DType != "bfloat16" {
		t.Errorf("Worst: got %+v, want the row of bfloat16", got)
	}
	if got, peers := r.Against("torch"), r.PeerNames(); len(got) != 2 || !slices.Equal(peers, []string{"torch"}) {
		t.Errorf("Against torch: got %v, peers %v; want 2 rows and only torch", got, peers)
	}
	for what, text := range map[string]string{"text": r.String(), "HTML": r.HTML()} {
		for _, want := range []string{"mlp step", "float16", "ratio", "0.75", "1.2"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is missing in %s", what, want, text)
			}
		}
	}
	if got, want := r.Chart().String(), "Halfnote against torch: 1 of 2 at least as good; from 0.75× (mlp step bfloat16 1 T) to 1.20× (mlp step float32 1 T)"; got != want {
		t.Errorf("chart: got %q, want %q", got, want)
	}
	if got, want := r[2:].Chart().String(), r[2:].Throughput().String(); got != want {
		t.Errorf("chart without a peer: got %q, want %q", got, want)
	}
	own := Rows{}
	for _, dtype := range []string{"bfloat16", "float16"} {
		own = append(own, NewRow(Row{Work: "mlp step", DType: dtype, Threads: 1, Unit: "ms", PeerName: "own float32"}, []float64{5}, []float64{10}))
	}
	if got, want := own.Throughput().String(), "Against halfnote, mlp step, float32, "; !strings.HasPrefix(got, want) || strings.Count(got, "float32") != 1 {
		t.Errorf("chart: got %q, want it to begin with %q and to name the peer once", got, want)
	}
	if got := r.Throughput().String(); !strings.Contains(got, "runs/s") || !strings.Contains(got, "1.20×") {
		t.Errorf("chart: got %q", got)
	}
}
