// Command lite is halfnote in a browser: a kernel in a worker of a page, without a server, files or other processes.
// Package install builds it for the site that `halfnote lite` writes.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"

	"halfnote/amp"
	"halfnote/internal/plumbing"
	"halfnote/internal/release"
	"halfnote/interp"
	"halfnote/kernel"
	"halfnote/kernel/worker"
	"halfnote/tensor/driver"
)

const (
	// memory is the limit of the heap. A program in WebAssembly can address 4 GiB, and a browser may refuse to grow it before that; the
	// collector needs room next to the heap.
	memory = 2 << 30
	// maxDepth is the limit of nested calls in cells. Go's calls are calls of WebAssembly, whose stack a browser limits to about 1 MB in a worker: beyond
	// it the program ends.
	maxDepth = 1000
)

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "halfnote:", err)
		os.Exit(1)
	}
}

func serve() error {
	debug.SetMemoryLimit(memory / 10 * 9)
	session, err := interp.NewSession(interp.Options{
		Release: release.Version, Memory: memory / 10 * 9, MemorySetBy: "halfnote", MaxDepth: maxDepth, Leave: amp.Internal(plumbing.Token{}).CloseRegions,
	})
	if err != nil {
		return err
	}
	driver.SetHost(driver.Host{Poll: session.Poll, Source: session.Source, Tracing: session.Watch})
	return worker.Serve(context.Background(), kernel.Config{History: &kernel.Keeper{}}, session)
}
