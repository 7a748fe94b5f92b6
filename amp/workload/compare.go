package workload

import (
	"fmt"
	"runtime"
	"time"
)

// Compare measures trainings in turn for the given number of rounds, at least one, with an
// unmeasured step before each measured one. It returns a row for each training but the first,
// which is the peer of the others.
func Compare(rounds int, first *Training, others ...*Training) Rows {
	all := append([]*Training{first}, others...)
	for i, t := range all {
		if t == nil {
			panic(fmt.Sprintf("workload: compare: training %d is nil; expected one of NewMLP, NewBERT or NewResNet", i+1))
		}
	}
	took := make([][]float64, len(all))
	for range max(rounds, 1) {
		for i, t := range all {
			t.Step()
			start := time.Now()
			t.Step()
			took[i] = append(took[i], float64(time.Since(start))/1e6)
		}
	}
	var rows Rows
	for i, t := range others {
		rows = append(rows, NewRow(Row{
			Work: t.Work, DType: t.DType, Threads: min(runtime.GOMAXPROCS(0), runtime.NumCPU()), Unit: "ms", PeerName: "own " + first.DType,
		}, took[i+1], took[0]))
	}
	return rows
}
