package main

import (
	"bytes"
	"debug/macho"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// platform is a platform of a wheel.
type platform struct {
	name, goos, goarch string
	// tags are the platform's parts of compatibility tags. A %d_%d stands for the oldest macOS on which the program runs.
	tags []string
	// target is the target of the C compiler for the build with the GPU backend, with the oldest version
	// of glibc that the tags name. It is "" where there is no GPU backend.
	target string
	// mpi includes loading an MPI library, which makes a program for Linux need glibc.
	mpi bool
	gpu bool // build with the GPU backend
}

// platforms lists the platforms of a release. Without mpi, a program runs with every C library of Linux.
var platforms = []platform{
	{name: "linux-amd64", goos: "linux", goarch: "amd64", tags: []string{"manylinux_2_17_x86_64"}, target: "x86_64-linux-gnu.2.17", mpi: true},
	{name: "musllinux-amd64", goos: "linux", goarch: "amd64", tags: []string{"musllinux_1_1_x86_64"}},
	{name: "linux-arm64", goos: "linux", goarch: "arm64", tags: []string{"manylinux_2_17_aarch64", "musllinux_1_1_aarch64"}},
	{name: "macos-amd64", goos: "darwin", goarch: "amd64", tags: []string{"macosx_%d_%d_x86_64"}, mpi: true},
	{name: "macos-arm64", goos: "darwin", goarch: "arm64", tags: []string{"macosx_%d_%d_arm64"}, mpi: true},
	{name: "windows-amd64", goos: "windows", goarch: "amd64", tags: []string{"win_amd64"}},
}

// names lists the names of platforms.
func names(list []platform) (names []string) {
	for _, p := range list {
		names = append(names, p.name)
	}
	return names
}

// choose returns the platforms with the given names, or all, with the GPU backend where there is one if gpu is set.
func choose(chosen []string, gpu bool) (list []platform, err error) {
	known := names(platforms)
	for _, name := range chosen {
		switch {
		case strings.HasPrefix(name, "-"):
			return nil, fmt.Errorf("the flag %s follows the name of a platform: flags come first", name)
		case !slices.Contains(known, name):
			return nil, fmt.Errorf("unknown platform %q, want one of: %s", name, strings.Join(known, ", "))
		}
	}
	has := false
	for _, p := range platforms {
		if len(chosen) > 0 && !slices.Contains(chosen, p.name) {
			continue
		}
		p.gpu = gpu && p.target != ""
		has = has || p.gpu
		list = append(list, p)
	}
	if gpu && !has {
		return nil, fmt.Errorf("-gpu: %s has no GPU backend, only linux-amd64 has one", strings.Join(chosen, ", "))
	}
	return list, nil
}

// carries reports whether a program for the platform carries the compiler of its cells.
func (p platform) carries() bool { return p.goos == "linux" }

// wheelTags returns the compatibility tags of the wheel of a program.
func (p platform) wheelTags(program []byte) (list []string, err error) {
	for _, tag := range p.tags {
		if p.goos == "darwin" {
			major, minor, err := oldestMacOS(program)
			if err != nil {
				return nil, err
			}
			tag = fmt.Sprintf(tag, major, minor)
		}
		list = append(list, "py3-none-"+tag)
	}
	return list, nil
}

// oldestMacOS returns the oldest macOS on which a program runs. It differs between releases of Go, whose linker writes it into
// the program (LC_BUILD_VERSION, see mach-o/loader.h).
func oldestMacOS(program []byte) (major, minor int, err error) {
	f, err := macho.NewFile(bytes.NewReader(program))
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	const buildVersion, macOS = 0x32, 1
	for _, load := range f.Loads {
		raw := load.Raw()
		if len(raw) < 16 || f.ByteOrder.Uint32(raw) != buildVersion || f.ByteOrder.Uint32(raw[8:]) != macOS {
			continue
		}
		version := f.ByteOrder.Uint32(raw[12:]) // xxxx.yy.zz in nibbles
		major, minor = int(version>>16), int(version>>8&0xff)
		if major > 10 {
			minor = 0 // as pip names versions since 11
		}
		return major, minor, nil
	}
	return 0, 0, errors.New("the program does not say which macOS it needs")
}
