package e2e

import (
	"testing"

	"halfnote/kernel/kerneltest"
)

// TestProtocol runs scripts of protocol exchanges against the program, over its
// sockets.
func TestProtocol(t *testing.T) { kerneltest.Run(t, startKernel, "internal/e2e/testdata/protocol") }
