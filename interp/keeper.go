package interp

import (
	"strings"

	"halfnote/interp/internal/fatal"
	"halfnote/interp/internal/live"
	"halfnote/interp/internal/mapaccess"
	"halfnote/interp/internal/symbols"
)

// keeper keeps errors for which Go ends the process from doing so, where code of the session's cells causes them.
type keeper struct{ *Session }

var _ fatal.Keeper = keeper{}

// Owns implements fatal.Keeper.
func (k keeper) Owns() bool { return !k.live.Foreign() }

// Fatal implements fatal.Keeper.
func (k keeper) Fatal(text string) {
	if strings.HasPrefix(text, "concurrent map") {
		panic(mapaccess.Conflict(text))
	}
	panic(text) // an unlocked mutex
}

// Exit implements fatal.Keeper.
func (k keeper) Exit(code int) { panic(symbols.Exit{Code: code}) }

// Overflow implements fatal.Keeper.
func (k keeper) Overflow(limit int) { panic(live.Overflow{Limit: limit}) }

// Room implements fatal.Keeper.
func (k keeper) Room(bytes int) { k.live.Room(bytes, 1) }

// Uncaught implements fatal.Keeper.
func (k keeper) Uncaught(value any) { k.live.Uncaught(value) }
