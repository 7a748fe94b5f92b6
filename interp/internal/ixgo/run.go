package ixgo

import (
	"github.com/goplus/ixgo"
	"golang.org/x/tools/go/ssa"

	"halfnote/interp/engine"
)

type program struct {
	e     *Engine
	run   func()
	entry *ssa.Function
	gone  bool // when it has returned, no code of the unit still runs
}

// program returns the program that runs a unit's entry function.
func (e *Engine) program(u *engine.Unit, unit *ssa.Package, in *ixgo.Interp) program {
	run, _ := in.GetFunc(u.Entry)
	entry, _ := run.(func())
	p := program{e, entry, unit.Func(u.Entry), true}
	for _, m := range unit.Members {
		switch m := m.(type) {
		case *ssa.Function:
			p.gone = p.gone && (m == p.entry || m.Name() == "init" || m.Name() == reached)
		case *ssa.Type:
			p.gone = false
		}
	}
	p.gone = p.gone && (p.entry == nil || len(p.entry.AnonFuncs) == 0)
	return p
}

// Free implements engine.Program. The SSA program keeps all functions, but not their code.
func (p program) Free() (gone bool) {
	if p.entry != nil {
		p.entry.Blocks, p.entry.Locals = nil, nil
		p.e.Remove(p.entry.Name())
		if p.gone {
			p.e.end(p.entry.Pkg.Pkg)
		}
	}
	return p.gone
}

// Run implements engine.Program. It does not use ixgo's RunFunc, which looks for the
// innermost call along pointers that may form a cycle.
func (p program) Run() (err error) {
	if p.run == nil {
		return nil
	}
	defer p.e.traces.leave()
	defer func() {
		if r := recover(); r != nil {
			err = p.e.Recovered(r)
		}
	}()
	p.run()
	return nil
}

// Recovered implements engine.Engine.
func (e *Engine) Recovered(r any) *engine.Panic {
	frames, skipped := e.traces.take(r)
	return &engine.Panic{Value: unwrap(r), Frames: frames, Skipped: skipped, Inside: engine.Inside("github.com/goplus/ixgo.")}
}

// Forget implements engine.Recorder.
func (e *Engine) Forget() { e.traces.mine().reset() }

// Raise implements engine.Engine. The panic is raised in a deferred literal, which stands
// for the function around it.
func (e *Engine) Raise(p *engine.Panic) { e.traces.put(p) }
