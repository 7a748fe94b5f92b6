// Package bench compares halfnote's speed with its peers': PyTorch, OpenBLAS and, for the
// cost of a cell, ipykernel.
//
//	rows, err := bench.Run(ctx, "gemm", bench.Options{Peers: []string{"torch"}, Python: "python3"})
//
// halfnote and each peer run in separate processes, pinned to the same processors, with the
// same number of threads. All but the one being measured are paused, so that spinning threads
// do not disturb it. A process reads requests and prints replies, each a line of JSON: [Serve]
// is halfnote's side, peer.py the peers'. In each round every process has an unmeasured run and
// then a measured one. A row has the best of the rounds, their ratio and their spread. Losses
// of training steps must agree; otherwise there is no row. [Rows] holds the rows and shows
// them as a table and as charts.
//
// The measured work is listed in tables, one file per subject: gemm.go, ops.go, formats.go, steps.go
// and cell.go. The networks of steps.go are in training.go.
package bench
