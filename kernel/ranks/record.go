package ranks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"halfnote/display"
	"halfnote/kernel"
)

// record keeps what one rank showed in a cell.
type record struct {
	mu       sync.Mutex
	list     []kernel.KeptOutput
	size     int
	full     bool
	clearing bool // the next output removes those before it
}

// keepBytes bounds the text and the displays that a record keeps.
const keepBytes = 4 << 20

// apply adds what a message says.
func (r *record) apply(kind string, o kernel.KeptOutput) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch kind {
	case clearNow:
		r.empty()
		return
	case clearNext:
		r.clearing = true
		return
	}
	if r.clearing {
		r.empty()
	}
	if kind == update {
		for i := range r.list {
			if o.Bundle.ID != "" && r.list[i].Bundle.ID == o.Bundle.ID {
				r.list[i] = o
			}
		}
		return
	}
	if r.size += len(o.Text) + weight(o.Bundle); r.size > keepBytes {
		if !r.full {
			r.list = append(r.list, kernel.KeptOutput{Stream: "stderr", Text: fmt.Sprintf("(what follows was not kept: more than %d MB)\n", keepBytes>>20)})
		}
		r.full = true
		return
	}
	if n := len(r.list); o.Stream != "" && n > 0 && r.list[n-1].Stream == o.Stream {
		r.list[n-1].Text += o.Text
		return
	}
	r.list = append(r.list, o)
}

func (r *record) empty() { r.list, r.size, r.full, r.clearing = nil, 0, false, false }

func weight(b display.Bundle) (n int) {
	for _, v := range b.Data {
		if s, ok := v.(string); ok {
			n += len(s)
		}
	}
	return n
}

func (r *record) outputs() []kernel.KeptOutput {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.list)
}

// plain returns the text of a stream or, for "", of the displays and of both streams.
func (r *record) plain(stream string) string {
	var b strings.Builder
	for _, o := range r.outputs() {
		switch {
		case o.Stream == stream && stream != "", stream == "" && o.Stream != "":
			b.WriteString(o.Text)
		case o.Stream == "" && o.Err == nil && stream != "stderr":
			b.WriteString(strings.TrimSuffix(o.Bundle.String(), "\n") + "\n")
		}
	}
	return b.String()
}

// tee is an Output whose content is also kept in a record.
type tee struct {
	kernel.Output
	r *record
}

// Unwrap returns the Output of the kernel, which comms know.
func (t tee) Unwrap() kernel.Output { return t.Output }

// Input implements kernel.Inputter.
func (t tee) Input(ctx context.Context, prompt string, password bool) (string, error) {
	if in, ok := t.Output.(kernel.Inputter); ok {
		return in.Input(ctx, prompt, password)
	}
	return "", errors.New("ranks: input: this front end does not take input")
}

func (t tee) Stdout() io.Writer { return teeStream{t.Output.Stdout(), t.r, "stdout"} }
func (t tee) Stderr() io.Writer { return teeStream{t.Output.Stderr(), t.r, "stderr"} }

func (t tee) Display(b display.Bundle) {
	t.r.apply(output, kernel.KeptOutput{Bundle: portable(b)})
	t.Output.Display(b)
}

func (t tee) Update(b display.Bundle) {
	t.r.apply(update, kernel.KeptOutput{Bundle: portable(b)})
	t.Output.Update(b)
}

func (t tee) Clear(wait bool) {
	kind := clearNow
	if wait {
		kind = clearNext
	}
	t.r.apply(kind, kernel.KeptOutput{})
	t.Output.Clear(wait)
}

type teeStream struct {
	to   io.Writer
	r    *record
	name string
}

func (s teeStream) Write(p []byte) (int, error) {
	s.r.apply(output, kernel.KeptOutput{Stream: s.name, Text: string(p)})
	return s.to.Write(p)
}
