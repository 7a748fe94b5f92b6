package install

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

// BuildGPU returns the path of a program that can use this machine's GPUs. It is the
// running program if it has the GPU backend, or if there is no NVIDIA driver. Otherwise
// BuildGPU builds one from the sources of the running program, which takes a minute the
// first time and a second later. If that fails it returns the running program and an error.
// The environment variable HALFNOTE_GPU=off prevents the build.
func BuildGPU(ctx context.Context, log io.Writer) (program string, err error) {
	own, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("install: this program's own path: %w", err)
	}
	if os.Getenv("HALFNOTE_GPU") == "off" || runtime.GOOS != "linux" || builtForGPU() || !driverPresent() {
		return own, nil
	}
	root, err := sources()
	if err != nil {
		return own, fmt.Errorf("install: NVIDIA driver found, but this program has no GPU support and rebuilding it failed: %w", err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return own, fmt.Errorf("install: %w", err)
	}
	program = filepath.Join(cache, "halfnote", "gpu", "halfnote")
	fmt.Fprintln(log, "NVIDIA driver found: building halfnote with GPU support (about a minute the first time; HALFNOTE_GPU=off prevents it).")
	if err := buildForGPU(ctx, root, program, log); err != nil {
		return own, err
	}
	return program, nil
}

// buildForGPU builds the program with the backend for NVIDIA GPUs from the sources in root.
// It needs Go and a C compiler, but no NVIDIA toolkit.
func buildForGPU(ctx context.Context, root, program string, log io.Writer) error {
	cmd := exec.CommandContext(ctx, "sh", filepath.Join(root, "cuda", "build.sh"), "build", "-o", program, ".")
	cmd.Dir = root
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("install: building for GPUs needs Go and a C compiler, gcc or clang: %w", err)
	}
	return nil
}

// builtForGPU reports whether this program has the backend.
func builtForGPU() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool {
		return s.Key == "-tags" && slices.Contains(strings.Split(s.Value, ","), "cuda")
	})
}

// driverPresent reports whether an NVIDIA driver is loaded, or HALFNOTE_CUDA_DRIVER names one.
func driverPresent() bool {
	if os.Getenv("HALFNOTE_CUDA_DRIVER") != "" {
		return true
	}
	for _, path := range []string{"/dev/nvidiactl", "/proc/driver/nvidia/version", "/dev/dxg"} {
		if _, err := os.Stat(path); err == nil {
			return true
		}
	}
	return false
}

// sources returns the folder that this program was built from.
func sources() (string, error) {
	_, file, _, ok := runtime.Caller(0)
	root := filepath.Dir(filepath.Dir(file))
	if !ok || !filepath.IsAbs(file) {
		return "", errors.New("the folder of its sources is unknown; build in a checkout")
	}
	if text, err := os.ReadFile(filepath.Join(root, "go.mod")); err != nil || !strings.HasPrefix(string(text), "module halfnote\n") {
		return "", fmt.Errorf("its sources are no longer in %s; build in a checkout", root)
	}
	return root, nil
}
