//go:build !js

package interp

import (
	"reflect"

	"halfnote/interp/internal/engine"
	"halfnote/interp/internal/front"
	"halfnote/interp/internal/native"
	"halfnote/interp/internal/symbols"
)

// CompiledCells returns nil if cells can be compiled here, or an error that says why not. The
// first call may take some seconds.
func CompiledCells() error {
	_, err := native.Available()
	return err
}

func newCompiled(s *Session) (engine.Engine, error) {
	tables := map[string]map[string]reflect.Value{}
	for _, path := range symbols.Paths() {
		tables[path] = symbols.Table(path)
	}
	label := func(slot string, argument bool) string { return s.front.TypeLabel(nil)(slot, argument) }
	return native.New(native.Options{Symbols: tables, Alias: front.Alias, Label: label})
}

func isCompiled(e engine.Engine) bool {
	_, ok := e.(*native.Engine)
	return ok
}
