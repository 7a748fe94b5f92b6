package e2e

import (
	"context"
	"testing"
	"time"

	"halfnote/internal/testenv"
	"halfnote/kernel/client"
	"halfnote/kernel/kerneltest"
)

// startKernel starts the kernel of the program.
func startKernel(o client.Options) (*client.Kernel, error) {
	exe, err := program()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return client.Start(ctx, client.Spec{
		DisplayName: "Go (halfnote)", Language: "go", InterruptMode: "message", Argv: []string{exe, "kernel", "--engine", *engine, "{connection_file}"},
	}, o)
}

// TestKernelScripts runs the scripts of kernel/kerneltest on the program's kernel.
func TestKernelScripts(t *testing.T) { kerneltest.Run(t, startKernel, "internal/e2e/testdata/kernel") }

func TestKernelHostile(t *testing.T) {
	testenv.Long(t) // package kernel/kerneltest does the same with a simple evaluator
	kerneltest.Hostile(t, startKernel, client.Options{}, kerneltest.Cells{
		Hello: `fmt.Println("hello, world")`, Big: `fmt.Print(strings.Repeat("x", 20_000_000))`,
	})
}
