package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"halfnote/amp/workload"
	"halfnote/kernel/client"
)

// cell is what is run in a kernel of Go and in one of Python.
type cell struct {
	name       string
	unit       string
	prepare    [2]string // ours, Python's
	code       [2]string
	operations float64 // in a run, for "us/op"
}

// cellWork is what cells cost: the way to the kernel and back, interpreted loops, and calls
// of the library.
var cellWork = []cell{
	{"1 + 1, request to idle", "ms", [2]string{}, [2]string{"1 + 1", "1 + 1"}, 1},
	{"20 lines of output", "ms", [2]string{}, [2]string{"for i := range 20 { fmt.Println(i) }", "for i in range(20): print(i)"}, 1},
	{"a loop of 10^5 additions", "ms", [2]string{}, [2]string{"s := 0\nfor i := range 100000 { s += i }\ns", "s = 0\nfor i in range(100000): s += i\ns"}, 1},
	{"sum of two tensors of 16 numbers", "us/op",
		[2]string{"x, y := tensor.Ones(16), tensor.Ones(16)", "import numpy\nx, y = numpy.ones(16, 'f'), numpy.ones(16, 'f')"},
		[2]string{"for range 1000 { x.Add(y) }", "for i in range(1000): x + y"}, 1000},
}

// guest is a kernel that is measured.
type guest struct {
	name   string
	spec   client.Spec
	kernel *client.Kernel
}

// cells measures what a cell costs, in our kernel and in Python's, pinned to all processors
// that are allowed, in turn.
func (o Options) cells(ctx context.Context) (rows workload.Rows, err error) {
	guests := []*guest{{name: "halfnote", spec: o.Kernel}}
	if slices.Contains(o.Peers, "ipykernel") {
		guests = append(guests, &guest{name: "ipykernel", spec: client.Spec{
			Argv: []string{o.Python, "-m", "ipykernel_launcher", "-f", "{connection_file}"}, Language: "python", InterruptMode: "signal",
		}})
	}
	threads := slices.Max(o.Threads)
	row := func(name, unit string, values [][]float64) {
		r := workload.Row{Work: name, Threads: threads, Unit: unit}
		var theirs []float64
		if len(guests) > 1 {
			r.PeerName, theirs = guests[1].name, values[1]
		}
		r = workload.NewRow(r, values[0], theirs)
		fmt.Fprintln(o.Log, line(r))
		rows = append(rows, r)
	}
	defer func() {
		for _, g := range guests {
			if g.kernel != nil {
				g.kernel.Close()
			}
		}
	}()
	if values, err := o.starts(ctx, guests, threads); err != nil {
		return nil, err
	} else if o.wanted("start to ready") {
		row("start to ready", "ms", values)
	}
	for _, c := range cellWork {
		if !o.wanted(c.name) {
			continue
		}
		values := make([][]float64, len(guests))
		for round := range o.Rounds + 1 {
			for i, g := range guests {
				if round == 0 && c.prepare[i] != "" {
					if _, err := g.run(ctx, c.prepare[i]); err != nil {
						return rows, err
					}
				}
				took := 0.0
				const n = 20
				for k := range 2 * n { // the first half unmeasured
					t, err := g.run(ctx, c.code[i])
					if err != nil {
						return rows, err
					}
					if k >= n {
						took += t / n
					}
				}
				if round > 0 {
					values[i] = append(values[i], task{name: c.name, unit: c.unit}.value(took, c.operations))
				}
			}
		}
		row(c.name, c.unit, values)
	}
	return rows, nil
}

// starts starts each guest some times, and leaves the last running.
func (o Options) starts(ctx context.Context, guests []*guest, threads int) ([][]float64, error) {
	values := make([][]float64, len(guests))
	for range 3 {
		for i, g := range guests {
			if g.kernel != nil {
				g.kernel.Close()
			}
			start := time.Now()
			err := pinned(threads, func() (err error) {
				g.kernel, err = client.Start(ctx, g.spec, client.Options{Env: surroundings(threads)})
				return err
			})
			if err != nil {
				return nil, fmt.Errorf("bench: start %s: %w", g.name, err)
			}
			values[i] = append(values[i], float64(time.Since(start))/1e6)
		}
	}
	return values, nil
}

// run runs a cell, and returns how many nanoseconds it took from the request until the
// kernel was idle.
func (g *guest) run(ctx context.Context, code string) (ns float64, err error) {
	start := time.Now()
	r, err := g.kernel.Execute(ctx, code, client.ExecuteOptions{NoHistory: true}, func(client.Message) {})
	if err == nil && r.Status != "ok" {
		err = fmt.Errorf("%s: %s: %s", r.Status, r.ErrorName, r.ErrorValue)
	}
	if err != nil {
		return 0, fmt.Errorf("bench: %s: the cell %q: %w", g.name, code, err)
	}
	return float64(time.Since(start)), nil
}
