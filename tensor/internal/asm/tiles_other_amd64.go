//go:build !linux && !purego

package asm

// permitTiles returns why tiles cannot be used: only Linux has been tried.
func permitTiles() string { return "AMX's tiles are used on Linux only" }
