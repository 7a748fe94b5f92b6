package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"halfnote/kernel/client"
)

// cellMeasures lists the measurements of the subject "cell", in their order from the start of
// a kernel. Some give several rows.
var cellMeasures = []struct {
	rows    []cellRow
	measure func(ctx context.Context, g *guest, full bool) ([]float64, error) // returns a value for each row, or none if the kernel does not support it
}{
	{[]cellRow{{"start to ready", "ms"}}, started},
	{percentiles("1 + 1, request to idle"), roundTrips},
	{[]cellRow{{"20 lines of output", "ms"}}, repeated(func(l language) (string, string) { return "", l.short }, 1e6)},
	{[]cellRow{{"a loop of 10^5 additions", "ms"}}, repeated(func(l language) (string, string) { return "", l.loop }, 1e6)},
	{[]cellRow{{"sum of two tensors of 16 numbers", "us/op"}}, repeated(func(l language) (string, string) { return l.operands, l.sums }, 1000e3)},
	{percentiles("a completion"), completions},
	{[]cellRow{{"10,000 lines of stdout", "lines/s"}}, manyLines},
	{[]cellRow{{"resident when idle", "MB"}, {"growth of resident memory", "B/cell"}}, growth},
	{[]cellRow{{"50 MB of stdout", "ms"}, {"50 MB of stdout, resident after", "MB"}}, fifty},
	{slices.Concat(percentiles("control while a cell spins"), percentiles("a drag of a slider while a cell spins"), []cellRow{{"interrupt of a spinning cell", "ms"}}), spinning},
	{slices.Concat(percentiles("control while a cell trains"), percentiles("a drag of a slider while a cell trains")), training},
}

// patience is the time limit for one measurement.
const patience = 2 * time.Minute

// cellRow is the work and the unit of a row.
type cellRow struct{ name, unit string }

// percentiles returns the rows of the median and of the 99th percentile.
func percentiles(name string) []cellRow { return []cellRow{{name, "ms"}, {name + ", p99", "ms"}} }

// cells measures the cost of a cell in halfnote's kernel and in Python's, pinned to the same
// processors. Each round starts new kernels, one after the other.
func (o Options) cells(ctx context.Context) (Rows, error) {
	guests := []*guest{{name: "halfnote", spec: o.Kernel, language: languages["go"]}}
	if slices.Contains(o.Peers, "ipykernel") {
		guests = append(guests, &guest{name: "ipykernel", language: languages["python"], spec: client.Spec{
			Argv: []string{o.Python, "-m", "ipykernel_launcher", "-f", "{connection_file}"}, Language: "python", InterruptMode: "signal",
		}})
	}
	threads := slices.Max(o.Threads)
	values := map[cellRow][2][]float64{}
	for round := range o.Rounds {
		for i, g := range guests {
			fmt.Fprintf(o.Log, "round %d of %d: %s\n", round+1, o.Rounds, g.name)
			if err := g.round(ctx, o, threads, func(row cellRow, value float64) {
				both := values[row]
				both[i] = append(both[i], value)
				values[row] = both
			}); err != nil {
				return nil, err
			}
		}
	}
	var rows Rows
	for _, m := range cellMeasures {
		for _, row := range m.rows {
			ours, theirs := values[row][0], values[row][1]
			if len(ours) == 0 {
				continue
			}
			r := Row{Work: row.name, Threads: threads, Unit: row.unit}
			if len(theirs) == len(ours) {
				r.PeerName = guests[1].name
			} else {
				theirs = nil
			}
			r = NewRow(r, ours, theirs)
			fmt.Fprintln(o.Log, line(r))
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// round starts g, takes every selected measurement, and ends g.
func (g *guest) round(ctx context.Context, o Options, threads int, take func(row cellRow, value float64)) error {
	start := time.Now()
	err := pinned(threads, func() (err error) {
		g.kernel, err = client.Start(ctx, g.spec, client.Options{Env: surroundings(threads), Dir: o.empty})
		return err
	})
	if err != nil {
		return fmt.Errorf("bench: start %s: %w", g.name, err)
	}
	defer g.kernel.Close()
	g.ready = time.Since(start)
	for _, m := range cellMeasures {
		wanted := func(row cellRow) bool { return o.wanted(row.name) }
		if !slices.ContainsFunc(m.rows, wanted) {
			continue
		}
		limited, cancel := context.WithTimeout(ctx, patience)
		values, err := m.measure(limited, g, o.Preset == "full")
		cancel()
		if err != nil && g.name != "halfnote" && ctx.Err() == nil {
			fmt.Fprintf(o.Log, "%s: %s: %v; the rows from here on have no peer\n", g.name, m.rows[0].name, err)
			return nil
		}
		if err != nil {
			return fmt.Errorf("bench: %s: %s: %w", g.name, m.rows[0].name, err)
		}
		for i, v := range values {
			if wanted(m.rows[i]) && v != missing {
				take(m.rows[i], v)
			}
		}
	}
	return g.kernel.Shutdown(ctx, false)
}
