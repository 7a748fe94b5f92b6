package scope

import "syscall"

// threadID asks the kernel, because Go offers no other name for a thread here. A
// kernel that refuses leaves the goroutine's own id, which costs more.
func threadID() int {
	id, _, errno := syscall.RawSyscall(syscall.SYS_THREAD_SELFID, 0, 0, 0)
	if errno != 0 {
		return goroutineID()
	}
	return int(id)
}
