package e2e

import (
	"testing"

	"halfnote/kernel/kerneltest"
)

// TestProtocol runs scripts of protocol exchanges with the program's kernel, over sockets.
func TestProtocol(t *testing.T) { kerneltest.Run(t, startKernel, "internal/e2e/testdata/protocol") }
