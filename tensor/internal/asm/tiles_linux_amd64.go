//go:build !purego

package asm

import (
	"fmt"
	"syscall"
)

// permitTiles asks Linux for permission to use tiles, which is permanent and for the whole process,
// and returns the reason if it is refused. Without it the first tile instruction ends the process. Linux
// refuses if the alternate signal stack of a thread is too small for the larger signal frame
// (Documentation/arch/x86/xstate.rst).
func permitTiles() string {
	const archPrctl, reqXcompPerm, tileData = 158, 0x1023, 18
	if _, _, err := syscall.RawSyscall(archPrctl, reqXcompPerm, tileData, 0); err != 0 {
		return fmt.Sprintf("Linux does not permit AMX's tiles: %v", err)
	}
	return ""
}
