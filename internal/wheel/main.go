// Command wheel builds the wheels of a release, for pip and uv. It needs only Go:
//
//	go run ./internal/wheel                    all platforms, into the folder wheels
//	go run ./internal/wheel linux-arm64        one platform
//	go run ./internal/wheel -gpu linux-amd64   with the GPU backend, which needs the C compiler zig
//
// Next to each wheel it writes an in-toto statement with the checksum of the wheel and its bill of materials, which the wheel has too.
//
// Builds from equal sources with equal versions of Go and of the C compiler have equal bytes.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"

	"halfnote/internal/release"
)

// unclear is printed before a wheel with the GPU backend is built.
const unclear = "by the README of gorgonia.org/cu, the licence of three of its files is unclear: cgoflags.go is copied, and execution.go and memory.go in part, from a package " +
	"without a licence, and it advises to assume one like the GPL; know the terms before you give this wheel to others"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Stdout, os.Stderr, os.Args[1:]))
}

// run builds what the arguments choose, and returns the exit code: 0 if all is built, 1 if not, 2 if the arguments are wrong.
func run(ctx context.Context, out, log io.Writer, args []string) int {
	flags := flag.NewFlagSet("wheel", flag.ContinueOnError)
	flags.SetOutput(log)
	b := builder{log: log}
	flags.StringVar(&b.out, "o", "wheels", "`folder` of the wheels")
	gpu := flags.Bool("gpu", false, "include the GPU backend in linux-amd64, which needs the C compiler zig")
	flags.StringVar(&b.zig, "zig", "python3 -m ziglang", "`command` of zig, which PyPI's package ziglang has")
	flags.Usage = func() {
		fmt.Fprintf(log, "usage: go run ./internal/wheel [flags] [platform...]\n\nIt builds the wheels of all platforms, or of those that are named: %s.\n\n", strings.Join(names(platforms), ", "))
		flags.PrintDefaults()
	}
	switch err := flags.Parse(args); {
	case err == flag.ErrHelp:
		return 0
	case err != nil:
		return 2
	}
	list, err := choose(flags.Args(), *gpu)
	if err == nil && *gpu {
		err = b.checkZig(ctx)
	}
	if err != nil {
		fmt.Fprintln(log, "wheel:", err)
		return 2
	}
	if *gpu {
		fmt.Fprintln(log, "wheel:", unclear)
	}
	if err := os.MkdirAll(b.out, 0o755); err != nil {
		fmt.Fprintln(log, "wheel:", err)
		return 1
	}
	fmt.Fprintf(log, "wheel: halfnote %s with %s for %s; the first build for a platform takes some minutes\n", release.Version, runtime.Version(), strings.Join(names(list), ", "))
	return buildAll(ctx, out, log, list, b.build)
}

// buildAll builds the wheels of the platforms, and prints the files and what is lacking. A platform that fails does not stop the others.
func buildAll(ctx context.Context, out, log io.Writer, list []platform, build func(context.Context, platform) (result, error)) (code int) {
	var done []result
	var failed []string
	for _, p := range list {
		r, err := build(ctx, p)
		if ctx.Err() != nil {
			fmt.Fprintln(log, "wheel: interrupted")
			code = 1
			break
		}
		if err != nil {
			failed = append(failed, fmt.Sprintf("%s was not built: %v", p.name, err))
			continue
		}
		if r.lacks != nil {
			failed = append(failed, fmt.Sprintf("%s does not carry the compiler of its cells: %v", p.name, r.lacks))
		}
		done = append(done, r)
	}
	for _, r := range done {
		fmt.Fprintf(out, "%s  %.1f MB\n", r.path, float64(r.size)/1e6)
	}
	for _, text := range failed {
		fmt.Fprintln(log, "wheel:", text)
		code = 1
	}
	return code
}
