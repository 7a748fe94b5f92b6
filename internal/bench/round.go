package bench

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// entry is the part of one side in a row.
type entry struct {
	*side
	name   string
	spec   Spec
	amount float64
	n      int       // repetitions in a round
	values []float64 // values of the rounds, in the task's unit
	losses []float64 // losses of the first steps
}

// row measures a task and its peers in turn.
func (b *table) row(t task) (Rows, error) {
	entries := []*entry{{side: b.sides[0], name: "halfnote", spec: t.spec, amount: t.amount}}
	for _, r := range t.own {
		entries = append(entries, &entry{side: b.sides[0], name: r.name, spec: r.spec, amount: r.amount})
	}
	for _, s := range b.sides[1:] {
		if peer, _, _ := strings.Cut(s.name, " "); slices.Contains(t.peers, peer) {
			entries = append(entries, &entry{side: s, name: s.name, spec: t.spec, amount: t.amount})
		}
	}
	var able []*entry
	for i, e := range entries {
		_, err := e.ask(request{Do: "prepare", Key: e.name, Spec: &e.spec})
		if err == nil {
			defer e.ask(request{Do: "forget", Key: e.name})
			err = b.calibrate(e)
		}
		var f failure
		switch {
		case err == nil:
			able = append(able, e)
		case i > 0 && errors.As(err, &f):
			fmt.Fprintf(b.Log, "%s %s: %v\n", t.name, t.spec.DType, err)
		default:
			return nil, err
		}
	}
	for _, e := range able[1:] {
		if err := agree(t, able[0], e); err != nil {
			return nil, err
		}
	}
	for range b.Rounds {
		for _, e := range able {
			a, err := e.ask(request{Do: "run", Key: e.name, N: e.n})
			if err != nil {
				return nil, err
			}
			e.values = append(e.values, t.value(b.took(a)/float64(e.n), e.amount))
		}
	}
	rows := b.rowsOf(t, t.unit, able, func(ms float64) float64 { return ms })
	if t.batch > 0 {
		rows = append(rows, b.rowsOf(t, "samples/s", able, func(ms float64) float64 { return float64(t.batch) / ms * 1e3 })...)
	}
	return rows, nil
}

// rowsOf returns the rows of the sides that can do the task, halfnote's first, with each value
// converted by in.
func (b *table) rowsOf(t task, unit string, able []*entry, in func(float64) float64) (rows Rows) {
	values := func(e *entry) (list []float64) {
		for _, v := range e.values {
			list = append(list, in(v))
		}
		return list
	}
	row := b.blank(t, unit)
	if len(able) == 1 {
		return Rows{NewRow(row, values(able[0]), nil)}
	}
	for _, e := range able[1:] {
		row.PeerName = e.name
		rows = append(rows, NewRow(row, values(able[0]), values(e)))
	}
	return rows
}

// blank returns the row of a task, still without numbers.
func (b *table) blank(t task, unit string) Row {
	row := Row{Work: t.name, DType: t.spec.DType, Threads: b.threads, Unit: unit}
	if b.Device != "cpu" {
		row.Device = b.Device
	}
	return row
}

// took returns the nanoseconds that a run took.
func (b *table) took(a reply) float64 {
	if b.CPUTime {
		return max(float64(a.CPU)/float64(b.threads), 1)
	}
	return max(float64(a.NS), 1)
}

// calibrate chooses the number of repetitions in a round: it lengthens runs until the clock
// can measure them.
func (b *table) calibrate(e *entry) error {
	target := float64(10 * time.Millisecond)
	if b.Preset == "full" {
		target *= 3
	}
	e.n = 1
	for runs := 1; ; runs++ {
		a, err := e.ask(request{Do: "run", Key: e.name, N: e.n, Cold: true})
		if err != nil {
			return err
		}
		e.losses = append(e.losses, a.Losses...)
		took := float64(max(a.NS, 1))
		if took > target/2 && runs > 1 { // the first run is a warm-up
			e.n = max(1, int(float64(e.n)*target/took+.5))
			return nil
		}
		if runs > 1 {
			e.n = min(10*e.n, int(float64(e.n)*target/took)+1)
		}
	}
}

// agree returns an error if the losses of the first steps, at least two, differ by more than the
// task allows.
func agree(t task, ours, peer *entry) error {
	if t.equal == 0 {
		return nil
	}
	for i := range min(len(ours.losses), len(peer.losses)) {
		x, y := ours.losses[i], peer.losses[i]
		if gap := x - y; !(max(gap, -gap) <= t.equal*max(y, 1e-3)) {
			return fmt.Errorf("bench: %s in %s: the losses of the first steps are %.6g, of %s %.6g; want the same to %g", t.name, t.spec.DType, ours.losses, peer.name, peer.losses, t.equal)
		}
	}
	return nil
}
