package support

import (
	"strings"

	"halfnote/interp/internal/fatal"
	"halfnote/interp/internal/live"
	"halfnote/interp/internal/mapaccess"
	"halfnote/interp/internal/symbols"
)

// Keeper keeps errors for which Go ends the process from doing so, where code of the session's cells causes them.
type Keeper struct{ Live *live.Registry }

var _ fatal.Keeper = Keeper{}

// Owns implements fatal.Keeper.
func (k Keeper) Owns() bool { return k.Live.Owns() }

// Fatal implements fatal.Keeper.
func (k Keeper) Fatal(text string) {
	if strings.HasPrefix(text, "concurrent map") {
		panic(mapaccess.Conflict(text))
	}
	panic(text) // an unlocked mutex
}

// Exit implements fatal.Keeper.
func (k Keeper) Exit(code int) { panic(symbols.Exit{Code: code}) }

// Overflow implements fatal.Keeper.
func (k Keeper) Overflow(limit int) { panic(live.Overflow{Limit: limit}) }

// Room implements fatal.Keeper.
func (k Keeper) Room(bytes int) { k.Live.Room(bytes, 1) }

// Scarce implements fatal.Keeper.
func (k Keeper) Scarce(belongs func() bool) { k.Live.Scarce(belongs) }

// Uncaught implements fatal.Keeper.
func (k Keeper) Uncaught(value any) { k.Live.Uncaught(value) }
