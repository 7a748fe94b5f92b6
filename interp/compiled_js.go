package interp

import (
	"errors"

	"halfnote/interp/internal/engine"
)

// CompiledCells returns an error: a page cannot run Go's compiler.
func CompiledCells() error { return errors.New("a page in a browser cannot run Go's compiler") }

func newCompiled(*Session) (engine.Engine, error) { return nil, CompiledCells() }

func isCompiled(engine.Engine) bool { return false }
