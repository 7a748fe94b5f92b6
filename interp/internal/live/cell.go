package live

import (
	"context"
	"sync/atomic"

	"halfnote/kernel/eval"
)

// Cell is a cell that is running or whose goroutines may still be running.
type Cell struct {
	N   int
	Out eval.Output

	// Ctx ends when the cell has ended or is told to stop: writes that wait for the
	// cell's reader must then stop waiting.
	Ctx context.Context
	end context.CancelFunc

	// Streams are the standard streams as the cell has them in interfaces: see package stdio.
	Streams [3]atomic.Value

	line  lastLine
	outer *Cell // cell that this one is a part of, with other outputs; nil for a whole cell

	stop    chan struct{} // closed when the cell is told to stop
	stopped atomic.Bool
	told    atomic.Bool  // whether StopFor has been called
	alive   atomic.Int32 // number of its goroutines
	cause   atomic.Value // reason for stopping it, unless on request
}

// root returns the whole cell that c is a part of.
func (c *Cell) root() *Cell {
	for c.outer != nil {
		c = c.outer
	}
	return c
}

// Kernel returns the destination of the whole cell's output, as given by the kernel.
func (c *Cell) Kernel() eval.Output { return c.root().Out }

// Stopping returns a channel that is closed when the cell is told to stop.
func (c *Cell) Stopping() <-chan struct{} { return c.stop }

// Cause returns why the cell was stopped: nil if on request.
func (c *Cell) Cause() any { return c.cause.Load() }
