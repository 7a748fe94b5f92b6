package scope

import (
	"bytes"
	"runtime"
	"strconv"
)

// goroutineID reads the calling goroutine's id from the head of its stack trace,
// "goroutine 7 [running]:". It is for systems that do not name their threads: the
// runtime walks the stack, so the cost grows with its depth.
func goroutineID() int {
	var buf [64]byte
	head := buf[:runtime.Stack(buf[:], false)]
	head, _, _ = bytes.Cut(bytes.TrimPrefix(head, []byte("goroutine ")), []byte(" "))
	id, err := strconv.Atoi(string(head))
	if err != nil {
		panic("scope: the stack trace does not name its goroutine")
	}
	return id
}
