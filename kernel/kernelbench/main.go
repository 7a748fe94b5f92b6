// Command kernelbench runs Jupyter kernels side by side and prints how they
// compare, as a table of medians. README.md says how to run it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"halfnote/kernel/client"
)

var (
	kernels = flag.String("kernels", "halfnote,python3", "names of kernelspecs, with commas between; halfnote is built from this module")
	runs    = flag.Int("runs", 3, "how often each kernel is measured")
	trips   = flag.Int("trips", 300, "round trips in a run")
	cells   = flag.Int("cells", 10_000, "cells over which memory may grow; 0 leaves it out")
)

func main() {
	flag.Parse()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "kernelbench:", err)
		os.Exit(1)
	}
}

func run() error {
	dir, err := os.MkdirTemp("", "kernelbench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	names := strings.Split(*kernels, ",")
	var specs []client.Spec
	for _, name := range names {
		spec, err := find(name, dir)
		if err != nil {
			return err
		}
		specs = append(specs, spec)
	}
	measured := make([][]map[string]float64, len(specs)) // by kernel and run
	for i := range *runs {
		for j, spec := range specs { // in turn, so that a busy minute is everybody's
			fmt.Fprintf(os.Stderr, "run %d of %d: %s\n", i+1, *runs, names[j])
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
			m, err := measure(ctx, spec)
			cancel()
			if err != nil {
				return fmt.Errorf("%s: %w", names[j], err)
			}
			measured[j] = append(measured[j], m)
		}
	}
	fmt.Print(table(names, measured))
	return nil
}

// find returns the kernelspec called name, or one for this module's own program.
func find(name, dir string) (client.Spec, error) {
	if name != "halfnote" {
		return client.FindSpec(name)
	}
	exe := filepath.Join(dir, "halfnote")
	build := exec.Command("go", "build", "-o", exe, "halfnote")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return client.Spec{}, fmt.Errorf("go build halfnote: %w", err)
	}
	return client.Spec{
		Argv: []string{exe, "kernel", "{connection_file}"}, Language: "go", InterruptMode: "message",
		Env: map[string]string{"HALFNOTE_HISTORY": filepath.Join(dir, "history.sqlite")}, // IPython keeps one, too
	}, nil
}

// table writes medians, and how the first kernel compares with the second: 2 is twice
// as good.
func table(names []string, measured [][]map[string]float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| metric | %s |", strings.Join(names, " | "))
	compare, columns := len(names) == 2, len(names)
	if compare {
		columns++
		fmt.Fprintf(&b, " %s is better by |", names[0])
	}
	fmt.Fprintf(&b, "\n|---%s|\n", strings.Repeat("|---", columns))
	for _, m := range metrics {
		var values []float64
		fmt.Fprintf(&b, "| %s |", m.name)
		for _, runs := range measured {
			v, ok := median(runs, m.name)
			if !ok {
				fmt.Fprint(&b, " – |")
				continue
			}
			values = append(values, v)
			fmt.Fprintf(&b, " %.4g |", v)
		}
		if compare && len(values) == 2 && values[0] > 0 && values[1] > 0 {
			ratio := values[1] / values[0]
			if m.more {
				ratio = 1 / ratio
			}
			fmt.Fprintf(&b, " %.2g |", ratio)
		} else if compare {
			fmt.Fprint(&b, " – |")
		}
		fmt.Fprintln(&b)
	}
	return b.String()
}

func median(runs []map[string]float64, name string) (float64, bool) {
	var values []float64
	for _, r := range runs {
		if v, ok := r[name]; ok {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return 0, false
	}
	slices.Sort(values)
	return values[len(values)/2], true
}
