package live

import (
	"testing"

	"halfnote/internal/testenv"
)

// TestSlowIdentity runs tests where goroutines are identified by runtime.Stack.
func TestSlowIdentity(t *testing.T) { testenv.SlowIdentity(t, ".") }
