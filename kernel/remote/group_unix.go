//go:build unix

package remote

import "syscall"

func processGroup() int { return syscall.Getpgrp() }
