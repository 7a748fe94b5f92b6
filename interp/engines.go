package interp

import (
	"fmt"
	"slices"
	"strings"

	"halfnote/interp/internal/engine"
	"halfnote/interp/internal/front"
	"halfnote/interp/internal/lower"
	"halfnote/interp/internal/symbols"
	"halfnote/interp/internal/yaegi"
)

// engines lists the engines that can execute cells, the default first.
var engines = []struct {
	name string
	open func(*Session) (engine.Engine, error)
}{
	{"yaegi", openYaegi},
	{Compiled, openCompiled},
}

// Engines lists the names of the engines that can execute cells, the default first.
var Engines = func() (names []string) {
	for _, e := range engines {
		names = append(names, e.name)
	}
	return names
}()

// Compiled is the name of the engine that compiles cells with Go's own compiler. It needs what
// CompiledCells checks; where that is lacking, Yaegi runs the cells, and the session says so in its banner and with its
// first cell.
const Compiled = "native"

// CompiledLabel is how a session that compiles cells describes itself, see kernel.Language.
const CompiledLabel = "compiled cells"

func openYaegi(s *Session) (engine.Engine, error) {
	return yaegi.New(yaegi.Options{
		Symbols: symbols.All(), Extra: []string{lower.SupportPath}, Name: front.Alias,
		Stdout: s.live.Stdout(), Goroutine: s.live.ID,
	})
}

// openCompiled returns the engine that compiles cells, or Yaegi with a note for the user.
func openCompiled(s *Session) (engine.Engine, error) {
	e, err := newCompiled(s)
	if err != nil {
		s.uncompiled = fmt.Sprintf("cells are not compiled but interpreted by yaegi: %v", err)
		s.note = "note: " + s.uncompiled
		return openYaegi(s)
	}
	return e, nil
}

// engineLabel says how the session runs cells.
func (s *Session) engineLabel() string {
	if isCompiled(s.engine) {
		return CompiledLabel
	}
	return "cells run by " + engines[0].name
}

// CheckEngine returns nil if name is the name of an engine, or "".
func CheckEngine(name string) error {
	if name == "" || slices.Contains(Engines, name) {
		return nil
	}
	return fmt.Errorf("interp: unknown engine %q, want one of: %s", name, strings.Join(Engines, ", "))
}

// newEngine returns the engine that the session's options name.
func (s *Session) newEngine() (engine.Engine, error) {
	for _, e := range engines {
		if e.name == s.opts.Engine {
			return e.open(s)
		}
	}
	if err := CheckEngine(s.opts.Engine); err != nil {
		return nil, err
	}
	return engines[0].open(s)
}
