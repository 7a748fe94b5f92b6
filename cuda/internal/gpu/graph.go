//go:build cuda && linux && cgo

package gpu

import (
	"fmt"
	"runtime"
	"sync"

	"halfnote/cuda/internal/drv"
	"halfnote/tensor/driver"
)

// graph is a captured step. The backend refers only to its parts, so an unreachable graph is
// freed.
type graph struct {
	*parts
	cleanup runtime.Cleanup
}

// parts are the resources of a graph.
type parts struct {
	mu      sync.Mutex
	backend *Backend
	exec    *drv.Graph // nil once freed
	pools   []*cache
	held    map[*block]bool
	checks  []func() // run before each replay
}

// graph returns the captured graph, ready to run.
func (c *capture) graph(exec *drv.Graph) *graph {
	g := &graph{parts: &parts{backend: c.backend, exec: exec, pools: []*cache{c.pool, c.fixed}, held: c.held, checks: c.checks}}
	g.cleanup = runtime.AddCleanup(g, func(p *parts) { p.free() }, g.parts)
	for _, k := range c.constants { // an interrupt leaves g to the garbage collector
		c.backend.write(k.at, k.data)
	}
	runtime.KeepAlive(c)
	return g
}

// Replay enqueues the graph.
func (g *graph) Replay() {
	b := g.backend
	driver.Poll()
	if c := b.capture(); c != nil {
		c.refuse("Replay is not allowed during capture; replay graphs one after the other")
	}
	for _, check := range g.checks {
		check()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.exec == nil {
		panic(fmt.Sprintf("%s: replay: the graph has been freed; capture the step again", b.name))
	}
	driver.CountReplay()
	b.must(b.stream.LaunchGraph(g.exec))
	runtime.KeepAlive(g)
}

// Free releases the graph after its enqueued runs.
func (g *graph) Free() {
	g.cleanup.Stop()
	g.free()
}

func (p *parts) free() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.exec == nil {
		return
	}
	_ = p.exec.Free() // a dead device has no graphs
	p.exec = nil
	p.backend.memory.freePools(p.held, p.pools...)
	p.held = nil
}
