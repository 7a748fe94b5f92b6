package kerneltest

import (
	"context"
	"fmt"
	"os"
	"testing"

	"halfnote/kernel/client"
	"halfnote/kernel/jupyter"
)

// childVariable marks a process that runs as an echo kernel.
const childVariable = "KERNELTEST_CHILD"

// Main runs a package's tests. In a process started by [EchoSpec] it runs an echo
// kernel instead. Call it from TestMain.
func Main(m *testing.M) {
	if os.Getenv(childVariable) == "" {
		os.Exit(m.Run())
	}
	err := jupyter.Serve(context.Background(), jupyter.Config{ConnectionFile: os.Args[1], Log: os.Stderr, Process: true}, &Echo{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// EchoSpec returns a kernelspec that starts the running test binary as an echo kernel;
// its tests must be run by [Main].
func EchoSpec() client.Spec {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return client.Spec{
		Argv: []string{self, "{connection_file}"}, Env: map[string]string{childVariable: "1"},
		DisplayName: "Echo", Language: "echo", InterruptMode: "message",
		Metadata: client.SpecMetadata{SupportedEncryption: []any{"curve"}},
	}
}
