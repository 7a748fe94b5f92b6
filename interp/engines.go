package interp

import (
	"fmt"
	"slices"
	"strings"

	"halfnote/interp/engine"
	"halfnote/interp/internal/ixgo"
	"halfnote/interp/internal/symbols"
	"halfnote/interp/internal/yaegi"
	"halfnote/interp/lower"
)

// Engines lists the names of the engines that can execute cells, the default first.
var Engines = []string{"yaegi", "ixgo"}

// CheckEngine returns nil if name is one of Engines, or "".
func CheckEngine(name string) error {
	if name == "" || slices.Contains(Engines, name) {
		return nil
	}
	return fmt.Errorf("interp: unknown engine %q, want one of: %s", name, strings.Join(Engines, ", "))
}

// newEngine returns the engine that the session's options name.
func (s *Session) newEngine() (engine.Engine, error) {
	if err := CheckEngine(s.opts.Engine); err != nil {
		return nil, err
	}
	if s.opts.Engine == "ixgo" {
		return ixgo.New(ixgo.Options{
			Table: symbols.Table, Paths: symbols.Paths(), Importer: s.binary,
		})
	}
	return yaegi.New(yaegi.Options{
		Symbols: symbols.All(), Extra: []string{lower.SupportPath}, Name: alias,
		Stdout: s.live.Stdout(), Goroutine: s.live.ID,
	})
}
