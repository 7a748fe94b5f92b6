// Package bench measures halfnote beside its peers: PyTorch, OpenBLAS and, for what a cell
// costs, ipykernel.
//
//	rows, err := bench.Run(ctx, "gemm", bench.Options{Peers: []string{"torch"}, Python: "python3"})
//
// Everybody works in a process of their own, we too, all pinned to the same processors and
// told to use as many threads, and stopped while it is not their turn, so that threads that
// spin take nothing from the others. A process reads requests and prints replies, each a line
// of JSON: [Serve] is ours, peer.py the others'. Each round gives every process an unmeasured run and
// then a measured one; a row has the best of the rounds, their ratio, and how far the rounds
// disagree. Losses of training steps must agree, else there is no row.
//
// What is measured stands in tables, a file a subject: gemm.go, ops.go, steps.go.
package bench
