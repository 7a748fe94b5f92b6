package experiment_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"halfnote/amp/experiment"
	"halfnote/tensor"
)

// TestSweepGoesOn checks that a sweep that was stopped after any number of runs computes the others only, and ends as one that was
// not stopped.
func TestSweepGoesOn(t *testing.T) {
	grid := experiment.Grid{experiment.Over("dtype", tensor.Float32, tensor.BFloat16), experiment.Over("lr", .1, "a, \"text\"", 1e-3), experiment.Seeds(2)}
	result := func(p experiment.Point) float64 {
		if p.Text("lr") == "0.001" {
			return math.NaN() // a result too
		}
		p.Record("seed squared", float64(p.Seed()*p.Seed()))
		return float64(len(p.Text("dtype"))) + float64(p.Seed())/3
	}
	whole := experiment.Sweep(grid, result)
	if whole.Runs.Len() != 12 || whole.Means.Len() != 6 {
		t.Fatalf("got %d runs and %d settings, want 12 and 6", whole.Runs.Len(), whole.Means.Len())
	}
	for stop := range 12 {
		file, n := filepath.Join(t.TempDir(), "sweep.csv"), 0
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the sweep was not stopped")
				}
			}()
			experiment.Sweep(grid, func(p experiment.Point) float64 {
				if n == stop {
					panic("stopped")
				}
				n++
				return result(p)
			}, file)
		}()
		before := n
		r := experiment.Sweep(grid, func(p experiment.Point) float64 { n++; return result(p) }, file)
		if n != 12 || r.Runs.String() != whole.Runs.String() || !reflect.DeepEqual(r.Rows, whole.Rows) {
			t.Errorf("stopped after %d: %d calls and\n%v\nwant 12 calls and\n%v", stop, n, r.Runs, whole.Runs)
		}
		if says := fmt.Sprintf("%d of the 12 results are from", before); before > 0 != strings.Contains(r.Says, says) {
			t.Errorf("stopped after %d: got %q", stop, r.Says)
		}
	}
}

// TestSweepOfAnotherGrid checks that a grid with other values runs those, and that the file keeps all.
func TestSweepOfAnotherGrid(t *testing.T) {
	file, calls := filepath.Join(t.TempDir(), "sweep.csv"), 0
	run := func(p experiment.Point) float64 { calls++; return p.Number("x") }
	experiment.Sweep(experiment.Grid{experiment.Over("x", 1, 2)}, run, file)
	if r := experiment.Sweep(experiment.Grid{experiment.Over("x", 2, 3)}, run, file); calls != 3 || r.Runs.Len() != 2 {
		t.Errorf("got %d calls and %v, want 3 calls and the runs of 2 and 3", calls, r.Runs)
	}
	if experiment.Sweep(experiment.Grid{experiment.Over("x", 1, 2, 3)}, run, file); calls != 3 {
		t.Errorf("got %d calls, want 3", calls)
	}
}

func TestSweepReports(t *testing.T) {
	r := experiment.Sweep(experiment.Grid{experiment.Over("a", 1, 2), experiment.Over("b", 10, 20, 30), experiment.Over("c", 0, 100)}, func(p experiment.Point) float64 {
		return p.Number("a") * p.Number("b") * (1 + p.Number("c"))
	})
	var cells [][]float64
	for _, row := range strings.Split(strings.TrimSpace(r.HeatMap("b", "a").Data()), "\n")[1:] {
		var i, k int
		var v float64
		fmt.Sscanf(row, "%d,%d,%g", &i, &k, &v)
		for len(cells) <= i {
			cells = append(cells, nil)
		}
		cells[i] = append(cells[i], v)
	}
	if want := [][]float64{{510, 1020, 1530}, {1020, 2040, 3060}}; !reflect.DeepEqual(cells, want) {
		t.Errorf("got the heat map %v, want %v", cells, want)
	}
	if title := r.HeatMap("b", "a").String(); title != "result by b and a, mean over c" {
		t.Errorf("got the title %q", title)
	}
	high, most := r.Highest()
	if high.String() != "a 2, b 30, c 100" || most != 6060 {
		t.Errorf("got %v with %v", high, most)
	}
	if r := experiment.Sweep(experiment.Grid{experiment.Seeds(3)}, func(p experiment.Point) float64 { return float64(p.Seed()) }); r.Means.Texts("std")[0] != "1" || r.Means.Texts("mean")[0] != "1" {
		t.Errorf("got %v, want the mean 1 and the deviation 1", r.Means)
	}
}

func TestSweepRefuses(t *testing.T) {
	one := func(experiment.Point) float64 { return 1 }
	folder := t.TempDir()
	other := filepath.Join(folder, "other.csv")
	if err := os.WriteFile(other, []byte("name,mass\na,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, do := range map[string]func(){
		"run is nil":                      func() { experiment.Sweep(experiment.Grid{experiment.Seeds(1)}, nil) },
		"the grid has no parameter;":      func() { experiment.Sweep(nil, one) },
		`parameter "x" has no values`:     func() { experiment.Sweep(experiment.Grid{experiment.Over("x")}, one) },
		`a parameter has the name "x"`:    func() { experiment.Sweep(experiment.Grid{experiment.Over("x", 1), experiment.Over("x", 2)}, one) },
		`have the text "1"`:               func() { experiment.Sweep(experiment.Grid{experiment.Over("x", 1, "1")}, one) },
		`has the columns ["name" "mass"]`: func() { experiment.Sweep(experiment.Grid{experiment.Over("x", 1)}, one, other) },
		`the grid has no parameter "y"; want one of ["x"]`: func() {
			experiment.Sweep(experiment.Grid{experiment.Over("x", 1)}, func(p experiment.Point) float64 { return p.Number("y") })
		},
		`parameter "x" is 0.5; want a whole number`: func() {
			experiment.Sweep(experiment.Grid{experiment.Over("x", .5)}, func(p experiment.Point) float64 { return float64(p.Int("x")) })
		},
		`parameter "x" is a string; want a number`: func() {
			experiment.Sweep(experiment.Grid{experiment.Over("x", "a")}, func(p experiment.Point) float64 { return p.Number("x") })
		},
		`the grid has no parameter "seed"`: func() {
			experiment.Sweep(experiment.Grid{experiment.Over("x", 1), experiment.Seeds(2)}, one).HeatMap("x", "seed")
		},
		"no setting has a finite mean": func() {
			experiment.Sweep(experiment.Grid{experiment.Over("x", 1)}, func(experiment.Point) float64 { return math.Inf(1) }).Lowest()
		},
	} {
		err := tensor.Try(func() {
			defer func() {
				if r := recover(); r != nil {
					panic(&tensor.Error{Why: fmt.Sprint(r)})
				}
			}()
			do()
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
