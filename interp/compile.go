package interp

import (
	"context"
	"fmt"
	"runtime/debug"
	"runtime/trace"
	"time"

	"halfnote/interp/internal/front"
	"halfnote/kernel/eval"
)

// abandonAfter is the time that an interrupted cell has to finish being compiled.
const abandonAfter = 500 * time.Millisecond

// compile takes a cell through the front end and passes it to the engine. Neither the type checker nor the interpreter's compiler
// can be stopped: when an interrupted cell is not done after abandonAfter, it is compiled to its end and the result is not
// used. The next cell waits for that.
func (s *Session) compile(ctx context.Context, in eval.Cell, out eval.Output, stops bool) (*cell, error) {
	c := &cell{n: in.Count, ctx: ctx, out: out}
	select {
	case s.compiling <- struct{}{}:
	case <-ctx.Done():
		return c, errNotRun
	}
	type outcome struct {
		err   error
		panic any
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		files := &front.Files{}
		defer func() {
			if p := recover(); p != nil {
				o.panic = fmt.Sprintf("%v\n\n%s", p, debug.Stack())
			}
			if o.panic != nil || o.err != nil {
				s.front.Release(files)
			}
			<-s.compiling
			done <- o
		}()
		if o.err = s.prepare(c, s.front.Input(in.Count, in.Code, files, stops)); o.err == nil {
			trace.WithRegion(ctx, "declare", func() { o.err = s.declare(c) })
		}
	}()
	finish := func(o outcome) (*cell, error) {
		if o.panic != nil {
			panic(o.panic)
		}
		return c, o.err
	}
	select {
	case o := <-done:
		return finish(o)
	case <-ctx.Done():
	}
	select {
	case o := <-done:
		return finish(o)
	case <-time.After(abandonAfter):
	}
	if c.taken.CompareAndSwap(false, true) {
		return &cell{n: c.n, ctx: ctx, out: out}, errNotRun
	}
	return finish(<-done)
}
