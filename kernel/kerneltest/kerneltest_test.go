package kerneltest

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"halfnote/kernel"
	"halfnote/kernel/client"
)

// With this variable set the test binary is a kernel, as a child of itself.
const kernelVariable = "KERNELTEST_IS_KERNEL"

func TestMain(m *testing.M) {
	if os.Getenv(kernelVariable) != "" {
		err := kernel.Serve(context.Background(), kernel.Config{ConnectionFile: os.Args[1], Log: os.Stderr, Process: true}, &Echo{})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func startEcho(o client.Options) (*client.Kernel, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	spec := client.Spec{Argv: []string{self, "{connection_file}"}, Env: map[string]string{kernelVariable: "1"}, InterruptMode: "message"}
	return client.Start(ctx, spec, o)
}

func TestScripts(t *testing.T) { Run(t, startEcho, "testdata") }
