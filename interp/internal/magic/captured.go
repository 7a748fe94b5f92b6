package magic

import (
	"context"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"halfnote/display"
	"halfnote/interp/internal/stdio"
	"halfnote/kernel/eval"
)

// captured is an Output that keeps what arrives. After its end it passes output on, since
// goroutines may outlive the cell.
type captured struct {
	eval.Output
	shown map[string]bool // options for the parts that are not kept

	mu             sync.Mutex
	ended          bool
	stdout, stderr strings.Builder
	outputs        []display.Bundle
	clearing       bool // Clear has been called with wait
}

// Input implements eval.Inputter.
func (c *captured) Input(ctx context.Context, prompt string, password bool) (string, error) {
	in, ok := c.Output.(eval.Inputter)
	if !ok {
		return "", stdio.ErrNoFrontEnd
	}
	return in.Input(ctx, prompt, password)
}

func (c *captured) Stdout() io.Writer {
	return capturedStream{c, &c.stdout, "--no-stdout", c.Output.Stdout()}
}
func (c *captured) Stderr() io.Writer {
	return capturedStream{c, &c.stderr, "--no-stderr", c.Output.Stderr()}
}

type capturedStream struct {
	c      *captured
	to     *strings.Builder
	option string
	shown  io.Writer
}

func (s capturedStream) Write(p []byte) (int, error) {
	s.c.mu.Lock()
	if s.c.ended || s.c.shown[s.option] {
		s.c.mu.Unlock()
		return s.shown.Write(p)
	}
	defer s.c.mu.Unlock()
	s.c.cleared()
	return s.to.Write(p)
}

// kept reports whether displays are kept, with mu held if they are.
func (c *captured) kept() bool {
	c.mu.Lock()
	if c.ended || c.shown["--no-display"] {
		c.mu.Unlock()
		return false
	}
	return true
}

// cleared removes the output if that is due. mu must be held.
func (c *captured) cleared() {
	if c.clearing {
		c.clearing = false
		c.outputs = nil
		c.stdout.Reset()
		c.stderr.Reset()
	}
}

func (c *captured) Display(b display.Bundle) {
	if !c.kept() {
		c.Output.Display(b)
		return
	}
	defer c.mu.Unlock()
	c.cleared()
	c.outputs = append(c.outputs, display.Bundle{Data: maps.Clone(b.Data), Metadata: maps.Clone(b.Metadata), ID: b.ID})
}

func (c *captured) Update(b display.Bundle) {
	if !c.kept() {
		c.Output.Update(b)
		return
	}
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.outputs, func(o display.Bundle) bool { return o.ID == b.ID })
	if i < 0 {
		c.Output.Update(b) // an output of another cell
		return
	}
	c.outputs[i] = display.Bundle{Data: maps.Clone(b.Data), Metadata: maps.Clone(b.Metadata), ID: b.ID}
}

func (c *captured) Clear(wait bool) {
	if !c.kept() {
		c.Output.Clear(wait)
		return
	}
	defer c.mu.Unlock()
	c.clearing = true
	if !wait {
		c.cleared()
	}
}

// end returns what was kept.
func (c *captured) end(on *display.Screen) display.Captured {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	return on.Captured(c.stdout.String(), c.stderr.String(), c.outputs)
}
