package bench

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
)

// memory returns the trainings of list whose peak memory is measured.
func memory(list []task) (peaks []task) {
	for _, t := range list {
		if t.equal != 0 && t.spec.DType != "float16" {
			t.name, t.unit = t.name+", peak memory", "MB"
			peaks = append(peaks, t)
		}
	}
	return peaks
}

// warmUp is a training during which a library loads everything that it loads on first use.
var warmUp = Spec{Work: "mlp", DType: "bfloat16", Shape: []int{8, 64, 3}}

// peak measures the peak resident memory of the first three steps of a training, minus the
// resident memory before its network was made, for halfnote and a peer. Both run in new
// processes, after a small training. A second row, without a peer, is the peak of halfnote's
// tensors. On a GPU only the peaks of both sides' tensors are measured.
func (b *table) peak(ctx context.Context, t task) (Rows, error) {
	row := b.blank(t, t.unit)
	var ours, theirs []float64
	tensors := 0
	for range 2 {
		for _, s := range b.sides {
			mine := s == b.sides[0]
			if !mine && !slices.Contains(t.peers, s.name) {
				continue
			}
			bytes, most, err := b.peakOf(ctx, s, t.spec)
			switch {
			case err != nil:
				return nil, err
			case bytes == 0:
				fmt.Fprintf(b.Log, "%s: not measured: /proc does not report the memory of processes\n", t.name)
				return nil, nil
			case b.Device != "cpu" && mine:
				ours = append(ours, float64(most)/1e6)
			case b.Device != "cpu":
				row.PeerName, theirs = s.name, append(theirs, float64(most)/1e6)
			case mine:
				ours, tensors = append(ours, bytes/1e6), most
			default:
				row.PeerName, theirs = s.name, append(theirs, bytes/1e6)
			}
		}
	}
	if b.Device != "cpu" {
		return Rows{NewRow(row, ours, theirs)}, nil
	}
	alone := Row{Work: t.name + " of tensors", DType: row.DType, Threads: row.Threads, Unit: row.Unit}
	return Rows{NewRow(row, ours, theirs), NewRow(alone, []float64{float64(tensors) / 1e6}, nil)}, nil
}

// peakOf measures a training in a new process with the command of p.
func (b *table) peakOf(ctx context.Context, p *side, spec Spec) (bytes float64, tensors int, err error) {
	s, err := startSide(ctx, p.name, b.empty, b.threads, p.argv)
	if err != nil {
		return 0, 0, err
	}
	defer s.end()
	for _, q := range []request{{Do: "prepare", Key: "warm up", Spec: &warmUp}, {Do: "run", Key: "warm up", N: 2, Cold: true}, {Do: "forget", Key: "warm up"}} {
		if _, err := s.ask(q); err != nil {
			return 0, 0, err
		}
	}
	proc := fmt.Sprintf("/proc/%d/", s.cmd.Process.Pid)
	os.WriteFile(proc+"clear_refs", []byte("5"), 0) // resets the peak, proc(5)
	before := resident(proc, "VmRSS")
	if _, err := s.ask(request{Do: "prepare", Key: "large", Spec: &spec}); err != nil {
		return 0, 0, err
	}
	a, err := s.ask(request{Do: "run", Key: "large", N: 3, Cold: true})
	return resident(proc, "VmHWM") - before, a.Peak, err
}

// resident returns a number of bytes from the status of a process; 0 if it is missing.
func resident(proc, name string) (bytes float64) {
	text, _ := os.ReadFile(proc + "status")
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			fmt.Sscanf(rest, "%f kB", &bytes)
		}
	}
	return bytes * 1024
}
