package main

import (
	"context"
	"testing"

	"halfnote/kernel/client"
	"halfnote/kernel/kerneltest"
)

// TestProtocol runs scripts of protocol exchanges against the program, over its
// sockets.
func TestProtocol(t *testing.T) {
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	kerneltest.Run(t, func(o client.Options) (*client.Kernel, error) {
		return client.Start(context.Background(), client.Spec{
			DisplayName: "Go (halfnote)", Language: "go", InterruptMode: "message",
			Argv: []string{exe, "kernel", "{connection_file}"},
		}, o)
	}, "testdata/protocol")
}
