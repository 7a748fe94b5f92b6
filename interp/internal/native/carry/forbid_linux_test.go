package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// Environment variables of a process of this test that becomes another program, under restrictions.
const (
	forbidVar = "CARRY_TEST_FORBID" // a name in forbidden
	becomeVar = "CARRY_TEST_BECOME" // the program and its arguments, one a line
)

func TestMain(m *testing.M) {
	if name := os.Getenv(forbidVar); name != "" {
		runtime.LockOSThread()
		if err := forbidden[name](); err != nil {
			fmt.Fprintln(os.Stderr, "cannot forbid it:", err)
			os.Exit(3)
		}
		args := strings.Split(os.Getenv(becomeVar), "\n")
		fmt.Fprintln(os.Stderr, syscall.Exec(args[0], args, os.Environ()))
		os.Exit(4)
	}
	os.Exit(m.Run())
}

// restrict lets a command run without what forbid names.
func restrict(t *testing.T, cmd *exec.Cmd, forbid string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(cmd.Env, forbidVar+"="+forbid, becomeVar+"="+strings.Join(cmd.Args, "\n"))
	cmd.Path, cmd.Args = self, []string{self}
	if forbid == "programs in the cache" {
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		}
	}
}

// forbidden holds what a hardened system may not let a process do. The thread that calls a function keeps its restrictions when it
// executes another program.
var forbidden = map[string]func() error{
	"mapping code":    func() error { return refuse(syscall.SYS_MMAP, syscall.PROT_EXEC) },
	"changing code":   func() error { return refuse(syscall.SYS_MPROTECT, syscall.PROT_EXEC) },
	"files in memory": func() error { return refuse(memfdCreate[runtime.GOARCH], 0) },
	"code that can be written": func() error { // systemd's MemoryDenyWriteExecute
		const setMDWE, refuseGain = 65, 1
		return prctl(setMDWE, refuseGain, 0)
	},
	"programs in the cache": func() error { // needs its own mounts
		if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
			return err
		}
		return syscall.Mount("none", os.Getenv("XDG_CACHE_HOME"), "tmpfs", syscall.MS_NOEXEC, "")
	},
}

// instruction is an instruction of a filter, sock_filter of linux/filter.h.
type instruction struct {
	code   uint16
	jt, jf uint8
	k      uint32
}

// refuse lets a system call fail with EPERM if its third argument has one of the given bits; bits of 0 stand for each call.
func refuse(call uintptr, bits uint32) error {
	const (
		load, jumpIfEqual, jumpIfSet, ret = 0x20, 0x15, 0x45, 0x06
		number, third                     = 0, 16 + 2*8 // offsets in seccomp_data
		allow, fail                       = 0x7fff0000, 0x00050000
	)
	program := []instruction{
		{load, 0, 0, number},
		{jumpIfEqual, 0, 3, uint32(call)},
		{load, 0, 0, third},
		{jumpIfSet, 0, 1, bits},
		{ret, 0, 0, fail | uint32(syscall.EPERM)},
		{ret, 0, 0, allow},
	}
	if bits == 0 {
		program[3] = instruction{jumpIfEqual, 0, 0, 0}
	}
	const setNoNewPrivs, setSeccomp, filterMode = 38, 22, 2
	if err := prctl(setNoNewPrivs, 1, 0); err != nil {
		return err
	}
	list := struct {
		n    uint16
		list *instruction
	}{uint16(len(program)), &program[0]}
	return prctl(setSeccomp, filterMode, uintptr(unsafe.Pointer(&list)))
}

func prctl(option, a, b uintptr) error {
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, option, a, b, 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// memfdCreate is the number of a system call by GOARCH, which package syscall does not have for each.
var memfdCreate = map[string]uintptr{"amd64": 319, "arm64": 279}

// testForbidden runs a program that carries its compiler where the system does not let it do what compiled cells need, and with
// damaged files: doctor and a run say what is lacking. The good cache has the unpacked compiler.
func testForbidden(t *testing.T, program, good string) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	mounts := filepath.Join(dir, "mounts")
	if err := os.Mkdir(mounts, 0o777); err != nil {
		t.Fatal(err)
	}
	const again = "install halfnote again"
	for _, tt := range []struct {
		name, forbid, program, cache string
		want                         []string // in the line of doctor, and in the error; without any, cells are compiled
	}{
		{"no mapping of code", "mapping code", program, good, []string{"the system does not let this process run code that it has written: operation not permitted"}},
		{"no files in memory", "files in memory", program, good, []string{"cannot create memory for code: operation not permitted"}},
		{"no change of code", "changing code", program, good, nil},
		{"MemoryDenyWriteExecute", "code that can be written", program, good, nil},
		{"noexec", "programs in the cache", program, mounts, []string{"the system does not run the compiler: ", "permission denied", "set XDG_CACHE_HOME"}},
		{"cache that cannot be written", "", program, filepath.Join(file, "cache"), []string{"cannot be unpacked: ", "not a directory", "set XDG_CACHE_HOME"}},
		{"damaged compiler", "", damaged(t, program, func(b []byte) { b[len(b)/5*4] ^= 1 }), filepath.Join(dir, "a"), []string{"the compiler that this program carries: ", again}},
		{"changed program", "", damaged(t, program, func(b []byte) { b[9] ^= 1 }), filepath.Join(dir, "b"), []string{"is not the program that it was made for", again}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if out := doctor(t, tt.forbid, tt.program, tt.cache); !containsAll(out, tt.want, "cells can be compiled") {
				t.Errorf("doctor says\n%s\nwant %q", out, tt.want)
			}
			wanted := 0
			if tt.want != nil {
				wanted = 2
			}
			if out, status := cells(t, tt.forbid, tt.program, tt.cache); status != wanted || !containsAll(out, tt.want, `t 4 6\n`) {
				t.Errorf("got exit status %d and\n%s\nwant %d and %q, or the output \"t 4 6\"", status, out, wanted, tt.want)
			}
		})
	}
}

// containsAll reports whether a text contains each of a list, or another text if the list is empty.
func containsAll(text string, list []string, otherwise string) bool {
	for _, s := range list {
		if !strings.Contains(text, s) {
			return false
		}
	}
	return len(list) > 0 || strings.Contains(text, otherwise)
}

// damaged returns a copy of a program with changed bytes.
func damaged(t *testing.T, program string, change func([]byte)) string {
	t.Helper()
	b, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	change(b)
	file := filepath.Join(t.TempDir(), "halfnote")
	if err := os.WriteFile(file, b, 0o777); err != nil {
		t.Fatal(err)
	}
	return file
}
