package main

import (
	"context"
	"testing"
	"time"

	"halfnote/kernel/client"
	"halfnote/kernel/kerneltest"
)

// TestKernelScripts talks with this program's kernel as a front end does.
func TestKernelScripts(t *testing.T) {
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	kerneltest.Run(t, func(o client.Options) (*client.Kernel, error) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		return client.Start(ctx, client.Spec{
			DisplayName: "Go", Language: "go", InterruptMode: "message", Argv: []string{exe, "kernel", "{connection_file}"},
		}, o)
	}, "testdata/kernel")
}
