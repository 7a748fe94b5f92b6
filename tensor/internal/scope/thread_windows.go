package scope

import "syscall"

var currentThreadID = syscall.NewLazyDLL("kernel32.dll").NewProc("GetCurrentThreadId")

func threadID() int {
	id, _, _ := currentThreadID.Call()
	return int(id)
}
