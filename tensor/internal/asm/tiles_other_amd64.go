//go:build !linux && !purego

package asm

// permitTiles returns the reason why tiles cannot be used: they are supported only on Linux.
func permitTiles() string { return "AMX's tiles are supported only on Linux" }
